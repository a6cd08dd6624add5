import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { connectAdmin } from '../../../src/client/index.ts';
import { compareFigures } from '../../../src/procedures/backup/watch.ts';
import { backup, listBackups, pruneBackups, verify } from '../../../src/procedures/index.ts';
import { makePlatform, PASSPHRASE, procedureOptions, type TestPlatform } from '../platform.ts';

const DAY = 86_400_000;
const codes = (findings: readonly { code: string }[]) => findings.map(({ code }) => code);
const options = (at?: number) => ({
  ...procedureOptions(at === undefined ? {} : { clock: { now: () => at } }),
  passphrase: PASSPHRASE,
});

/** Runs statements in the database of a stopped platform. */
function change(platform: TestPlatform, sql: string): void {
  const database = new DatabaseSync(join(platform.dir, 'data/idkit.db'));
  database.exec(sql);
  database.close();
}

/** A stopped platform with the realm `acme`, 20 more users in it, and a set. */
async function backedUp(t: Parameters<typeof makePlatform>[0]) {
  const platform = await makePlatform(t, ['acme']);
  const service = await platform.serve();
  const { administrator } = await platform.load();
  const admin = await connectAdmin({
    baseUrl: service.address,
    username: administrator.username,
    password: administrator.password!,
  });
  for (let index = 0; index < 20; index++)
    await admin.call('POST', '/acme/users', { username: `more-${index}`, enabled: true });
  await admin.logout();
  await service.close();
  const set = await backup(await platform.load(), options());
  assert.deepEqual(set.findings, []);
  return { platform, set };
}

const LOSE_USERS = "DELETE FROM account WHERE username LIKE 'more-1%'";

describe('backup watches what a set lost', () => {
  it('names lost users and lost keys until the loss is accepted, and compares later sets with the accepted one', async (t) => {
    const { platform, set } = await backedUp(t);
    change(
      platform,
      `PRAGMA foreign_keys=ON; ${LOSE_USERS}; DELETE FROM component WHERE doc LIKE '%KeyProvider%' AND realm_id = (SELECT id FROM realm WHERE name = 'acme')`,
    );
    for (const _ of [1, 2]) {
      const next = await backup(await platform.load(), options());
      assert.deepEqual(codes(next.findings), ['USERS_LOST', 'KEYS_LOST']);
      assert.match(
        next.findings[0]!.message,
        new RegExp(`compared with ${set.name}: the realm acme lost \\d+ % of its users`),
      );
      assert.match(next.findings[1]!.message, /the realm acme lost all of its \d+ keys.*--accept-shrink/);
      assert.equal(next.shrunk?.accepted, false);
    }
    const accepting = options();
    const accepted = await backup(await platform.load(), { ...accepting, acceptShrink: true });
    assert.deepEqual([accepted.findings, accepted.shrunk?.accepted], [[], true]);
    assert.match(accepting.reported.notes.join('\n'), /accepted: .*lost all of its/);
    assert.deepEqual((await backup(await platform.load(), options())).findings, []);
  });

  it('names a lost realm', async (t) => {
    const { platform } = await backedUp(t);
    change(platform, "PRAGMA foreign_keys=ON; DELETE FROM realm WHERE name = 'acme'");
    const next = await backup(await platform.load(), options());
    assert.ok(codes(next.findings).includes('REALM_LOST'));
    assert.match(
      next.findings.find(({ code }) => code === 'REALM_LOST')!.message,
      /the realm acme, which had \d+ users, is missing/,
    );
  });

  it('sets that lost data never make a good set expire, and verify does not forget the loss', async (t) => {
    const { platform, set } = await backedUp(t);
    change(platform, `PRAGMA foreign_keys=ON; ${LOSE_USERS}`);
    const now = Date.now();
    const root = join(platform.dir, 'backups');
    for (const days of [10, 20, 30]) {
      const next = await backup(await platform.load(), options(now + days * DAY));
      assert.deepEqual(
        [codes(next.findings), next.pruned.includes(set.name)],
        [['USERS_LOST'], false],
        `day ${days}`,
      );
      await verify(await platform.load(), { ...options(now + days * DAY), set: next.dir });
    }
    // A good set that was within the limit when the loss began also stays.
    await cp(set.dir, join(root, '20200101_000000'), { recursive: true });
    const plan = await pruneBackups(await platform.load(), { ...options(now + 30 * DAY), dryRun: true });
    const decisions = Object.fromEntries(plan.decisions.map(({ name, action }) => [name, action]));
    assert.deepEqual([decisions[set.name], decisions['20200101_000000']], ['keep', 'delete']);
    const { sets } = await listBackups(await platform.load(), options(now + 30 * DAY));
    assert.ok(sets.some(({ name }) => name === set.name));
  });
});

describe('compareFigures', () => {
  const before = { kind: 'idkit sqlite', sqlBytes: 1000, realms: [{ realm: 'a', users: 100, keys: 4 }] };

  it('reports a loss of exactly the limit, but not a smaller one', () => {
    const size = (sqlBytes: number) => codes(compareFigures(before, { ...before, sqlBytes }, 30));
    assert.deepEqual([size(700), size(701), size(2000)], [['SET_SHRANK'], [], []]);
    const users = (count: number) =>
      codes(compareFigures(before, { ...before, realms: [{ realm: 'a', users: count, keys: 4 }] }, 30));
    assert.deepEqual([users(90), users(91), users(0)], [['USERS_LOST'], [], ['USERS_LOST']]);
  });

  it('reports neither one user of a small realm, nor what is unknown, nor the sizes of different kinds', () => {
    const small = { kind: 'idkit sqlite', realms: [{ realm: 'a', users: 3 }] };
    assert.deepEqual(
      compareFigures(small, { kind: 'idkit sqlite', realms: [{ realm: 'a', users: 2 }] }, 30),
      [],
    );
    assert.deepEqual(
      codes(compareFigures(small, { kind: 'idkit sqlite', realms: [{ realm: 'a', users: 0 }] }, 30)),
      ['USERS_LOST'],
    );
    assert.deepEqual(compareFigures(before, { kind: 'idkit postgres', sqlBytes: 1 }, 30), []);
  });
});
