import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallerName, forCaller, IdkitError, nameCaller, urgently } from '../../src/core/index.ts';
import { compiler, foundUsers, userCount, userSearch } from '../../src/store/queries/index.ts';
import { KINDS, type Kind, kindOfSearch, WaitingRoom } from '../../src/store/sql/waiting-room.ts';

const READ: Kind = { name: 'read' };
const WRITE: Kind = { name: 'write', of: 'write' };
const BUSY = { code: 'IDKIT_UNREACHABLE', message: /busy/ };

const MASTER: CallerName = { realm: 'master', user: 'admin' };
const GREEDY: CallerName = { realm: 'lo', user: 'mid' };

/** Runs the work of an administrator. */
function as<T>(name: CallerName, work: () => T, { signal } = new AbortController()): T {
  return forCaller(signal, () => {
    nameCaller(name);
    return work();
  });
}

/** Returns a function that starts an operation, which ends when `finish` is called, and the names of those started. */
function operations(room: WaitingRoom) {
  const started: string[] = [];
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  const start = (name: CallerName, kind: Kind = READ, work = () => promise) =>
    as(name, () =>
      room.use(
        () => {
          started.push(`${name.realm} ${name.user}`);
          return work();
        },
        { kind },
      ),
    );
  return { started, start, finish };
}

test('takes turns between realms and between the administrators of a realm', async () => {
  const room = new WaitingRoom({ atOnce: 1 });
  const { started, start, finish } = operations(room);
  const all = Array.from({ length: 9 }, () => start(GREEDY));
  all.push(start({ realm: 'lo', user: 'other' }), start(MASTER));
  finish();
  await Promise.all(all);
  assert.ok(started.indexOf('master admin') <= 2, `${started}`);
  assert.ok(started.indexOf('lo other') <= 4, `${started}`);
});

test('rejects the newest operation of the caller with most of them if the queue is full', async () => {
  const room = new WaitingRoom({ atOnce: 1, seats: 4 });
  const { start, finish } = operations(room);
  const greedy = Array.from({ length: 5 }, () => start(GREEDY));
  const master = start(MASTER);
  await assert.rejects(greedy[4]!, BUSY);
  await assert.rejects(start(GREEDY), BUSY);
  assert.deepEqual([room.figures.waiting, room.figures.refused], [4, 2]);
  finish();
  await Promise.all([...greedy.slice(0, 4), master]);
});

test('one caller with more operations than seats, in any number of kinds, prevents no other from reading', async () => {
  const room = new WaitingRoom({ atOnce: 3, seats: 64, patience: 500 });
  let isOver = false;
  let kinds = 0;
  const flood = Array.from({ length: 90 }, async () => {
    while (!isOver) {
      const kind: Kind = { name: `search ${kinds++}`, of: 'search' };
      await as(GREEDY, () => room.use(() => sleep(400), { kind })).catch(() => sleep(20));
    }
  });
  await sleep(200);
  for (let i = 0; i < 20; i++) {
    const since = performance.now();
    await as(MASTER, () => room.use(() => sleep(1), { kind: READ }));
    assert.ok(performance.now() - since < 300);
  }
  await as(MASTER, () => room.use(() => sleep(1), { kind: { name: 'slow search', of: 'search' } }));
  isOver = true;
  await Promise.all(flood);
});

test('searches of one realm never take all places, even if they were short before', async () => {
  const room = new WaitingRoom({ atOnce: 3 });
  const { start, finish } = operations(room);
  const search: Kind = { name: 'search', of: 'search' };
  await start(GREEDY, search, async () => {});
  const all = Array.from({ length: 5 }, (_, i) => start({ realm: 'lo', user: `user-${i}` }, search));
  assert.equal(room.figures.inUse, 2);
  all.push(start(MASTER, search));
  assert.equal(room.figures.inUse, 3);
  finish();
  await Promise.all(all);
});

test('the kind of a search does not depend on how many words and attributes it has', () => {
  for (const dialect of ['sqlite', 'postgres'] as const) {
    const kinds = new Set<string>();
    const build = compiler(dialect);
    for (const by of ['all', 'index', 'exact'] as const)
      for (const find of [userSearch, foundUsers, userCount])
        for (let words = 0; words <= 20; words += 5)
          for (let size = 0; size <= 6; size += 3) {
            const search = Array.from({ length: words }, (_, i) => `*word${i}*`).join(' ');
            const attributes = Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i}`, 'v']));
            const query = {
              realmId: 'r',
              search,
              attributes,
              enabled: size % 2 === 0,
              exact: true,
              first: 0,
              max: 9,
            };
            kinds.add(kindOfSearch(find(build, dialect, query, { by }).compile().sql).name);
          }
    assert.ok(kinds.size < KINDS / 10, `${kinds.size} kinds`);
    assert.ok(kinds.size > 6, `${kinds.size} kinds`);
  }
});

test('a waiting write ends with its caller, but not if its request has written before', async () => {
  const room = new WaitingRoom({ atOnce: 1 });
  const gone = [new AbortController(), new AbortController()];
  const { promise, resolve } = Promise.withResolvers<void>();
  const write = async () => 'written';
  const continued = as(
    MASTER,
    async () => {
      await room.use(() => promise, { kind: WRITE });
      return room.use(write, { kind: WRITE });
    },
    gone[0],
  );
  const waiting = as(MASTER, () => room.use(write, { kind: WRITE }), gone[1]);
  for (const one of gone) one.abort(new IdkitError('IDKIT_UNREACHABLE', 'gone'));
  await assert.rejects(waiting, { message: 'gone' });
  resolve();
  assert.equal(await continued, 'written');
  assert.deepEqual([room.figures.inUse, room.figures.waiting], [0, 0]);
});

test('operations that were slow before never take the last place, so a short one does not wait', async () => {
  const room = new WaitingRoom({ atOnce: 3 });
  const slowKind = { name: 'slow' };
  await room.use(() => sleep(150), { kind: slowKind });
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = Array.from({ length: 5 }, () => room.use(() => promise, { kind: slowKind }));
  assert.deepEqual(
    { ...room.figures, waitedSeconds: 0 },
    { inUse: 2, waiting: 3, refused: 0, waitedSeconds: 0 },
  );
  assert.equal(await room.use(async () => 'short', { kind: READ }), 'short');
  resolve();
  await Promise.all(slow);
  assert.equal(room.figures.inUse, 0);
});

test('leaves a place empty after a read while urgent work is in progress', async () => {
  const room = new WaitingRoom({ atOnce: 1 });
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  const read = async () => {
    const began = performance.now();
    await as(MASTER, () => room.use(() => sleep(40), { kind: READ }));
    return performance.now() - began;
  };
  const urgent = urgently(() => promise);
  const resting = read();
  await sleep(60);
  assert.equal(room.figures.inUse, 1, 'the place is still taken after the read');
  assert.ok((await resting) >= 110, 'the read ends after the rest of its place');
  const write = performance.now();
  await as(MASTER, () => room.use(() => sleep(40), { kind: WRITE }));
  assert.equal(room.figures.inUse, 0);
  assert.ok(performance.now() - write < (await resting), 'a write does not rest');
  finish();
  await urgent;
});

test('a read does not rest if nothing is urgent', async () => {
  const room = new WaitingRoom({ atOnce: 1 });
  await urgently(async () => {});
  await sleep(60);
  let ended = 0;
  await as(MASTER, () =>
    room.use(async () => sleep(200).then(() => (ended = performance.now())), { kind: READ }),
  );
  assert.ok(performance.now() - ended < 100);
});
