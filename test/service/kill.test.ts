import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { test } from 'node:test';
import { login, makePlatform, refresh } from '../http/service.ts';

/** Starts the service in a separate process. */
async function spawnService(dir: string): Promise<{ address: string; child: ChildProcess }> {
  const program = new URL('./serve-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout!.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)));
  });
  return { address, child };
}

/** A session that refreshes its tokens until the service is killed, and the tokens that the test knows at that time. */
interface Chain {
  /** The tokens that were rotated: their successors arrived in responses. */
  spent: string[];
  /** The newest token that arrived. */
  newest: string;
  /** True if a request with `newest` was pending when the service was killed. The token may then have been rotated. */
  inFlight: boolean;
}

test('after kill -9 under refresh load, rotated tokens are rejected and the newest token of a session works', async () => {
  const platform = makePlatform();
  try {
    const service = await spawnService(platform.dir);
    const chains: Chain[] = [];
    for (let n = 0; n < 12; n++)
      chains.push({ spent: [], newest: (await login(service))['refresh_token']!, inFlight: false });
    const idle: Chain = { spent: [], newest: (await login(service))['refresh_token']!, inFlight: false };
    const died = new Promise((resolve) => service.child.once('exit', resolve));
    const spent = () => chains.reduce((sum, chain) => sum + chain.spent.length, 0);
    const load = chains.map(async (chain) => {
      for (;;) {
        chain.inFlight = true;
        let answer: Awaited<ReturnType<typeof refresh>>;
        try {
          answer = await refresh(service, chain.newest);
        } catch {
          return;
        }
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        chain.inFlight = false;
        chain.spent.push(chain.newest);
        chain.newest = answer.body['refresh_token']!;
        // Pause, so that some sessions have no pending request when the service is killed.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
      }
    });
    let wrong = false;
    Promise.all(load).catch(() => {
      wrong = true;
    });
    // Wait until some tokens have been rotated, however slow the machine is.
    while (!wrong && spent() <= 200) {
      assert.equal(service.child.exitCode ?? service.child.signalCode, null, 'the service runs');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    service.child.kill('SIGKILL');
    await Promise.all([died, ...load]);

    const again = await spawnService(platform.dir);
    try {
      assert.equal((await refresh(again, idle.newest)).status, 200, 'an unused token works');
      for (const chain of chains) {
        if (!chain.inFlight) assert.equal((await refresh(again, chain.newest)).status, 200);
        for (const token of chain.spent.slice(-3).reverse()) {
          const answer = await refresh(again, token);
          assert.equal(answer.status, 400, 'a token whose successor arrived never works again');
          assert.equal(answer.body['error'], 'invalid_grant');
        }
      }
    } finally {
      const ended = new Promise((resolve) => again.child.once('exit', resolve));
      again.child.kill('SIGTERM');
      assert.equal(await ended, 0);
    }
  } finally {
    platform.remove();
  }
});

test('a killed service leaves no lock behind, so the next service starts immediately', async () => {
  const platform = makePlatform();
  try {
    const first = await spawnService(platform.dir);
    const died = new Promise((resolve) => first.child.once('exit', resolve));
    first.child.kill('SIGKILL');
    await died;
    const second = await spawnService(platform.dir);
    await login(second);
    const ended = new Promise((resolve) => second.child.once('exit', resolve));
    second.child.kill('SIGTERM');
    await ended;
  } finally {
    platform.remove();
  }
});
