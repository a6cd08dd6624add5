import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { idBytes } from '../../../../src/store/records/id-bytes.ts';
import { takeIndexes } from '../../seed.ts';
import { AHEAD, LIFETIME, rareEvery, usableEvery, userName, uuidOf } from './plan.ts';
import type { Sessions } from './sessions-postgres.ts';
import { type TokenMint, tokenFile } from './tokens.ts';

type Value = string | number | bigint | Uint8Array | null;
type Row = Record<string, Value>;

/** One session to write. */
interface Made {
  sessionId: string;
  familyId: string;
  userId: string;
  client: string;
  started: number;
  ends: number;
  hash: Uint8Array;
}

/** How the rows of a session differ from those of a real login. All other columns are copied. */
const SESSION: Readonly<Record<string, (made: Made) => Value>> = {
  id: ({ sessionId }) => sessionId,
  user_id: ({ userId }) => userId,
  started_at: ({ started }) => started,
  last_access_at: ({ started }) => started,
  look_again: ({ ends }) => Math.floor(ends / 3600),
};
const FAMILY: Readonly<Record<string, (made: Made) => Value>> = {
  id: ({ familyId }) => familyId,
  session_id: ({ sessionId }) => sessionId,
  user_id: ({ userId }) => userId,
  client_uuid: ({ client }) => client,
  current_hash: ({ hash }) => hash,
  started_at: ({ started }) => started,
  last_refresh_at: ({ started }) => started,
};

/** Number of sessions in one transaction. */
const BATCH = 20_000;

/**
 * Adds sessions by copying the session of a real login. Their ids ascend, because a table without row ids fills many
 * times faster in the order of its key. Writes the usable refresh tokens to `tokens`. The service must be stopped.
 */
export async function seedSessions(
  database: DatabaseSync,
  mint: TokenMint,
  clients: { web: string; rare: string },
  { from, count, users, expired = false, fresh = false }: Sessions,
  tokens?: string,
): Promise<void> {
  const out = tokens === undefined ? undefined : tokenFile(tokens);
  const session = copier(database, 'user_session', { id: mint.sessionId }, SESSION);
  const key = { session_id: mint.sessionId, id: mint.familyId };
  const family = copier(database, 'token_family', key, FAMILY);
  const indexes = fresh ? takeIndexes(database, ['token_family', 'user_session']) : [];
  const now = Math.floor(Date.now() / 1000);
  const [usable, rare] = [usableEvery(count), rareEvery(count)];
  const userIds = users === 0 ? [] : Array.from({ length: users }, (_, index) => uuidOf(userName(index)));
  const first = users === 0 ? uuidOf(userName(0)) : '';
  for (let batch = 0; batch < count; batch += BATCH) {
    const made: Made[] = [];
    const signed: string[] = [];
    const signing: Promise<void>[] = [];
    for (let index = batch; index < Math.min(count, batch + BATCH); index += 1) {
      const n = from + index;
      const row: Made = {
        ...spreadIds(n, index, count),
        userId: userIds[n % users] ?? first,
        client: index % rare === 0 && !expired ? clients.rare : clients.web,
        started: expired ? now - LIFETIME - 3600 : now - 7200 + (n % 3600),
        ends: expired ? now - 3600 : now + AHEAD + (n % 86_400),
        hash: new Uint8Array(0),
      };
      if (out !== undefined && index % usable === 0 && row.client === clients.web)
        signing.push(
          mint.sign(row).then(({ token, hash }) => {
            row.hash = hash;
            signed.push(token);
          }),
        );
      else row.hash = createHash('sha256').update(row.familyId).digest();
      made.push(row);
    }
    await Promise.all(signing);
    out?.add(signed);
    database.exec('BEGIN');
    for (const row of made) session(row);
    for (const row of made) family(row);
    database.exec('COMMIT');
  }
  for (const sql of indexes) database.exec(sql);
  database.exec('ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Returns ids that ascend with `index`, and differ for each `n`. Lookups of random ids read random pages. */
function spreadIds(n: number, index: number, count: number): { sessionId: string; familyId: string } {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(Math.floor((index * 0xffffffff) / count));
  const rest = createHash('sha256').update(`s${n}`).digest();
  const bytes = Buffer.concat([head, rest.subarray(0, 14)]);
  const hex = `${head.toString('hex')}${rest.toString('hex', 14, 26)}`;
  return {
    sessionId: bytes.toString('base64url').replace(/^-/, 'A'),
    familyId: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`,
  };
}

function copier(
  database: DatabaseSync,
  table: string,
  key: Readonly<Record<string, string>>,
  differing: Readonly<Record<string, (made: Made) => Value>>,
): (made: Made) => void {
  const blobs = new Set(
    database
      .prepare(`SELECT name FROM pragma_table_info(?) WHERE type = 'BLOB'`)
      .all(table)
      .map(({ name }) => name),
  );
  /** Older versions store ids as text. */
  const stored = (column: string, value: Value) =>
    blobs.has(column) && typeof value === 'string' ? idBytes(value) : value;
  const template = database
    .prepare(
      `SELECT * FROM ${table} WHERE ${Object.keys(key)
        .map((column) => `${column} = ?`)
        .join(' AND ')}`,
    )
    .get(...Object.entries(key).map(([column, id]) => stored(column, id))) as Row | undefined;
  if (template === undefined) throw new Error(`${table} has no row ${JSON.stringify(key)} to copy`);
  const columns = Object.keys(template);
  const statement = database.prepare(
    `INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  const fields = columns.map((column) => differing[column] ?? (() => template[column] ?? null));
  return (made) => void statement.run(...fields.map((field, at) => stored(columns[at]!, field(made))));
}
