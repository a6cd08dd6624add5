import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { form, makePlatform, startTestService, tokenUrl } from '../http/service.ts';

const exports_ = new URL('../fixtures/keycloak/exports/', import.meta.url);

test('realm files in import/ are imported where the realm does not exist, and not again', async () => {
  const platform = makePlatform();
  try {
    for (const name of ['acme', 'globex', 'initech'])
      cpSync(new URL(`${name}-realm.json`, exports_), join(platform.dir, 'import', `${name}-realm.json`));
    const first = await startTestService({ platform });
    assert.deepEqual([...first.imported].sort(), ['acme', 'globex', 'initech']);
    for (const name of first.imported)
      assert.equal((await fetch(`${first.address}/realms/${name}`)).status, 200, name);
    const answer = await fetch(
      tokenUrl(first, 'acme'),
      form({ grant_type: 'password', client_id: 'x', username: 'x', password: 'x' }),
    );
    assert.equal(answer.status, 401);
    await first.stop();
    const second = await startTestService({ platform });
    assert.deepEqual(second.imported, []);
    await second.stop();
  } finally {
    platform.remove();
  }
});

test('what an imported realm asks for and is not enforced is listed in the log', async () => {
  const platform = makePlatform();
  try {
    writeFileSync(
      join(platform.dir, 'import', 'x.json'),
      JSON.stringify({
        realm: 'x',
        enabled: true,
        identityProviders: [{ alias: 'corp', providerId: 'oidc', enabled: true, config: {} }],
      }),
    );
    const service = await startTestService({ platform });
    assert.ok(
      service.unenforced.some((entry) => entry.realm === 'x' && entry.path.startsWith('$.identityProviders')),
    );
    assert.ok(
      service.log.some(
        (line) => line.level === 'warn' && JSON.stringify(line.fields).includes('identityProviders'),
      ),
    );
    await service.stop();
  } finally {
    platform.remove();
  }
});

const faults: readonly { what: string; text: string; named: RegExp }[] = [
  { what: 'broken JSON', text: '{"realm": "x",', named: /x\.json/ },
  { what: 'a list instead of a realm', text: '[1]', named: /x\.json.*\$/s },
  { what: 'a wrong type', text: '{"realm":"x","enabled":"maybe"}', named: /x\.json.*\$\.enabled/s },
  { what: 'an unknown field', text: '{"realm":"x","enabeld":true}', named: /x\.json.*enabeld.*enabled/s },
  { what: 'a realm name that is a path', text: '{"realm":"../x"}', named: /x\.json.*\$\.realm/s },
];
for (const { what, text, named } of faults)
  test(`a realm file with ${what} imports nothing and ends serve with IDKIT_IMPORT (exit 2) that names it`, async () => {
    const platform = makePlatform();
    try {
      writeFileSync(join(platform.dir, 'import', 'x.json'), text);
      await assert.rejects(
        startTestService({ platform }),
        (error: Error & { code: string; exitCode: number }) => {
          assert.equal(error.code, 'IDKIT_IMPORT');
          assert.equal(error.exitCode, 2);
          assert.match(error.message, named);
          return true;
        },
      );
    } finally {
      platform.remove();
    }
  });
