import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SECRETS } from '../http/service.ts';
import { startIdkit } from '../journey/idkit.ts';
import { BASE_URL } from '../replicas/replicas.ts';
import { waitUntil } from '../wait-until.ts';
import { missingPatroni, type Node, startCluster } from './patroni-cluster.ts';
import { type Load, post, startLoad } from './refresh-load.ts';

const CLIENTS = 12;
const PAUSE = 20;
/** Number of rotations that must succeed before each fault. */
const ROTATIONS = 100;
/** Maximum time in milliseconds from the promotion of the standby to the service's first response. */
const BACK_WITHIN = 5_000;

test('if a primary is cut off or frozen, the service responds again within 5 s of the promotion, and no confirmed rotation is lost', {
  skip: missingPatroni() ?? false,
}, async (t) => {
  const cluster = await startCluster(t);
  const env = {
    ...SECRETS,
    IDKIT_DATABASE_URL: cluster.url,
    IDKIT_DATABASE_PASSWORD: cluster.password,
    IDKIT_BASE_URL: BASE_URL,
  };
  const addresses: string[] = [];
  for (let replica = 0; replica < 2; replica++) {
    const cwd = mkdtempSync(join(tmpdir(), 'idkit-replica-'));
    t.after(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));
    addresses.push((await startIdkit(t, { cwd, env })).address);
  }
  const load = await startLoad(CLIENTS, PAUSE, (client) => addresses[client % 2]!);
  t.after(() => load.stop());

  const promoted = async (what: string, next: Node, fault: () => void) => {
    const wanted = load.answered + ROTATIONS;
    await cluster.until('rotations are answered', () => load.answered >= wanted);
    const begun = performance.now();
    fault();
    await cluster.until('the other server is promoted', () => next.is('primary'));
    const at = performance.now();
    const back = await firstAnswerAfter(load, at);
    const seconds = (from: number, to: number) => `${((to - from) / 1000).toFixed(1)} s`;
    t.diagnostic(
      `${what}: promoted after ${seconds(begun, at)}, the service was back ${seconds(at, back)} later`,
    );
  };
  await promoted('cut off', cluster.second, cluster.cutOff);
  cluster.mend();
  await cluster.until('the first server follows the second', () => cluster.first.is('sync'));
  await promoted('frozen', cluster.first, cluster.second.freeze);
  await cluster.until('every client is served', () => load.chains.every(({ open }) => !open));
  await load.stop();

  assert.equal(load.lost, 0, 'no confirmed rotation is lost');
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const refresh = (token: string, at: number) =>
    post(agent, `${addresses[at % 2]}/realms/master/protocol/openid-connect/token`, {
      grant_type: 'refresh_token',
      client_id: 'admin-cli',
      refresh_token: token,
    });
  for (const [index, { token, parent }] of load.chains.entries()) {
    const next = await refresh(token, index);
    assert.equal(next.status, 200, `the confirmed rotation exists: ${JSON.stringify(next.body)}`);
    for (const old of [token, parent!])
      assert.equal((await refresh(old, index + 1)).status, 400, 'no token works twice');
  }
  assert.deepEqual(
    [...new Set(load.failures.map(({ status, fault }) => `${status} ${fault}`))],
    ['503 temporarily_unavailable: The service is temporarily unavailable.'],
  );
  t.diagnostic(`${load.answered} rotations were answered, ${load.failures.length} requests refused`);
});

/** Waits for the first response with status 200 that arrives after `at`, and returns its time (`performance.now()`). */
async function firstAnswerAfter(load: Load, at: number): Promise<number> {
  const first = () => load.successes.find((success) => success.at > at);
  const seconds = (BACK_WITHIN - (performance.now() - at)) / 1000;
  return (await waitUntil('the service answers after the promotion', first, { seconds, every: 10 })).at;
}
