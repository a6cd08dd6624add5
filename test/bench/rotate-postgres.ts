/**
 * Prints rotations per second on a Postgres database: `rotate-postgres.ts group|single URL SECONDS`, with the password
 * in IDKIT_DATABASE_PASSWORD. `group` runs the store's `rotate` with 32 callers. `single` runs the same update on 32
 * connections, with one statement and one commit per call. The program creates its own token families.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { parsePostgresUrl } from '../../src/config/index.ts';
import { Secret } from '../../src/core/index.ts';
import { openStore } from '../../src/store/open.ts';
import { idBytes } from '../../src/store/records/id-bytes.ts';
import { aFamily, aRealm, aSession, aUser } from '../conformance/store/records.ts';

const [mode, url = '', seconds = '1'] = process.argv.slice(2);
const password = process.env['IDKIT_DATABASE_PASSWORD'] ?? '';
const masterKey = new Secret(Buffer.alloc(32, 7).toString('base64'));
const CALLERS = 32;
const CONNECTIONS = 10;
const length = Number(seconds) * 1000;

const store = await openStore({ postgres: { url, password: new Secret(password) }, masterKey });
await store.apply([
  { do: 'create', realm: aRealm({}) },
  { do: 'create', user: aUser({}) },
]);
const hashes = Array.from({ length: CALLERS }, () => randomBytes(32));
for (const [caller, hash] of hashes.entries()) {
  const id = createHash('sha256').update(`${mode} ${process.pid} ${caller}`).digest('hex');
  await store.startSession(aSession({ id }), aFamily({ id, sessionId: id, currentHash: hash }));
}
const { hosts, user, database } = parsePostgresUrl(url);
const parsed = { ...hosts[0], user, database };
const pool = new Pool({ ...parsed, password, max: CONNECTIONS, ssl: false });

async function single(id: string, presented: Buffer, next: Buffer): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'rotate',
    text: `UPDATE token_family SET parent_hash = $1, parent_uses = 1, current_hash = $2,
      last_refresh_at = greatest(last_refresh_at, $3) WHERE session_id = $4 AND id = $4 AND current_hash = $1`,
    values: [presented, next, Math.floor(Date.now() / 1000), idBytes(id)],
  });
  return rowCount === 1;
}

async function grouped(id: string, presentedHash: Buffer, nextHash: Buffer): Promise<boolean> {
  const now = Math.floor(Date.now() / 1000);
  const { outcome } = await store.rotateRefreshToken({
    sessionId: id,
    familyId: id,
    presentedHash,
    nextHash,
    now,
    singleUse: true,
    maxReuse: 0,
  });
  return outcome === 'rotated';
}

const rotate = mode === 'single' ? single : grouped;
let rotated = 0;
const end = performance.now() + length;
await Promise.all(
  hashes.map(async (hash, caller) => {
    const id = createHash('sha256').update(`${mode} ${process.pid} ${caller}`).digest('hex');
    for (let presented = hash; performance.now() < end; rotated++) {
      const next = randomBytes(32);
      if (!(await rotate(id, presented, next))) throw new Error('it was not rotated');
      presented = next;
    }
  }),
);
await pool.end();
await store.close();
console.log(JSON.stringify({ perSecond: (rotated * 1000) / length }));
