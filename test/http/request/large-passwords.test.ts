import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { BIN } from '../../journey/idkit.ts';
import { login, makePlatform, SECRETS, tokenUrl } from '../service.ts';

const HEAP_MEGABYTES = 400;
const MINUTE = 60_000;

test('survives 300 MB of 1 MB passwords with a heap of 400 MB, and accepts a correct login afterwards', async (t) => {
  const platform = makePlatform();
  t.after(platform.remove);
  const service = spawn(
    process.execPath,
    [
      `--max-old-space-size=${HEAP_MEGABYTES}`,
      BIN,
      '--dir',
      platform.dir,
      'serve',
      '--port',
      '0',
      '--management-port',
      '0',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  t.after(() => service.kill('SIGKILL'));
  let log = '';
  const address = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      if (log.length < 100_000) log += chunk;
      const found = /"address":"(http[^"]+)"/.exec(log)?.[1];
      if (found !== undefined && /"ready"/.test(log)) resolve(found);
    };
    service.stdout.on('data', read);
    service.stderr.on('data', read);
    service.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${log}`)));
    setTimeout(() => reject(new Error(`serve was not ready in a minute: ${log}`)), MINUTE).unref();
  });

  // Because of the first character (%C4%80), each character of the string takes two bytes of memory, whereas the limit
  // for bodies counts one byte for each x.
  const guesses = [
    ...Array.from({ length: 300 }, () => `%C4%80${'x'.repeat(999_000)}`),
    ...Array.from({ length: 1000 }, () => `%C4%80${'x'.repeat(60_000)}`),
  ];
  const statuses = new Map<number, number>();
  const send = async (password: string): Promise<void> => {
    const answer = await fetch(tokenUrl({ address }), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=password&client_id=admin-cli&username=${SECRETS.IDKIT_ADMIN_USERNAME}&password=${password}`,
    });
    await answer.text();
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  };
  const results = await Promise.allSettled(guesses.map(send));
  const shown = JSON.stringify([...statuses]);
  assert.equal(service.exitCode, null, `serve ended: ${log}`);
  for (const status of statuses.keys()) assert.ok([400, 413, 503].includes(status), shown);
  const cut = results.filter((one) => one.status === 'rejected').length;
  assert.ok(cut < guesses.length / 2, `${cut} connections were cut`);
  const { access_token } = await login({ address });
  assert.ok(access_token);
  service.kill('SIGTERM');
  const [code] = await once(service, 'exit');
  assert.equal(code, 0);
});
