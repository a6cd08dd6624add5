import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Secret } from '../../src/core/index.ts';
import { lockPostgres } from '../../src/postgres/index.ts';
import { aRealm } from '../conformance/store/records.ts';
import { begin, rotation } from '../conformance/store/suite.ts';
import { makeDatabase, openOn, runSql } from '../store/databases.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.ts';

// These tests use a frozen server: its machine accepts every packet, but no program responds.

const skip = missingPostgres() ?? false;

/** Returns functions that stop and continue all processes of a server. */
function freezer(server: PostgresServer): { freeze(): void; thaw(): void } {
  const main = readFileSync(join(server.dir, 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]!;
  let stopped: number[] = [];
  return {
    freeze() {
      // While the main process is stopped, the ids of its children stay valid, also of those that end.
      process.kill(Number(main), 'SIGSTOP');
      const children = execFileSync('ps', ['-o', 'pid=', '--ppid', main], { encoding: 'utf8' });
      stopped = [main, ...children.trim().split(/\s+/)].map(Number);
      for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    },
    thaw() {
      for (const pid of stopped.splice(0)) {
        try {
          process.kill(pid, 'SIGCONT');
        } catch {
          // The process has already ended.
        }
      }
    },
  };
}

async function start(t: TestContext) {
  // Continue a frozen server at the end of the test, because it cannot be stopped while it is frozen.
  let ice: ReturnType<typeof freezer> | undefined;
  t.after(() => ice?.thaw());
  const server = await startPostgres(t);
  ice = freezer(server);
  return { server, ice };
}

test('if the server freezes, callers fail within seconds, and they succeed when it responds again', {
  skip,
}, async (t) => {
  const { server, ice } = await start(t);
  const { url } = await makeDatabase(server);
  const store = await openOn(t, server, `${url}?connect_timeout=2`);
  await begin(store);
  ice.freeze();
  const begun = performance.now();
  await assert.rejects(store.rotateRefreshToken(rotation({})), { code: 'IDKIT_UNREACHABLE' });
  await assert.rejects(store.findSession('session-1', false), { code: 'IDKIT_UNREACHABLE' });
  const took = performance.now() - begun;
  assert.ok(took < 10_000, `they were refused after ${Math.round(took)} ms`);
  t.diagnostic(`two callers, one after the other, were refused after ${Math.round(took)} ms`);
  ice.thaw();
  const until = performance.now() + 30_000;
  for (;;) {
    try {
      assert.deepEqual(await store.rotateRefreshToken(rotation({})), { outcome: 'rotated' });
      break;
    } catch (error) {
      if ((error as { code?: string }).code !== 'IDKIT_UNREACHABLE') throw error;
      assert.ok(performance.now() < until, 'the server is there again');
      await sleep(50);
    }
  }
  const end = await store.takeTurn('a turn');
  await end?.();
});

test('switches to the second host within 5 s if the first one freezes, even for pending requests', {
  skip,
}, async (t) => {
  const [first, second] = [await start(t), await start(t)];
  for (const { server } of [first, second]) {
    await runSql(server, 'CREATE DATABASE idkit');
    const alone = await openOn(t, server, `postgres://postgres@127.0.0.1:${server.port}/idkit`);
    await alone.apply([
      { do: 'create', realm: aRealm({ name: server === first.server ? 'first' : 'second' }) },
    ]);
    await alone.close();
  }
  const hosts = [first, second].map(({ server }) => `127.0.0.1:${server.port}`).join();
  const store = await openOn(t, first.server, `postgres://postgres@${hosts}/idkit`);
  assert.deepEqual(await store.listRealmNames(), ['first']);
  first.ice.freeze();
  const begun = performance.now();
  const names = await Promise.all(Array.from({ length: 20 }, () => store.listRealmNames()));
  const took = performance.now() - begun;
  assert.ok(names.every(([name]) => name === 'second'));
  assert.ok(took < 5_000, `it took ${Math.round(took)} ms`);
  t.diagnostic(`20 reads were answered by the other host after ${Math.round(took)} ms`);
  assert.ok(await store.takeTurn('a turn'), 'turns come from there too');
});

test('does not abandon a server that runs a slow statement but still responds', { skip }, async (t) => {
  const { server } = await start(t);
  const { url, name } = await makeDatabase(server);
  const store = await openOn(t, server, url);
  await begin(store);
  const held = runSql(server, 'BEGIN; LOCK TABLE token_family; SELECT pg_sleep(6); COMMIT', name);
  const until = performance.now() + 10_000;
  const isHeld = async () => {
    const rows = await runSql(
      server,
      `SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted`,
    );
    return rows.length > 0;
  };
  while (!(await isHeld())) assert.ok(performance.now() < until, 'the table is locked');
  assert.ok(await store.findFamily('session-1', 'family-1'));
  await held;
});

test('the service lock is lost if its server freezes', { skip }, async (t) => {
  const { server, ice } = await start(t);
  const { url } = await makeDatabase(server);
  const lock = await lockPostgres({ url, password: new Secret(server.password) }, 'exclusive');
  t.after(() => lock.release());
  assert.equal(lock.isHeld(), true);
  ice.freeze();
  const until = performance.now() + 15_000;
  while (lock.isHeld()) {
    assert.ok(performance.now() < until, 'it is known to be lost');
    await sleep(50);
  }
});

test('close() of a store succeeds even if its server is frozen', { skip }, async (t) => {
  const { server, ice } = await start(t);
  const { url } = await makeDatabase(server);
  const store = await openOn(t, server, `${url}?connect_timeout=2`);
  await begin(store);
  ice.freeze();
  const begun = performance.now();
  await store.close();
  const took = performance.now() - begun;
  assert.ok(took < 20_000, `it took ${Math.round(took)} ms`);
  t.diagnostic(`it was closed after ${Math.round(took)} ms`);
});
