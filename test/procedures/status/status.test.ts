import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFile, cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { IdkitError, Secret } from '../../../src/core/index.ts';
import { backup, type StatusReport, status, verify } from '../../../src/procedures/index.ts';
import { run } from '../../cli/run.ts';
import { PROGRAM } from '../../program.ts';
import {
  makePlatform,
  onHangingDisk,
  onSmallDisk,
  PASSPHRASE,
  procedureOptions,
  restoreOptions,
} from '../platform.ts';
import { changedSinceBackup } from '../restored-state.ts';

describe('status', () => {
  it('reports a running service: health, realms, users, signing keys and their ages', async (t) => {
    const platform = await makePlatform(t, ['acme']);
    const service = await platform.serve();
    const report = await status(await platform.load(), procedureOptions());
    assert.deepEqual([report.service.health, report.service.baseUrl], ['UP', service.address]);
    assert.deepEqual(
      report.realms.map(({ realm }) => realm),
      ['acme', 'master'],
    );
    const master = report.realms.find(({ realm }) => realm === 'master');
    assert.equal(master?.users, 1);
    assert.ok(master.keys.some(({ algorithm, ageDays }) => algorithm === 'RS256' && ageDays === 0));
    assert.equal(report.lastBackup, undefined);
  });

  it('names the settings of a realm that idkit does not enforce, with and without a running service', async (t) => {
    const platform = await makePlatform(t);
    const realm = {
      realm: 'federated',
      enabled: true,
      identityProviders: [{ alias: 'corp', providerId: 'oidc', enabled: true, config: {} }],
    };
    await writeFile(join(platform.dir, 'import/federated-realm.json'), JSON.stringify(realm));
    const service = await platform.serve();
    const running = await status(await platform.load(), procedureOptions());
    const demands = running.realms.find((row) => row.realm === 'federated')?.unenforced ?? [];
    assert.ok(
      demands.some((demand) => demand.startsWith('$.identityProviders[0]: ')),
      String(demands),
    );
    await service.close();
    const stopped = await status(await platform.load(), procedureOptions());
    assert.deepEqual(stopped.realms.find((row) => row.realm === 'federated')?.unenforced, demands);
  });

  it('warns about redirect URIs with a wildcard, except those of the consoles', async (t) => {
    const platform = await makePlatform(t);
    const realm = {
      realm: 'open',
      enabled: true,
      clients: [
        {
          clientId: 'wide',
          publicClient: true,
          redirectUris: ['https://app.example.test/*', 'https://app.example.test/cb'],
        },
        { clientId: 'off', publicClient: true, enabled: false, redirectUris: ['https://off.example.test/*'] },
      ],
    };
    await writeFile(join(platform.dir, 'import/open-realm.json'), JSON.stringify(realm));
    await platform.serve();
    const { findings, warnings } = await status(await platform.load(), procedureOptions());
    assert.ok(!findings.some(({ code }) => code === 'REDIRECT_WILDCARD'));
    const wildcards = warnings.filter(({ code }) => code === 'REDIRECT_WILDCARD');
    assert.equal(wildcards.length, 1);
    assert.match(wildcards[0]!.message, /realm open: client wide .* https:\/\/app\.example\.test\/\*;/);
  });

  it('reports the last backup, the last verification and the source of the master key of a stopped service', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const report = await status(await platform.load(), procedureOptions());
    assert.equal(report.service.health, 'stopped');
    assert.equal(report.lastBackup?.name, set.name);
    assert.deepEqual([report.lastVerify?.verdict, report.lastVerify?.by], ['good', 'backup']);
    assert.deepEqual(report.masterKey, { set: true, source: '.env', rotationUnfinished: false });
  });

  it('lists each background migration that has not finished, with the records that are left', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    assert.deepEqual((await status(await platform.load(), procedureOptions())).migrations, []);
    const database = new DatabaseSync(join(platform.dir, 'data/idkit.db'));
    database.exec(`
      UPDATE background_migration SET finished = 0, handled = 412000 WHERE name = 'session rows';
      UPDATE background_migration SET finished = 0 WHERE name = 'user-search';
      INSERT INTO record_count (kind, owner, amount) VALUES ('migration', 'session rows', 1000000)`);
    database.close();
    const report = await status(await platform.load(), procedureOptions());
    assert.deepEqual(report.migrations, [
      { name: 'session rows', handled: 412_000, left: 588_000 },
      { name: 'user-search', handled: 0 },
    ]);
    const env = { IDKIT_DIR: platform.dir };
    const shown = (await run(['status'], { env })).stdout
      .split('\n')
      .filter((line) => /migration/.test(line));
    assert.deepEqual(
      shown.map((line) => line.replace(/ +/g, ' ')),
      [
        'migration session rows: 412,000 of about 1,000,000 records handled',
        'migration user-search: 0 records handled',
      ],
    );
    assert.deepEqual((await run(['status', '--json'], { env })).result()['migrations'], report.migrations);
  });

  it('finds on a fresh platform that there is no backup, and nothing else', async (t) => {
    const platform = await makePlatform(t);
    await platform.serve();
    const report = await status(await platform.load(), procedureOptions());
    assert.deepEqual(codesOf(report), ['BACKUP_MISSING']);
    assert.match(report.findings[0]!.message, /has no set that can be restored; run idkit backup$/);
  });

  it('finds a stopped service and a backup that was never verified, and nothing after serve, verify and drill', async (t) => {
    const platform = await makePlatform(t);
    const service = await platform.serve();
    const settings = await platform.load();
    await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE });
    await service.close();
    assert.deepEqual(codesOf(await status(settings, procedureOptions())), ['SERVICE_DOWN', 'VERIFY_MISSING']);
    await platform.serve();
    await verify(settings, restoreOptions({ drill: true }));
    const report = await status(settings, procedureOptions());
    assert.deepEqual(report.findings, []);
    assert.deepEqual(
      report.warnings.map(({ code }) => code),
      ['MIRROR_MISSING', 'SCHEDULE_MISSING'],
    );
    assert.deepEqual([report.lastDrill?.outcome, report.lastVerify?.by], ['good', 'verify']);
    assert.deepEqual([report.sessions?.kind, report.sessions?.online], ['user', 0]);
    assert.equal(report.schedule.source, 'none');
    assert.ok(report.disks.every(({ neededBytes, freeBytes }) => neededBytes > 0 && freeBytes > neededBytes));
  });

  it('silences what status.accept names, and still lists it', async (t) => {
    const platform = await makePlatform(t);
    await platform.serve();
    await appendFile(
      join(platform.dir, 'idkit.yaml'),
      'status: { accept: [BACKUP_MISSING, MIRROR_MISSING] }\n',
    );
    const report = await status(await platform.load(), procedureOptions());
    assert.deepEqual(report.findings, []);
    assert.ok(!report.warnings.some(({ code }) => code === 'MIRROR_MISSING'));
    assert.deepEqual(
      report.accepted.map(({ level, code }) => `${level} ${code}`),
      ['finding BACKUP_MISSING', 'warning MIRROR_MISSING'],
    );
  });

  it('rejects an unknown name in status.accept with the nearest one', async (t) => {
    const platform = await makePlatform(t);
    await appendFile(join(platform.dir, 'idkit.yaml'), 'status: { accept: [BACKUP_MISING] }\n');
    await assert.rejects(platform.load(), (error: IdkitError) => {
      assert.match(error.message, /status\.accept must be a list of names of findings/);
      assert.deepEqual(error.hints, ['"BACKUP_MISING" is unknown; did you mean BACKUP_MISSING?']);
      return true;
    });
  });

  it('finds events that never expire and sessions that last for years', async (t) => {
    const platform = await makePlatform(t);
    const realm = {
      realm: 'growing',
      enabled: true,
      eventsEnabled: true,
      adminEventsEnabled: true,
      ssoSessionIdleTimeout: 100_000_000,
      ssoSessionMaxLifespan: 100_000_000,
    };
    await writeFile(join(platform.dir, 'import/growing-realm.json'), JSON.stringify(realm));
    await platform.serve();
    const { findings } = await status(await platform.load(), procedureOptions());
    const messages = findings
      .filter(({ code }) => /KEPT/.test(code))
      .map(({ message }) => message.split(',')[0]);
    assert.deepEqual(messages, [
      'realm growing stores user events that never expire',
      'realm growing stores administrative events that never expire',
      'realm growing: unused user sessions stay for 1157 days',
    ]);
  });

  it('finds signing keys that were never rotated, with their age', async (t) => {
    const platform = await makePlatform(t);
    await platform.serve();
    const clock = { now: () => Date.now() + 400 * 86_400_000 };
    const report = await status(await platform.load(), procedureOptions({ clock }));
    const [key] = report.findings.filter(({ code }) => code === 'KEY_NOT_ROTATED');
    assert.match(
      key?.message ?? '',
      /^realm master: the RS256 key .* is 400 days old, but the limit is 365 days; /,
    );
  });

  it('finds that the administrator cannot log in, because keys and events are then unknown', async (t) => {
    const platform = await makePlatform(t);
    await platform.serve();
    const settings = await platform.load();
    const administrator = { ...settings.administrator, password: new Secret('wrong') };
    const { findings } = await status({ ...settings, administrator }, procedureOptions());
    assert.ok(
      findings.some(({ code }) => code === 'REALMS_UNKNOWN'),
      JSON.stringify(findings),
    );
  });

  it('finds a failed backup, and forgets it after the next good one', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const options = { ...procedureOptions(), passphrase: PASSPHRASE };
    await backup(settings, options);
    const failpoint = (step: string) => {
      if (step === 'database') throw new IdkitError('IDKIT_NO_SPACE', 'no space left on the disk');
    };
    await assert.rejects(backup(settings, { ...options, failpoint }));
    const failed = await status(settings, procedureOptions());
    const [found] = failed.findings.filter(({ code }) => code === 'BACKUP_FAILED');
    assert.match(
      found?.message ?? '',
      /database, realms, config, env at .* failed: no space left on the disk; /,
    );
    await backup(settings, options);
    assert.ok(!codesOf(await status(settings, procedureOptions())).includes('BACKUP_FAILED'));
  });

  it('finds a certificate that expires, in the file and as the service sends it', async (t) => {
    const platform = await makePlatform(t);
    const first = makeCertificate(platform.dir, 60);
    await appendFile(
      join(platform.dir, 'idkit.yaml'),
      `listen: { tlsCert: ${first.cert}, tlsKey: ${first.key} }\n`,
    );
    await platform.serve();
    const clock = { now: () => Date.now() + 50 * 86_400_000 };
    const settings = await platform.load();
    const now = await status(settings, procedureOptions());
    assert.ok(!now.findings.some(({ code }) => code === 'CERTIFICATE_EXPIRES'));
    const { findings, certificates } = await status(settings, procedureOptions({ clock }));
    const found = findings.filter(({ code }) => code === 'CERTIFICATE_EXPIRES');
    assert.equal(found.length, 2, JSON.stringify(findings));
    assert.equal(certificates.length, 2);
    makeCertificate(platform.dir, 90);
    const renewed = await status(settings, procedureOptions({ clock }));
    assert.equal(
      renewed.findings.filter(({ code }) => code === 'CERTIFICATE_EXPIRES').length,
      1,
      'the service still sends the old certificate',
    );
  });

  it('finds a backup root whose file system hangs, and ends in time', async (t) => {
    const platform = await makePlatform(t);
    await onHangingDisk(t, async (root) => {
      await appendFile(join(platform.dir, 'idkit.yaml'), `backup: { root: ${root} }\n`);
      const env = { ...process.env, IDKIT_DIR: platform.dir };
      for (const [command, code] of [
        ['status', 'BACKUPS_UNREADABLE'],
        ['doctor', 'DISK_SPEED'],
      ] as const) {
        const options = { env, timeout: 60_000, killSignal: 'SIGKILL', encoding: 'utf8' } as const;
        const ended = spawnSync(process.execPath, [PROGRAM, command], options);
        assert.equal(ended.status, 3, ended.stderr);
        assert.match(
          ended.stderr,
          new RegExp(`^finding: ${code}: .*the file system.* does not respond`, 'm'),
        );
      }
    });
  });

  it('finds a disk without room for a restore', async (t) => {
    await onSmallDisk(t, '24m', async (place) => {
      const platform = await makePlatform(t);
      const service = await platform.serve();
      const settings = await platform.load();
      await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE });
      await service.close();
      const file = join(place, 'idkit.db');
      await cp((settings.database as { file: string }).file, file);
      await writeFile(join(place, 'filler'), Buffer.alloc(24 * 1024 * 1024)).catch(() => undefined);
      const { findings } = await status(
        { ...settings, database: { kind: 'sqlite', file } },
        procedureOptions(),
      );
      assert.ok(
        findings.some(({ code }) => code === 'DISK_LOW'),
        JSON.stringify(findings),
      );
    });
  });
});

const codesOf = ({ findings }: StatusReport) => findings.map(({ code }) => code);

/** Creates a certificate for the loopback address with openssl. */
function makeCertificate(dir: string, days: number): { cert: string; key: string } {
  const cert = join(dir, 'cert.pem');
  const key = join(dir, 'key.pem');
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-keyout', key, '-out', cert, '-days', String(days), '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ],
    { stdio: 'ignore' },
  );
  return { cert, key };
}
