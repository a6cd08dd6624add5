import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openReplicas } from '../replicas/replicas.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { post, startLoad } from './refresh-load.ts';

const CLIENTS = 24;
const PAUSE = 10;
/** Rotations that are answered before each end. */
const ROTATIONS = 200;
/** Milliseconds that the database is away each time. */
const AWAY = 3_000;
/** Milliseconds from its return to the first answer at most (issue: replicas). */
const BACK_WITHIN = 2_000;
/** Milliseconds that what must come about may take at most. */
const PATIENCE = 120_000;

test('Postgres is killed and comes back under refresh load: no answered rotation is lost or usable twice (issue: replicas)', {
  skip: missingPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const replicas = await openReplicas(t, server);
  const first = await replicas.start();
  const services = [first, await replicas.start()];
  const addresses = services.map(({ address }) => address);
  const load = await startLoad(CLIENTS, PAUSE, (client) => addresses[client % addresses.length]!);
  t.after(() => load.stop());
  const ready = (address: string) =>
    fetch(`${address}/health/ready`).then(async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    });
  const until = async (what: string, isSo: () => boolean) => {
    const late = performance.now() + PATIENCE;
    while (!isSo()) {
      assert.ok(performance.now() < late, what);
      await sleep(20);
    }
  };
  for (const how of ['immediate', 'fast', 'immediate'] as const) {
    const wanted = load.answered + ROTATIONS;
    await until('rotations are answered', () => load.answered >= wanted);
    for (const address of addresses) assert.equal(await ready(address), 200);
    await server.stop(how);
    const stopped = performance.now();
    for (const address of addresses)
      assert.equal(await ready(address), 503, 'readiness tells that it is away');
    await sleep(Math.max(0, AWAY - (performance.now() - stopped)));
    assert.deepEqual(
      load.successes.filter(({ sent }) => sent > stopped),
      [],
      'no rotation is answered without the database',
    );
    await server.start();
    const back = performance.now();
    while (!load.successes.some(({ at }) => at > back)) {
      assert.ok(
        performance.now() - back < BACK_WITHIN,
        `no answer ${BACK_WITHIN} ms after the database is back`,
      );
      await sleep(5);
    }
    const answering = performance.now() - back;
    for (const address of addresses)
      while ((await ready(address)) !== 200)
        assert.ok(performance.now() - back < BACK_WITHIN, 'readiness comes back');
    const times = load.successes.map(({ at }) => at);
    const without =
      Math.min(...times.filter((at) => at > back)) - Math.max(...times.filter((at) => at < back));
    t.diagnostic(
      `${how}: ${Math.round(without)} ms without service, ${Math.round(answering)} ms after the database`,
    );
  }
  await until('every client goes on', () => load.chains.every(({ open }) => !open));
  await load.stop();

  assert.equal(load.lost, 0, 'no answered rotation is lost');
  const statuses = new Set(load.failures.map(({ status, fault }) => `${status} ${fault}`));
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const refresh = (token: string, at: number) =>
    post(agent, `${addresses[at % 2]}/realms/master/protocol/openid-connect/token`, {
      grant_type: 'refresh_token',
      client_id: 'admin-cli',
      refresh_token: token,
    });
  let found = 0;
  const known = load.chains.filter(({ open }) => !open);
  for (const [index, { token, parent }] of known.entries()) {
    const next = await refresh(token, index);
    assert.equal(next.status, 200, `an answered rotation is there: ${JSON.stringify(next.body)}`);
    found++;
    for (const old of [token, parent!])
      assert.equal((await refresh(old, index + 1)).status, 400, 'none is good twice');
  }
  t.diagnostic(
    `${load.requests} requests, ${load.answered} rotations answered, ${load.failures.length} failures, ${found} of ${known.length} newest rotations found (${load.chains.length} chains)`,
  );
  assert.deepEqual([...statuses], ['503 temporarily_unavailable: The service is temporarily unavailable.']);
  assert.ok(known.length > CLIENTS / 2);
});
