import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { connectionOf } from './databases.ts';
import { makeOlderPostgres, makeOlderSqlite } from './older-schema.ts';
import type { PostgresServer } from './postgres-server.ts';

/** The schema of version 0.1.0. */
const FIRST_RELEASE = 3;

/** The sessions to store as version 0.1.0 stored them: numbers 0 to `count - 1`. */
export interface OldSessions {
  count: number;
  realmId: string;
  /** Session n is of user `n % userIds.length`. */
  userIds: readonly string[];
  /** Every session has a family of the first client, and every seventh also one of the second. */
  clientUuids: readonly [string, string];
  /** Unix time in seconds. */
  startedAt: number;
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/** Returns the id of session n: 24 characters in base64url. */
export function oldSessionId(n: number): string {
  return Buffer.from(`${md5(`s${n}`)}${md5(`t${n}`)}`.slice(0, 36), 'hex').toString('base64url');
}

/** Returns the id of the first (`f`) or second (`g`) family of session n. */
export function oldFamilyId(n: number, which: 'f' | 'g' = 'f'): string {
  return md5(`${which}${n}`).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
}

/** Reports whether session n is an offline session. */
export const isOldOffline = (n: number): boolean => n % 10 === 9;

/** Returns the hash of a token of the families of session n. */
export function oldHash(n: number, which: 'newest' | 'parent'): Buffer {
  return createHash('sha256').update(`${which} ${n}`).digest();
}

/**
 * Creates a SQLite database of version 0.1.0.
 *
 * @param from the file of a database of the current version, from which the realms, clients and users are copied
 */
export function makeFirstReleaseSqlite(from: string, to: string, sessions: OldSessions): void {
  makeOlderSqlite(from, to, FIRST_RELEASE);
  const { count, realmId, userIds, clientUuids, startedAt } = sessions;
  const database = new DatabaseSync(to);
  const session = database.prepare(
    `INSERT INTO user_session (id, offline, realm_id, user_id, started_at, last_access_at, remember_me, look_again, doc)
     VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)`,
  );
  const family = database.prepare(
    `INSERT INTO token_family (id, session_id, offline, client_uuid, user_id, realm_id, current_hash, parent_hash,
       parent_uses, scope, started_at, last_refresh_at, notes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, 'openid email', ?, ?, ?)`,
  );
  database.exec('PRAGMA synchronous = OFF; BEGIN');
  for (let n = 0; n < count; n++) {
    const [id, user, offline] = [oldSessionId(n), userIds[n % userIds.length]!, isOldOffline(n) ? 1 : 0];
    const doc = `{"ipAddress":"192.0.2.${n % 200}","notes":${n % 3 === 0 ? '{"auth_time":"1","acr":"ä\\"1"}' : '{}'}}`;
    session.run(id, offline, realmId, user, startedAt, startedAt, Math.floor(startedAt / 3600) + 1, doc);
    for (const [which, client] of [
      ['f', clientUuids[0]],
      ['g', clientUuids[1]],
    ] as const)
      if (which === 'f' || n % 7 === 0)
        family.run(
          oldFamilyId(n, which),
          id,
          offline,
          client,
          user,
          realmId,
          oldHash(n, 'newest'),
          oldHash(n, 'parent'),
          startedAt,
          startedAt,
          n % 3 === 0 ? '{"nonce":"n"}' : '{}',
        );
  }
  database.exec('COMMIT');
  database.close();
}

/** As `makeFirstReleaseSqlite`, on Postgres. `from` and `to` are names of databases; `to` must be empty. */
export async function makeFirstReleasePostgres(
  server: PostgresServer,
  from: string,
  to: string,
  { count, realmId, userIds, clientUuids, startedAt }: OldSessions,
): Promise<void> {
  await makeOlderPostgres(server, from, to, FIRST_RELEASE);
  const client = new Client({ ...connectionOf(server), database: to });
  await client.connect();
  const id = `translate(encode(decode(left(md5('s' || n) || md5('t' || n), 36), 'hex'), 'base64'), '+/', '-_')`;
  const offline = '(n % 10 = 9)::int';
  const user = '($2::text[])[1 + n % cardinality($2::text[])]';
  const hash = (which: string) => `sha256(convert_to('${which} ' || n, 'UTF8'))`;
  try {
    await client.query(
      `INSERT INTO user_session (id, offline, realm_id, user_id, started_at, last_access_at, remember_me, look_again, doc)
       SELECT ${id}, ${offline}, $3, ${user}, $4::bigint, $4::bigint, 0, $4::bigint / 3600 + 1,
         '{"ipAddress":"192.0.2.' || n % 200 || '","notes":' || CASE WHEN n % 3 = 0 THEN '{"auth_time":"1","acr":"ä\\"1"}' ELSE '{}' END || '}'
       FROM generate_series(0, $1::int - 1) AS n`,
      [count, userIds, realmId, startedAt],
    );
    for (const [which, clientUuid] of [
      ['f', clientUuids[0]],
      ['g', clientUuids[1]],
    ] as const)
      await client.query(
        `INSERT INTO token_family (id, session_id, offline, client_uuid, user_id, realm_id, current_hash, parent_hash,
           parent_uses, scope, started_at, last_refresh_at, notes)
         SELECT md5($5 || n)::uuid::text, ${id}, ${offline}, $6, ${user}, $3, ${hash('newest')}, ${hash('parent')},
           1, 'openid email', $4::bigint, $4::bigint, CASE WHEN n % 3 = 0 THEN '{"nonce":"n"}' ELSE '{}' END
         FROM generate_series(0, $1::int - 1) AS n WHERE $5 = 'f' OR n % 7 = 0`,
        [count, userIds, realmId, startedAt, which, clientUuid],
      );
    await client.query('ANALYZE user_session');
    await client.query('ANALYZE token_family');
  } finally {
    await client.end();
  }
}
