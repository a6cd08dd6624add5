import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, chown, cp, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Secret } from '../../src/core/index.ts';
import { openStore, rotateMasterKey } from '../../src/store/open.ts';
import { renderCompiledQueries } from '../../src/store/queries/compile.ts';
import { COMPILED_QUERIES } from '../../src/store/queries/compiled/sqlite.ts';
import { defineAll } from '../../src/store/queries/index.ts';
import { aClient, aCredential, aFamily, aRealm, aSession, aUser } from '../conformance/store/records.ts';
import { newDirectory, newMasterKey, newStore } from './files.ts';

/** Returns the names and the hashes of the files in a directory. */
async function fingerprint(directory: string): Promise<unknown> {
  const names = (await readdir(directory)).sort();
  return Promise.all(
    names.map(async (name) => [
      name,
      createHash('sha256')
        .update(await readFile(join(directory, name)))
        .digest('hex'),
    ]),
  );
}

async function filled(t: Parameters<typeof newStore>[0]) {
  const made = await newStore(t);
  await made.store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', client: aClient({}) },
    { do: 'create', user: aUser({}) },
    { do: 'create', credential: aCredential({ secrets: { '/secretData': new Secret('otp-seed') } }) },
  ]);
  await made.store.startSession(aSession({}), aFamily({}));
  await made.store.close();
  return made;
}

test('reports each defect of a database with its own error, and does not change the files', async (t) => {
  const { file, masterKey, directory } = await filled(t);
  const spoil: Record<string, { code: string; spoil: (copy: string) => Promise<unknown>; key?: Secret }> = {
    'wrong key': { code: 'IDKIT_MASTER_KEY_WRONG', spoil: async () => {}, key: newMasterKey() },
    'not a key': { code: 'IDKIT_MASTER_KEY_INVALID', spoil: async () => {}, key: new Secret('c2hvcnQ=') },
    newer: { code: 'IDKIT_VERSION', spoil: async (copy) => run(copy, 'PRAGMA user_version = 999') },
    foreign: { code: 'IDKIT_VERSION', spoil: async (copy) => run(copy, 'PRAGMA application_id = 7') },
    'no database': {
      code: 'IDKIT_DATABASE_DAMAGED',
      spoil: (copy) => writeFile(copy, 'hello '.repeat(2000)),
    },
    'cut off': { code: 'IDKIT_DATABASE_DAMAGED', spoil: (copy) => truncate(copy, 8192) },
    'overwritten inside': {
      code: 'IDKIT_DATABASE_DAMAGED',
      spoil: async (copy) => {
        const bytes = await readFile(copy);
        bytes.fill(0xaa, 4096, 20_000);
        await writeFile(copy, bytes);
      },
    },
  };
  for (const [what, { code, spoil: change, key }] of Object.entries(spoil)) {
    const place = await newDirectory(t);
    const copy = join(place, 'idkit.db');
    await cp(file, copy);
    await change(copy);
    const before = await fingerprint(place);
    for (const mode of ['write', 'read'] as const) {
      await assert.rejects(
        openStore({ file: copy, masterKey: key ?? masterKey, mode }),
        { code },
        `${what}, ${mode}`,
      );
      assert.deepEqual(await fingerprint(place), before, `${what}, ${mode}`);
    }
  }
  await assert.rejects(openStore({ file: join(directory, 'none.db'), masterKey, mode: 'read' }), {
    code: 'IDKIT_NOT_FOUND',
  });
  await assert.rejects(openStore({ file: join(directory, 'no', 'where.db'), masterKey }), {
    code: 'IDKIT_DIRECTORY_NOT_WRITABLE',
  });
});

/** The id of the user `nobody`. Root can write everything, so tests of permissions run as this user. */
const NOBODY = 65_534;

/**
 * Opens a store in a separate process, as a user other than root. Returns the code of the error, or `opened`. If root
 * runs the test, the process drops its privileges only after it has loaded the modules, because the checkout may be
 * readable only for root.
 */
async function openAsUser(file: string, masterKey: Secret): Promise<string> {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const program = `
    const { openStore } = await import(${url('../../src/store/open.ts')});
    const { Secret } = await import(${url('../../src/core/index.ts')});
    if (process.getuid() === 0) {
      process.setgroups([]);
      process.setgid(${NOBODY});
      process.setuid(${NOBODY});
    }
    const masterKey = new Secret(process.env.MASTER_KEY);
    const opened = openStore({ file: ${JSON.stringify(file)}, masterKey });
    console.log(await opened.then((store) => store.close().then(() => 'opened'), (error) => error.code));`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, MASTER_KEY: masterKey.reveal() },
  });
  return (await run).stdout.trim();
}

