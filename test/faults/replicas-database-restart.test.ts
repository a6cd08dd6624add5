import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openReplicas } from '../replicas/replicas.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';
import { post, startLoad } from './refresh-load.ts';

const CLIENTS = 24;
const PAUSE = 10;
/** Number of rotations that must succeed before each fault. */
const ROTATIONS = 200;
/** Time in milliseconds for which the database is unavailable. */
const AWAY = 3_000;
/** Maximum time in milliseconds from the return of the database to the first response. */
const BACK_WITHIN = 2_000;
/** Timeout in milliseconds for an expected state. */
const PATIENCE = 120_000;

test('if Postgres is killed and restarted under refresh load, no confirmed rotation is lost and no token works twice', {
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
  const until = (what: string, isSo: () => boolean) => waitUntil(what, isSo, { seconds: PATIENCE / 1000 });
  for (const how of ['immediate', 'fast', 'immediate'] as const) {
    const wanted = load.answered + ROTATIONS;
    await until('rotations are answered', () => load.answered >= wanted);
    for (const address of addresses) assert.equal(await ready(address), 200);
    await server.stop(how);
    const stopped = performance.now();
    for (const address of addresses)
      assert.equal(await ready(address), 503, 'readiness reports that the database is unavailable');
    await sleep(Math.max(0, AWAY - (performance.now() - stopped)));
    assert.deepEqual(
      load.successes.filter(({ sent }) => sent > stopped),
      [],
      'no rotation succeeds without the database',
    );
    await server.start();
    const back = performance.now();
    const answers = () => load.successes.some(({ at }) => at > back);
    await waitUntil('the service answers again', answers, { seconds: BACK_WITHIN / 1000, every: 5 });
    const answering = performance.now() - back;
    for (const address of addresses)
      await waitUntil('the service is ready again', async () => (await ready(address)) === 200, {
        seconds: (BACK_WITHIN - (performance.now() - back)) / 1000,
        every: 0,
      });
    const times = load.successes.map(({ at }) => at);
    const without =
      Math.min(...times.filter((at) => at > back)) - Math.max(...times.filter((at) => at < back));
    t.diagnostic(
      `${how}: ${Math.round(without)} ms without service, ${Math.round(answering)} ms after the database`,
    );
  }
  await until('every client continues', () => load.chains.every(({ open }) => !open));
  await load.stop();

  assert.equal(load.lost, 0, 'no confirmed rotation is lost');
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
    assert.equal(next.status, 200, `a confirmed rotation exists: ${JSON.stringify(next.body)}`);
    found++;
    for (const old of [token, parent!])
      assert.equal((await refresh(old, index + 1)).status, 400, 'no token works twice');
  }
  t.diagnostic(
    `${load.requests} requests, ${load.answered} rotations answered, ${load.failures.length} failures, ${found} of ${known.length} newest rotations found (${load.chains.length} chains)`,
  );
  assert.deepEqual([...statuses], ['503 temporarily_unavailable: The service is temporarily unavailable.']);
  assert.ok(known.length > CLIENTS / 2);
});
