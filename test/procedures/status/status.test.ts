import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { status } from '../../../src/procedures/index.ts';
import { run } from '../../cli/run.ts';
import { makePlatform, procedureOptions } from '../platform.ts';
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

  it('reports redirect URIs with a wildcard as findings, except those of the consoles', async (t) => {
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
    const { findings } = await status(await platform.load(), procedureOptions());
    const wildcards = findings.filter(({ code }) => code === 'REDIRECT_WILDCARD');
    assert.equal(wildcards.length, 1);
    assert.match(wildcards[0]!.message, /realm open: client wide .* https:\/\/app\.example\.test\/\*;/);
  });

  it('reports the last backup, the last verification and the source of the master key of a stopped service', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const report = await status(await platform.load(), procedureOptions());
    assert.equal(report.service.health, 'stopped');
    assert.equal(report.lastBackup?.name, set.name);
    assert.equal(report.lastVerify?.verdict, 'good');
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
});
