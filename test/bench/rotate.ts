/**
 * Prints rotations per second on the database of a stopped platform: `rotate.ts group|single DIR SECONDS`, with refresh
 * tokens on stdin. `group` runs the store's `rotate` with 32 callers. `single` runs the same update with one commit per
 * call.
 */
import { createHash, randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { Secret } from '../../src/core/index.ts';
import { openStore } from '../../src/store/open.ts';
import { idBytes } from '../../src/store/records/id-bytes.ts';
import { databaseFile, decode } from './seed.ts';
import { readEnvironment } from './service.ts';

const [mode, dir = '', seconds = '1'] = process.argv.slice(2);
const families = (JSON.parse(await text(process.stdin)) as string[]).map((token) => {
  const claims = decode(token);
  return {
    sessionId: String(claims['sid']),
    id: String(claims['reuse_id']),
    hash: createHash('sha256').update(token).digest(),
  };
});
const CALLERS = 32;
const length = Number(seconds) * 1000;

async function group(): Promise<number> {
  const masterKey = new Secret(readEnvironment(dir)['IDKIT_MASTER_KEY'] ?? '');
  const store = await openStore({ file: databaseFile(dir), masterKey });
  let rotated = 0;
  const end = performance.now() + length;
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      const family = families[caller];
      if (!family) throw new Error('not enough families');
      while (performance.now() < end) {
        const next = randomBytes(32);
        const result = await store.rotateRefreshToken({
          sessionId: family.sessionId,
          familyId: family.id,
          presentedHash: family.hash,
          nextHash: next,
          now: Math.floor(Date.now() / 1000),
          singleUse: true,
          maxReuse: 0,
        });
        if (result.outcome !== 'rotated') throw new Error(`answered ${result.outcome}`);
        family.hash = next;
        rotated += 1;
      }
    }),
  );
  await store.close();
  return rotated;
}

function single(): number {
  const database = new DatabaseSync(databaseFile(dir));
  database.exec('PRAGMA synchronous = FULL');
  const rotate = database.prepare(
    `UPDATE token_family SET parent_hash = current_hash, parent_uses = 1, current_hash = ?, last_refresh_at = ?
     WHERE session_id = ? AND id = ? AND current_hash = ?`,
  );
  let rotated = 0;
  const end = performance.now() + length;
  while (performance.now() < end) {
    const family = families[rotated % CALLERS];
    if (!family) throw new Error('not enough families');
    const next = randomBytes(32);
    const key = [idBytes(family.sessionId), idBytes(family.id)] as const;
    if (rotate.run(next, Math.floor(Date.now() / 1000), ...key, family.hash).changes !== 1)
      throw new Error('not rotated');
    family.hash = next;
    rotated += 1;
  }
  database.close();
  return rotated;
}

console.log(JSON.stringify({ perSecond: ((mode === 'single' ? single() : await group()) * 1000) / length }));
