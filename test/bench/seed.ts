import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Secret } from '../../src/core/index.ts';
import { type JwsKey, signJws } from '../../src/crypto/index.ts';
import { openKeyRing } from '../../src/protocol/index.ts';
import { openStore } from '../../src/store/open.ts';
import { idBytes } from '../../src/store/records/id-bytes.ts';
import { readEnvironment } from './service.ts';

type Row = Record<string, string | number | bigint | Uint8Array | null>;

/** Returns the path of the database file in a platform directory. */
export function databaseFile(dir: string): string {
  return join(dir, 'data', 'idkit.db');
}

/**
 * Copies the token family of `token`, which comes from a real login, until the table contains `count` families, each in
 * its own session. Returns `usable` refresh tokens that are spread evenly over them. The service must be stopped.
 */
export async function seedFamilies(
  dir: string,
  token: string,
  count: number,
  usable: number,
): Promise<string[]> {
  const claims = decode(token);
  const key = await refreshKey(dir, String(claims['iss']).split('/').at(-1) ?? '');
  const database = openForSeeding(dir);
  const family = database
    .prepare('SELECT * FROM token_family WHERE session_id = ? AND id = ?')
    .get(idBytes(String(claims['sid'])), idBytes(String(claims['reuse_id']))) as Row;
  const session = database
    .prepare('SELECT * FROM user_session WHERE id = ?')
    .get(idBytes(String(claims['sid']))) as Row;
  const indexes = takeIndexes(database, ['token_family', 'user_session']);
  const putFamily = insert(database, 'token_family', family);
  const putSession = insert(database, 'user_session', session);
  const every = Math.floor(count / usable);
  const tokens: string[] = [];
  database.exec('BEGIN');
  for (let index = 0; index < count; index += 1) {
    const id = randomUUID();
    const sessionId = spreadId(index, count);
    let hash: Uint8Array = randomBytes(32);
    if (index % every === 0 && tokens.length < usable) {
      const next = await signJws(key, { ...claims, jti: randomUUID(), sid: sessionId, reuse_id: id });
      hash = createHash('sha256').update(next).digest();
      tokens.push(next);
    }
    putSession({ ...session, id: idBytes(sessionId) });
    putFamily({ ...family, id: idBytes(id), session_id: idBytes(sessionId), current_hash: hash });
    if (index % 100_000 === 99_999) database.exec('COMMIT; BEGIN');
  }
  database.exec('COMMIT');
  finish(database, indexes);
  return tokens;
}

/**
 * Copies a user with its credential until the database file has at least `bytes` bytes. The service must be stopped.
 */
export function seedUsers(dir: string, username: string, bytes: number): void {
  const database = openForSeeding(dir);
  const user = database.prepare('SELECT * FROM account WHERE username = ?').get(username) as Row;
  const credential = database
    .prepare('SELECT * FROM credential WHERE user_id = ?')
    .get(String(user['id'])) as Row;
  const indexes = takeIndexes(database, ['account', 'credential']);
  const putUser = insert(database, 'account', user);
  const putCredential = insert(database, 'credential', credential);
  for (let batch = 0; fileBytes(dir) < bytes; batch += 1) {
    database.exec('BEGIN');
    for (let index = 0; index < 10_000; index += 1) {
      const id = randomUUID();
      const name = `user-${batch}-${index}`;
      const doc = String(user['doc']).replaceAll(String(user['id']), id).replaceAll(username, name);
      putUser({ ...user, id, username: name, email: `${name}@example.test`, doc });
      const credentialId = randomUUID();
      const secret = String(credential['secret_data']).replace(
        /"value":"[^"]+"/,
        () => `"value":"${randomBytes(32).toString('base64')}"`,
      );
      putCredential({
        ...credential,
        id: credentialId,
        user_id: id,
        secret_data: secret,
        doc: String(credential['doc']).replaceAll(String(credential['id']), credentialId),
      });
    }
    database.exec('COMMIT');
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
  finish(database, indexes);
}

function fileBytes(dir: string): number {
  return statSync(databaseFile(dir)).size;
}

function openForSeeding(dir: string): DatabaseSync {
  const database = new DatabaseSync(databaseFile(dir), { enableForeignKeyConstraints: false });
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA temp_store = MEMORY');
  return database;
}

function insert(database: DatabaseSync, table: string, like: Row): (row: Row) => void {
  const columns = Object.keys(like);
  const statement = database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  return (row) => void statement.run(...columns.map((column) => row[column] ?? null));
}

/**
 * Drops the tables' indexes and returns the statements that create them again. It is many times faster to fill a table
 * without indexes.
 */
export function takeIndexes(database: DatabaseSync, tables: readonly string[]): string[] {
  const found = database
    .prepare(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL
       AND tbl_name IN (${tables.map(() => '?').join(', ')})`,
    )
    .all(...tables);
  for (const { name } of found) database.exec(`DROP INDEX ${name}`);
  return found.map(({ sql }) => String(sql));
}

function finish(database: DatabaseSync, indexes: string[]): void {
  for (const sql of indexes) database.exec(sql);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

/**
 * Returns one of `count` evenly spread ids of sessions. They ascend with `index`, so that inserts append to the table's index and
 * lookups read random pages.
 */
function spreadId(index: number, count: number): string {
  const head = Math.floor((index * 0xffffffff) / count)
    .toString(16)
    .padStart(8, '0');
  return `${head}${randomBytes(12).toString('base64url')}`;
}

export function decode(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
    string,
    unknown
  >;
}

/** Returns the key that signs the realm's refresh tokens. */
async function refreshKey(dir: string, realm: string): Promise<JwsKey> {
  const masterKey = new Secret(readEnvironment(dir)['IDKIT_MASTER_KEY'] ?? '');
  const store = await openStore({ file: databaseFile(dir), masterKey, mode: 'read' });
  try {
    const configuration = await store.findRealm(realm);
    if (!configuration) throw new Error(`realm ${realm} does not exist`);
    return openKeyRing().signingKey(configuration, 'HS512');
  } finally {
    await store.close();
  }
}
