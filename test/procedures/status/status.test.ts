import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { status } from '../../../src/procedures/index.ts';
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
});
