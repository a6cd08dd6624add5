import assert from 'node:assert/strict';
import { appendFile, chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type DoctorResult, doctor } from '../../../src/procedures/index.ts';
import { makePlatform, PASSPHRASE, procedureOptions, type TestPlatform } from '../platform.ts';

async function examine(platform: TestPlatform, own: object = {}): Promise<DoctorResult> {
  return doctor(await platform.load(), { ...procedureOptions(), env: { PATH: process.env['PATH'] }, ...own });
}

const outcomeOf = ({ checks }: DoctorResult, id: string, subject?: string) => {
  const found = checks.find(
    (check) => check.id === id && (subject === undefined || check.subject === subject),
  );
  return `${found?.outcome}: ${found?.detail}`;
};

/** Returns the findings, except for the speed of the disk, which depends on the load of the machine. */
const faultsOf = ({ findings }: DoctorResult) => findings.filter(({ code }) => code !== 'DISK_SPEED');

describe('doctor', () => {
  it('examines a platform without a running service, and leaves no file behind', async (t) => {
    const platform = await makePlatform(t);
    const before = await readdir(platform.dir, { recursive: true });
    const result = await examine(platform);
    assert.deepEqual(faultsOf(result), []);
    assert.match(outcomeOf(result, 'file-modes'), /^passed/);
    assert.match(outcomeOf(result, 'service'), /^not-applicable: the service is not running/);
    assert.equal(result.settings.find(({ name }) => name === 'IDKIT_MASTER_KEY')?.source, '.env');
    assert.ok(!JSON.stringify(result).includes((await platform.load()).masterKey!.reveal()));
    assert.deepEqual(await readdir(platform.dir, { recursive: true }), before);
  });

  it('examines a running service: clock, issuer, cookies and the address that it sees', async (t) => {
    const platform = await makePlatform(t);
    const service = await platform.serve();
    const result = await examine(platform);
    assert.deepEqual(faultsOf(result), []);
    assert.match(outcomeOf(result, 'service-clock'), /^passed/);
    assert.equal(outcomeOf(result, 'issuer'), `passed: ${service.address}/realms/master`);
    assert.match(outcomeOf(result, 'cookies'), /^passed: .*AUTH_SESSION_ID/);
    assert.match(outcomeOf(result, 'proxy-headers'), /^passed: the service saw 127\.0\.0\.1/);
    assert.match(outcomeOf(result, 'database-settings'), /^passed: .*journal_mode: wal/);
    assert.match(outcomeOf(result, 'database-schema'), /^passed: schema \d+ of \d+/);
    assert.match(outcomeOf(result, 'disk-speed'), /synced write/);
  });

  it('reports other readers of secret files, with the command that excludes them', async (t) => {
    const platform = await makePlatform(t);
    await mkdir(join(platform.dir, 'data'), { recursive: true });
    await chmod(join(platform.dir, 'data'), 0o755);
    assert.deepEqual(faultsOf(await examine(platform)), [
      {
        code: 'FILE_MODES',
        message: `other users can read ${join(platform.dir, 'data')} (mode 0755); run chmod 0700 ${join(platform.dir, 'data')}`,
      },
    ]);
  });

  it('reports a base URL without a name in DNS and one that is not https', async (t) => {
    const platform = await makePlatform(t);
    await appendFile(join(platform.dir, 'idkit.yaml'), 'baseUrl: http://login.invalid\n');
    const codes = (await examine(platform)).findings.map(({ code }) => code);
    assert.ok(codes.includes('BASE_URL') && codes.includes('DNS'), String(codes));
  });

  it('reports that the service believes a forged X-Forwarded-For header behind a proxy', async (t) => {
    const platform = await makePlatform(t);
    await appendFile(join(platform.dir, 'idkit.yaml'), 'trustedProxies: [127.0.0.1]\n');
    await platform.serve();
    const result = await examine(platform);
    assert.match(
      outcomeOf(result, 'proxy-headers'),
      /believes X-Forwarded-For from this machine \(trustedProxies: 127/,
    );
  });

  it('writes a bundle that contains no secret of the platform, not even in logs and URLs', async (t) => {
    const platform = await makePlatform(t);
    const odd = 'p@ss/w+rd & "quoted" ünï';
    await appendFile(join(platform.dir, '.env'), `MAIL_PASSWORD='${odd}'\nHTTPS_PORT=8443\n`);
    const service = await platform.serve();
    const settings = await platform.load();
    const passphraseFile = join(platform.dir, '..', 'passphrase');
    await writeFile(passphraseFile, `${PASSPHRASE.reveal()}\n`, { mode: 0o600 });
    const environment = await readFile(join(platform.dir, '.env'), 'utf8');
    const secrets = [
      settings.masterKey!.reveal(),
      settings.administrator.password!.reveal(),
      settings.smoke.clientSecret!.reveal(),
      PASSPHRASE.reveal(),
      odd,
    ];
    const log = join(platform.dir, '..', 'serve.log');
    const token = await (
      await fetch(`${service.address}/realms/master/protocol/openid-connect/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: 'idkit-smoke',
          client_secret: settings.smoke.clientSecret!.reveal(),
        }),
      })
    ).text();
    const lines = secrets.flatMap((secret) => [
      `plain ${secret}`,
      `GET /x?secret=${encodeURIComponent(secret)}&x=1`,
      JSON.stringify({ msg: 'body', body: { value: secret } }),
      `authorization: Basic ${Buffer.from(`idkit-smoke:${secret}`).toString('base64')}`,
      `base64 ${Buffer.from(secret).toString('base64')}`,
    ]);
    await writeFile(log, [token, environment, 'the log itself stays', ...lines].join('\n'));
    const bundle = join(platform.dir, '..', 'bundle.tar.gz');
    const result = await examine(platform, {
      bundle,
      logs: [log],
      env: { PATH: process.env['PATH'], IDKIT_BACKUP_PASSPHRASE_FILE: passphraseFile },
    });
    assert.equal(result.bundle, bundle);
    assert.equal((await stat(bundle)).mode & 0o777, 0o600);
    const text = gunzipSync(await readFile(bundle)).toString('utf8');
    for (const part of [
      'doctor.json',
      'status.json',
      'backups.json',
      'files.txt',
      'metrics.txt',
      'logs/1-serve.log',
    ])
      assert.ok(text.includes(`idkit-doctor/${part}`), part);
    assert.match(text, /the log itself stays/);
    assert.match(text, /idkit_users 1/);
    const { access_token: accessToken } = JSON.parse(token) as { access_token: string };
    for (const secret of [...secrets, accessToken]) {
      const bytes = Buffer.from(secret);
      const forms = [
        secret,
        encodeURIComponent(secret),
        JSON.stringify(secret).slice(1, -1),
        bytes.toString('base64').replace(/=+$/, ''),
        bytes.toString('base64url'),
      ];
      for (const form of forms) assert.ok(!text.includes(form), form);
    }
    assert.ok(!text.includes(Buffer.from(`idkit-smoke:${secrets[2]}`).toString('base64')));
  });
});
