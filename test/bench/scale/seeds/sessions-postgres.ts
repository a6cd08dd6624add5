import type { Client } from 'pg';
import { COMPILED_QUERIES } from '../../../../src/store/queries/compiled/postgres.ts';
import { idBytesSql } from '../../../../src/store/records/id-bytes.ts';
import { AHEAD, LIFETIME, rareEvery, sessionIdOf, usableEvery, userName, uuidOf } from './plan.ts';
import { type TokenMint, tokenFile } from './tokens.ts';

/** SQL: the same as `uuidOf` in plan.ts. */
export const uuidSql = (name: string): string =>
  `overlay(overlay(md5(${name}) placing '4' from 13 for 1) placing 'a' from 17 for 1)::uuid::text`;
const sessionIdSql = (name: string): string =>
  `'A' || substr(translate(encode(sha256((${name})::bytea), 'base64'), '+/', '-_'), 2, 23)`;

/** How the rows of session number `n` differ from those of a real login. All other columns are copied. */
const SESSION: Readonly<Record<string, string>> = {
  id: sessionIdSql(`'s' || n`),
  user_id: uuidSql(`'u' || user_number`),
  started_at: 'started',
  last_access_at: 'started',
  look_again: 'ends / 3600',
};
const FAMILY: Readonly<Record<string, string>> = {
  id: uuidSql(`'f' || n`),
  session_id: SESSION['id']!,
  user_id: SESSION['user_id']!,
  client_uuid: 'client',
  current_hash: `coalesce(usable.hash, sha256(n::text::bytea))`,
  started_at: 'started',
  last_refresh_at: 'started',
};

/** The sessions to add: numbers `from` to `from + count - 1`. */
export interface Sessions {
  from: number;
  count: number;
  /** Number of users among whom the sessions are spread. 0: they are all of user number 0. */
  users: number;
  /** If true, they ended an hour ago, except for one that is due but lives. */
  expired?: boolean;
  /** If true, the tables are emptied first, and their indexes are built afterwards. */
  fresh?: boolean;
}

/** Adds sessions by copying the session of a real login. Writes the usable refresh tokens to `tokens`. */
export async function seedSessions(
  client: Client,
  mint: TokenMint,
  clients: { web: string; rare: string },
  sessions: Sessions,
  tokens?: string,
): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  const { from, count, users, expired = false, fresh = false } = sessions;
  await client.query('BEGIN');
  await takeTemplates(client, mint);
  await client.query('CREATE TEMP TABLE usable (n BIGINT PRIMARY KEY, hash BYTEA NOT NULL) ON COMMIT DROP');
  if (tokens !== undefined) await signTokens(client, mint, sessions, tokens);
  const indexes: string[] = [];
  if (fresh) {
    // Without triggers, which would store a change of the counts for each row.
    await client.query('SET LOCAL session_replication_role = replica');
    await client.query('TRUNCATE user_session CASCADE');
    for (const table of ['token_family', 'user_session'])
      indexes.unshift(...(await takeIndexes(client, table)));
  }
  const user = users === 0 ? '0' : `n % ${users}`;
  const numbers = `(SELECT n, ${user} AS user_number, ${
    expired
      ? `${now - LIFETIME - 3600} AS started, ${now - 3600} AS ends`
      : `${now - 7200} + n % 3600 AS started, ${now + AHEAD} + n % 86400 AS ends`
  }, CASE WHEN n % ${rareEvery(count)} = 0 AND NOT ${expired} THEN '${clients.rare}' ELSE '${clients.web}' END AS client
    FROM generate_series(${from}::bigint, ${from + count - 1}) AS n) AS numbers`;
  await copy(client, 'user_session', SESSION, numbers);
  await copy(client, 'token_family', FAMILY, `${numbers} LEFT JOIN usable USING (n)`);
  for (const statement of indexes) await client.query(statement);
  await client.query('DROP TABLE template_user_session, template_token_family');
  if (fresh) await correctCounts(client);
  await client.query('COMMIT');
  // Not after each addition: ANALYZE needs the lock of autovacuum, and the server ends autovacuum for it.
  if (fresh) for (const table of ['user_session', 'token_family']) await client.query(`ANALYZE ${table}`);
}

/** Corrects the kept counts, if this version has them. */
async function correctCounts(client: Client): Promise<void> {
  const { rows } = await client.query(`SELECT to_regclass('count_change') IS NOT NULL AS counts`);
  if (rows[0].counts !== true) return;
  for (const query of ['count.driftOfSessions', 'count.driftOfFamilies'] as const)
    await client.query(`INSERT INTO count_change (kind, owner, amount) ${COMPILED_QUERIES[query].sql}`);
}

