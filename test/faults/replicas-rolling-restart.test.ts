import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import type { Service } from '../journey/idkit.ts';
import { openReplicas } from '../replicas/replicas.ts';
import { runSql } from '../store/databases.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';
import { missingProxy, PROXIES, type ProxyName, startProxy } from './proxies.ts';
import { type Load, startLoad } from './refresh-load.ts';

const REPLICAS = 3;
const CLIENTS = 16;
/** Number of requests through each proxy. */
const REQUESTS = 10_000;
/** Number of clients of each proxy. */
const CLIENTS_OF_PROXY = 8;
/** Number of reads between two refreshes of a client. */
const READS = 9;
/** Pause in milliseconds between two requests of a client that checks readiness. */
const PAUSE = 100;
/** Pause in milliseconds between two checks of readiness. */
const LOOK = 250;

test('during a rolling restart, none of 10,000 requests through nginx, haproxy or Caddy fails', {
  skip: missingPostgres() ?? missingProxy('nginx') ?? missingProxy('haproxy') ?? missingProxy('caddy'),
}, async (t) => {
  const fleet = await startFleet(t);
  const names = Object.keys(PROXIES) as ProxyName[];
  const loads = await Promise.all(
    names.map(async (name) => {
      const proxy = await startProxy(t, name, fleet.ports);
      const load = await startLoad(CLIENTS_OF_PROXY, 0, () => proxy, READS);
      t.after(() => load.stop());
      return { name, load };
    }),
  );
  const until = performance.now() + 600_000;
  do {
    await fleet.restartAll();
    assert.ok(performance.now() < until, 'the proxies forward 10,000 requests each in ten minutes');
  } while (loads.some(({ load }) => load.requests < REQUESTS));
  for (const { name, load } of loads) {
    await load.stop();
    t.diagnostic(`${name}:`);
    tellAndCheck(t, load);
    assert.ok(load.requests >= REQUESTS, `${load.requests} requests`);
  }
});

test('no request fails while workers receive SIGTERM and are being replaced one by one', {
  skip: missingPostgres() ?? missingProxy('nginx'),
}, async (t) => {
  const server = await startPostgres(t);
  const replicas = await openReplicas(t, server);
  const service = await replicas.start({ argv: ['--workers', '2'] });
  const { port } = new URL(service.address);
  const proxy = await startProxy(t, 'nginx', [Number(port)]);
  const load = await startLoad(CLIENTS_OF_PROXY, 0, () => proxy, READS);
  t.after(() => load.stop());
  const pids = async () => pidsOf(server, replicas.database.name);
  for (const old of await pids()) {
    process.kill(old, 'SIGTERM');
    let now: readonly number[] = [];
    const replaced = async () => {
      now = await pids();
      return now.length === 2 && !now.includes(old);
    };
    await waitUntil(`worker ${old} is replaced`, replaced, { every: 100, seen: () => now });
  }
  await load.stop();
  tellAndCheck(t, load);
  assert.deepEqual(
    service.log().filter(({ msg }) => msg === 'a worker ended and will be replaced'),
    [],
  );
});

test('during a rolling restart, no request fails if clients only use replicas that are ready', {
  skip: missingPostgres(),
}, async (t) => {
  const fleet = await startFleet(t);
  const ready = new Set(fleet.ports);
  const looking = new AbortController();
  const looks = fleet.ports.map(async (port) => {
    while (!looking.signal.aborted) {
      const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.status === 200) ready.add(port);
      else ready.delete(port);
      await sleep(LOOK);
    }
  });
  const load = await startLoad(CLIENTS, PAUSE, (client) => {
    const own = fleet.ports[client % REPLICAS]!;
    return `http://127.0.0.1:${ready.has(own) ? own : [...ready][client % ready.size]}`;
  });
  t.after(() => {
    looking.abort();
    return load.stop();
  });
  await fleet.restartAll(async (port) => {
    await waitUntil(`the clients see that ${port} is ready`, () => ready.has(port), { every: LOOK });
  });
  await load.stop();
  looking.abort();
  await Promise.all(looks);
  tellAndCheck(t, load);
});

function tellAndCheck(t: TestContext, load: Load): void {
  const times = load.successes.map(({ at }) => at).toSorted((one, other) => one - other);
  const gap = Math.max(...times.slice(1).map((time, index) => time - times[index]!));
  t.diagnostic(
    `${load.requests} requests, ${load.failures.length} failures, longest time without an answer ${Math.round(gap)} ms`,
  );
  assert.deepEqual(load.failures, []);
  assert.ok(load.requests > 500, `${load.requests} requests are a load`);
}

/** Starts replicas on fixed ports. */
async function startFleet(t: TestContext) {
  const server = await startPostgres(t);
  const replicas = await openReplicas(t, server);
  const ports = await Promise.all(Array.from({ length: REPLICAS }, freePort));
  const places = ports.map(() => replicas.makePlace());
  const start = (index: number): Promise<Service> =>
    replicas.start({
      place: places[index]!,
      // One of the replicas has two workers.
      argv: ['--port', String(ports[index]), ...(index === 1 ? ['--workers', '2'] : [])],
    });
  const running = [await start(0), ...(await Promise.all([start(1), start(2)]))];
  return {
    ports,
    /** @param seen resolves when the clients have noticed that the replica on this port is ready again */
    restartAll: async (seen: (port: number) => Promise<void> = async () => {}) => {
      await sleep(500);
      for (const index of ports.keys()) {
        assert.equal(await running[index]!.stop(), 0);
        running[index] = await start(index);
        await seen(ports[index]!);
        await sleep(2 * LOOK);
      }
    },
  };
}

/** Returns the ids of the idkit processes that are connected to the database, from their application names. */
async function pidsOf(server: PostgresServer, database: string): Promise<readonly number[]> {
  const rows = await runSql(
    server,
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE datname = '${database}' AND application_name LIKE 'idkit serve %'`,
  );
  return rows.map(({ name }) => Number(String(name).split(' ').at(-1)));
}
