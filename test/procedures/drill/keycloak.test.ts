import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/index.ts';
import { drill } from '../../../src/procedures/index.ts';
import { missingPostgres } from '../../store/postgres-server.ts';
import { copyKeycloakSet, makeDirectory, procedureOptions } from '../platform.ts';

const skip = missingPostgres() ?? false;

test('a drill of a platform with Keycloak loads and checks the database and counts its users, without starting Keycloak', {
  skip,
}, async (t) => {
  const { dir, passphrase } = await copyKeycloakSet(t);
  const platform = await makeDirectory(t, 'drill-keycloak');
  // The drill must not contact the live platform, so no program listens at the addresses of its database and its
  // service.
  const yaml =
    'service: keycloak\ndatabase: postgres://keycloak@127.0.0.1:1/keycloak\nlisten: { port: 1 }\nkeycloak: { start: "false", stop: "false" }\n';
  await writeFile(join(platform, 'idkit.yaml'), yaml);
  const settings = await loadSettings({ dir: platform, env: {} });
  const options = procedureOptions();
  const unsealed = { ...options, set: dir, passphrase, env: {} };
  await assert.rejects(drill(settings, unsealed), { code: 'IDKIT_UNSEALED' });
  const drilled = await drill(settings, { ...unsealed, trustUnsealed: true });
  assert.equal(drilled.outcome, 'passed', String(drilled.failure));
  const phases = drilled.phases.map(({ id }) => id);
  assert.deepEqual(phases, ['verify', 'preflight', 'stage', 'load', 'check', 'swap', 'start', 'finish']);
  assert.ok(options.reported.notes.some((note) => note.startsWith('Keycloak itself is not started here')));
  const rows = drilled.checklist.map(({ id, outcome, detail }) => ({ id, outcome, detail }));
  const counts = rows.filter(({ id }) => id === 'user-counts');
  assert.deepEqual(
    counts.map(({ outcome }) => outcome),
    ['done'],
  );
  assert.match(counts[0]!.detail, /globex: 1000 users in the loaded database/);
  const others = rows.filter(({ id }) => id !== 'user-counts');
  assert.ok(others.length > 0 && others.every(({ outcome }) => outcome === 'does not apply'));
});
