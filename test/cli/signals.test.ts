import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { initPlatform } from '../../src/config/index.ts';
import { issuer, startService } from '../client/token-service.ts';
import { BIN } from '../journey/idkit.ts';
import { makeDirectory, run } from './run.ts';

/**
 * Starts a backup that waits for its passphrase, sends it signals while it waits, and returns the exit code and the
 * output.
 */
function interrupt(
  dir: string,
  signals: readonly NodeJS.Signals[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, 'backup', '--dir', dir, '--json'], {
      env: { ...process.env, IDKIT_BACKUP_PASSPHRASE_COMMAND: 'echo waiting >&2; exec sleep 30' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const text = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      text.stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      text.stderr += chunk;
      if (String(chunk).includes('waiting')) for (const signal of signals) child.kill(signal);
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...text }));
  });
}

test('a command exits with 130 after Ctrl-C and with 143 after SIGTERM, and its result reports the same code', async (t) => {
  const dir = join(makeDirectory(t), 'idkit');
  initPlatform(dir, { env: {} });
  const cases: [signal: NodeJS.Signals, code: number, error: string][] = [
    ['SIGINT', 130, 'IDKIT_INTERRUPTED'],
    ['SIGTERM', 143, 'IDKIT_TERMINATED'],
  ];
  for (const [signal, code, error] of cases) {
    const ended = await interrupt(dir, [signal]);
    assert.equal(ended.code, code);
    const result = JSON.parse(ended.stdout.trim().split('\n').at(-1)!) as {
      exitCode: number;
      error: { code: string };
    };
    assert.equal(result.exitCode, code);
    assert.equal(result.error.code, error);
    assert.match(ended.stderr, new RegExp(`error ${error}: `));
  }
});

test('Ctrl-C and --timeout end a list although its reader has stopped reading, and the list reads no further page', async (t) => {
  const users = Array.from({ length: 5000 }, (_, index) => ({ username: `user-${index}`, enabled: true }));
  const issue = issuer();
  const service = await startService(t, (request) => {
    if (request.path.endsWith('/token')) return issue(request);
    const max = Number(new URL(request.path, 'http://localhost').searchParams.get('max'));
    return { json: users.slice(0, max) };
  });
  for (const [flags, signal, code] of [
    [[], 'SIGINT', 130],
    [['--timeout', '5'], undefined, 15],
  ] as const) {
    const before = service.requests.length;
    const argv = ['admin', 'user', 'list', '--realm', 'acme', '--base-url', service.baseUrl, ...flags];
    const child = spawn(process.execPath, [BIN, ...argv], {
      env: { ...process.env, IDKIT_ADMIN_PASSWORD: 'swordfish' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'readable');
    if (signal !== undefined) child.kill(signal);
    assert.deepEqual(await exited, [code, null]);
    assert.ok(service.requests.length - before < 8, `${service.requests.length - before} requests`);
  }
});

test('--timeout ends a command with IDKIT_UNREACHABLE (exit code 15)', async (t) => {
  const dir = join(makeDirectory(t), 'idkit');
  initPlatform(dir, { env: {} });
  const { code, stderr } = await run(['backup', '--dir', dir, '--timeout', '0.2'], {
    env: { IDKIT_BACKUP_PASSPHRASE_COMMAND: 'exec sleep 30', PATH: process.env['PATH'] },
  });
  assert.equal(code, 15);
  assert.match(stderr, /IDKIT_UNREACHABLE: the command did not finish within 0\.2 s \(--timeout\)/);
});

test('serve stops when the npx process that started it exits', async (t) => {
  const dir = join(makeDirectory(t), 'idkit');
  const shell = spawn(
    'sh',
    ['-c', '"$0" "$1" serve --port 0 --dir "$2" & wait', process.execPath, BIN, dir],
    {
      env: { ...process.env, npm_command: 'exec' },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  let log = '';
  shell.stdout.on('data', (chunk) => {
    log += chunk;
    if (String(chunk).includes('"ready"')) shell.kill('SIGKILL');
  });
  await new Promise((resolve) => shell.stdout.on('end', resolve));
  assert.match(log, /"stopped"/);
});
