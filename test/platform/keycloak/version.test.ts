import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keycloakSchemaNumber, renderKeycloakVersion } from '../../../src/backupset/index.ts';
import { loadSettings } from '../../../src/config/index.ts';
import type { Platform } from '../../../src/platform/index.ts';
import { checkVersionFit } from '../../../src/platform/keycloak/version-fit.ts';
import { openPlatform } from '../../../src/platform/open.ts';
import { missingPostgres } from '../../store/postgres-server.ts';
import { inPieces, inspect, KEYCLOAK_SQL, never, startKeycloakServer } from '../postgres/keycloak-server.ts';

const skip = missingPostgres() ?? false;

/** Returns the dump of a real Keycloak 26.7.3, changed to another version. */
const dumpedBy = (version: string) =>
  Buffer.from(KEYCLOAK_SQL.toString('utf8').replace('\t26.7.3\t', `\t${version}\t`));

test('converts versions to numbers and back without loss, and the numbers sort like the versions', () => {
  const part = fc.nat({ max: 99 });
  const version = fc.tuple(fc.integer({ min: 1, max: 99 }), part, part);
  fc.assert(
    fc.property(version, version, (one, other) => {
      const [a, b] = [one.join('.'), other.join('.')];
      assert.equal(renderKeycloakVersion(keycloakSchemaNumber(a)), a);
      const first =
        one.map((value, index) => value - other[index]!).find((difference) => difference !== 0) ?? 0;
      assert.equal(Math.sign(keycloakSchemaNumber(a) - keycloakSchemaNumber(b)), Math.sign(first));
    }),
  );
});

test('accepts an unknown version of the dump or the server, because Keycloak itself checks the version when it starts', () => {
  assert.deepEqual(checkVersionFit(undefined, '26.7.3'), {});
  assert.deepEqual(checkVersionFit('26.7.3', undefined), {});
  assert.deepEqual(checkVersionFit('26.7.3', '26.7.3'), {});
  assert.throws(() => checkVersionFit('26.10.0', '26.9.9'), { code: 'IDKIT_VERSION' });
});

test('before the load, rejects a dump from a newer Keycloak than the server’s (exit code 14), and loads a dump from an older Keycloak with a note', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  const platform = await openOn(server.url);
  await assert.rejects(
    platform.database.checkDump(inspect(dumpedBy('26.10.0'))),
    (error: Error & { code: string }) => {
      assert.equal(error.code, 'IDKIT_VERSION');
      assert.match(error.message, /Keycloak 26\.10\.0.*Keycloak 26\.7\.3.*older/);
      return true;
    },
  );
  assert.deepEqual(server.databases(), ['keycloak']);
  const sql = dumpedBy('26.6.1');
  await platform.database.checkDump(inspect(sql));
  const load = { id: 'r1', masterKey: undefined, signal: never };
  const { notes = [] } = await platform.database.load(inPieces(sql), load);
  const note = 'the dump is from Keycloak 26.6.1; Keycloak 26.7.3 migrates it when it starts';
  assert.ok(notes.includes(note), String(notes));
});

test('loads a dump of any version into an empty server, which has no Keycloak version', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t, { empty: true });
  const platform = await openOn(server.url);
  await platform.database.checkDump(inspect(dumpedBy('26.10.0')));
});

test('rejects commands that need idkit’s own store, and the hint names Keycloak’s equivalent', async () => {
  const platform = await openOn('postgres://keycloak@127.0.0.1:1/keycloak');
  await assert.rejects(
    platform.database.recoverAdministrator('admin'),
    (error: { code: string; hints: string[] }) => {
      assert.equal(error.code, 'IDKIT_USAGE');
      assert.match(error.hints.join(), /kc\.sh bootstrap-admin user/);
      return true;
    },
  );
  await assert.rejects(platform.database.readSnapshot(), { code: 'IDKIT_UNREACHABLE' });
  assert.deepEqual(await platform.database.readStatus(), { unenforced: [], migrations: [] });
});

/** Opens the platform of a Keycloak that runs as a process on this database. */
async function openOn(url: string): Promise<Platform> {
  const yaml = Buffer.from(`service: keycloak\ndatabase: ${url}\n`);
  return openPlatform(
    await loadSettings({
      dir: '/nowhere',
      env: { IDKIT_DATABASE_PASSWORD: 'Keycloak-Role-1' },
      contents: { yaml: { file: 'idkit.yaml', bytes: yaml } },
    }),
  );
}