test('reports a file without write permission as IDKIT_DIRECTORY_NOT_WRITABLE', async (t) => {
  const { file, masterKey, directory } = await filled(t);
  if (process.getuid?.() === 0) for (const path of [directory, file]) await chown(path, NOBODY, NOBODY);
  await chmod(file, 0o400);
  const before = await fingerprint(directory);
  assert.equal(await openAsUser(file, masterKey), 'IDKIT_DIRECTORY_NOT_WRITABLE');
  assert.deepEqual(await fingerprint(directory), before);
});

test('opening a database again does not change it, and reading leaves no files behind', async (t) => {
  const { file, masterKey, directory } = await filled(t);
  const before = await fingerprint(directory);
  const reading = await openStore({ file, masterKey, mode: 'read' });
  assert.equal((await reading.findClient('realm-1', 'app'))!.secrets['/secret']!.reveal(), 's3cret-of-app');
  await assert.rejects(reading.claimOnce('x', 1), { code: 'IDKIT_FAILED' });
  await reading.close();
  assert.deepEqual(await fingerprint(directory), before);
  const again = await openStore({ file, masterKey });
  await again.close();
  assert.deepEqual(await fingerprint(directory), before);
});

test('never stores secrets, passwords or refresh tokens in plain text', async (t) => {
  const { file } = await filled(t);
  const bytes = (await readFile(file)).toString('latin1');
  for (const secret of ['s3cret-of-app', 'smtp-password', 'otp-seed', '"first"'])
    assert.equal(bytes.includes(secret), false, secret);
});

test('an encrypted secret cannot be decrypted after it was moved to another record', async (t) => {
  const { file, masterKey } = await filled(t);
  run(file, `UPDATE client SET sealed = (SELECT sealed FROM realm)`);
  const store = await openStore({ file, masterKey });
  await assert.rejects(store.findClient('realm-1', 'app'), { code: 'IDKIT_DATABASE_DAMAGED' });
  await store.close();
});

test('after a rotation, only the new master key decrypts the database', async (t) => {
  const { file, masterKey } = await filled(t);
  const next = newMasterKey();
  await assert.rejects(rotateMasterKey(file, newMasterKey(), next), { code: 'IDKIT_MASTER_KEY_WRONG' });
  assert.deepEqual(await rotateMasterKey(file, masterKey, next), { records: 3 });
  assert.deepEqual(await rotateMasterKey(file, masterKey, next), { records: 0 });
  await assert.rejects(openStore({ file, masterKey }), { code: 'IDKIT_MASTER_KEY_WRONG' });
  const store = await openStore({ file, masterKey: next, masterKeyOld: masterKey });
  assert.equal((await store.findClient('realm-1', 'app'))!.secrets['/secret']!.reveal(), 's3cret-of-app');
  await store.close();
});

test('after an interrupted rotation, the store needs both master keys, and finishes the rotation when it opens', async (t) => {
  const { file, masterKey } = await filled(t);
  const next = newMasterKey();
  const database = new DatabaseSync(file);
  database.exec(
    `CREATE TRIGGER cut BEFORE UPDATE OF sealed ON component BEGIN SELECT RAISE(ABORT, 'cut'); END;
     CREATE TRIGGER cut2 BEFORE UPDATE OF sealed ON credential BEGIN SELECT RAISE(ABORT, 'cut'); END;`,
  );
  await assert.rejects(rotateMasterKey(file, masterKey, next), /cut/);
  database.exec('DROP TRIGGER cut; DROP TRIGGER cut2');
  database.close();
  for (const key of [masterKey, next])
    await assert.rejects(openStore({ file, masterKey: key }), { code: 'IDKIT_MASTER_KEY_WRONG' });
  const reading = await openStore({ file, masterKey: next, masterKeyOld: masterKey, mode: 'read' });
  assert.equal((await reading.listCredentials('user-1'))[0]!.secrets['/secretData']!.reveal(), 'otp-seed');
  await reading.close();
  await (await openStore({ file, masterKey: next, masterKeyOld: masterKey })).close();
  const store = await openStore({ file, masterKey: next });
  assert.equal((await store.listCredentials('user-1'))[0]!.secrets['/secretData']!.reveal(), 'otp-seed');
  await store.close();
});

test('the compiled queries are up to date, and Postgres has every query of SQLite', async () => {
  for (const dialect of ['sqlite', 'postgres'] as const) {
    const file = new URL(`../../src/store/queries/compiled/${dialect}.ts`, import.meta.url);
    assert.equal(await readFile(file, 'utf8'), renderCompiledQueries(dialect));
  }
  const known = new Set(Object.keys(defineAll('postgres')));
  assert.deepEqual(
    Object.keys(COMPILED_QUERIES).filter((name) => !known.has(name)),
    [],
  );
});

function run(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}