/** Copies the rows of the real login into temporary tables. Without it, any session serves. */
async function takeTemplates(client: Client, { sessionId, familyId }: TokenMint): Promise<void> {
  const take = async (table: string, condition: string) => {
    await client.query(
      `CREATE TEMP TABLE template_${table} AS SELECT * FROM ${table} WHERE ${condition} LIMIT 1`,
    );
    const { rows } = await client.query(`SELECT count(*)::int AS copied FROM template_${table}`);
    return rows[0].copied as number;
  };
  const [session, family] = [`'${sessionId}'`, `'${familyId}'`];
  const bytes = new Set(await columnsOf(client, 'token_family', 'bytea'));
  const condition = bytes.has('id')
    ? `session_id = ${idBytesSql(session, 'postgres')} AND id = ${idBytesSql(family, 'postgres')}`
    : `id = ${family}`;
  if ((await take('token_family', condition)) > 0) {
    await take('user_session', `id = ${bytes.has('id') ? idBytesSql(session, 'postgres') : session}`);
    return;
  }
  await client.query('DROP TABLE template_token_family');
  await take('token_family', 'true');
  await take('user_session', 'id = (SELECT session_id FROM template_token_family)');
}

async function copy(
  client: Client,
  table: string,
  differing: Readonly<Record<string, string>>,
  from: string,
): Promise<void> {
  const names = await columnsOf(client, table);
  const bytes = new Set(await columnsOf(client, table, 'bytea'));
  const values = names.map((name) => {
    const text = differing[name];
    if (text === undefined) return `template.${name}`;
    if (!ID.test(name) || !bytes.has(name)) return text;
    return `(SELECT ${idBytesSql('id', 'postgres')} FROM (SELECT ${text} AS id OFFSET 0) AS text)`;
  });
  await client.query(
    `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM template_${table} AS template, ${from}`,
  );
}

/** The columns that contain ids, which older versions store as text. */
const ID = /^(id|session_id|client_uuid)$/;

async function columnsOf(client: Client, table: string, type?: 'bytea'): Promise<string[]> {
  const { rows } = await client.query(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0
     AND NOT attisdropped AND attgenerated = '' AND coalesce(atttypid = $1::regtype, true) ORDER BY attnum`,
    [type ?? null],
  );
  return rows.map(({ name }) => String(name));
}

/** Signs the tokens of every so many sessions, and stores their hashes in the table `usable`. */
async function signTokens(
  client: Client,
  mint: TokenMint,
  { from, count, users }: Sessions,
  tokens: string,
): Promise<void> {
  const every = usableEvery(count);
  const out = tokenFile(tokens);
  const numbers: number[] = [];
  for (let n = from; n < from + count; n += every) if (n % rareEvery(count) !== 0) numbers.push(n);
  for (let at = 0; at < numbers.length; at += 10_000) {
    const slice = numbers.slice(at, at + 10_000);
    const signed = await Promise.all(
      slice.map((n) =>
        mint.sign({
          sessionId: sessionIdOf(`s${n}`),
          familyId: uuidOf(`f${n}`),
          userId: uuidOf(userName(users === 0 ? 0 : n % users)),
        }),
      ),
    );
    out.add(signed.map(({ token }) => token));
    await client.query('INSERT INTO usable SELECT * FROM unnest($1::bigint[], $2::bytea[])', [
      slice,
      signed.map(({ hash }) => hash),
    ]);
  }
  await client.query('ANALYZE usable');
}

/**
 * Drops the table's foreign keys, keys and indexes, and returns the statements that create them again, in the order in
 * which they must run.
 */
async function takeIndexes(client: Client, table: string): Promise<string[]> {
  const { rows: constraints } = await client.query(
    `SELECT conname AS name, pg_get_constraintdef(oid) AS text FROM pg_constraint
     WHERE conrelid = '${table}'::regclass AND contype IN ('p', 'u', 'f') ORDER BY contype = 'f'`,
  );
  const { rows: indexes } = await client.query(
    `SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS text FROM pg_index
     WHERE indrelid = '${table}'::regclass AND indexrelid NOT IN (SELECT conindid FROM pg_constraint)`,
  );
  for (const { name } of constraints.toReversed())
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  return [
    ...constraints.map(({ name, text }) => `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${text}`),
    ...indexes.map(({ text }) => String(text)),
  ];
}
