import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnvFile } from '../../src/config/index.ts';
import { IdkitError } from '../../src/core/index.ts';
import { makeDirectory, type Ran, run } from './run.ts';

/** Runs `idkit serve` until the output contains `until`, then stops it as Ctrl-C would. */
async function serve(
  cwd: string,
  until: string,
  options: Pick<NonNullable<Parameters<typeof run>[1]>, 'env' | 'terminal' | 'redirected'> & {
    argv?: readonly string[];
  } = {},
): Promise<Ran> {
  const interrupt = new AbortController();
  let output = '';
  const { argv = [], ...streams } = options;
  return run(['serve', '--port', '0', '--management-port', '0', ...argv], {
    cwd,
    interrupt,
    ...streams,
    onOutput: (text) => {
      output += text;
      if (output.includes(until))
        interrupt.abort(new IdkitError('IDKIT_INTERRUPTED', 'interrupted by Ctrl-C'));
    },
  });
}

const BANNER_END = 'Ctrl-C stops the service.';
const secretsOf = (cwd: string) => parseEnvFile(readFileSync(join(cwd, 'idkit/.env'), 'utf8'));

test('on a terminal, only the first start prints the administrator and the generated password', async (t) => {
  const cwd = makeDirectory(t);
  const first = await serve(cwd, BANNER_END, { terminal: true });
  assert.equal(first.code, 0, 'stopping is its normal end');
  const password = secretsOf(cwd).get('IDKIT_ADMIN_PASSWORD')!;
  assert.match(first.stderr, /^administrator +admin$/m);
  assert.match(first.stderr, /^console +http:\/\/127\.0\.0\.1:\d+\/admin\/$/m);
  assert.ok(first.stderr.includes('\u001b['), 'in colours');
  assert.equal(first.stderr.split(password).length, 2, 'once');
  assert.equal(first.stdout, '', 'a banner takes the place of the log');
  const second = await serve(cwd, BANNER_END, { terminal: true });
  assert.doesNotMatch(second.stderr, /^(administrator|password) /m);
  assert.ok(!second.stderr.includes(password));
});

test('writes the log to a redirected stdout and the banner to the terminal', async (t) => {
  const cwd = makeDirectory(t);
  const { stdout, stderr } = await serve(cwd, BANNER_END, { terminal: true, redirected: true });
  const password = secretsOf(cwd).get('IDKIT_ADMIN_PASSWORD')!;
  assert.ok(stderr.includes(password));
  assert.ok(!stdout.includes(password));
  const events = stdout.trimEnd().split('\n');
  assert.ok(
    events.some((line) => (JSON.parse(line) as { msg: string }).msg === 'ready'),
    stdout,
  );
});

test('never shows a password that idkit did not generate, and honours NO_COLOR', async (t) => {
  const cwd = makeDirectory(t);
  const env = { IDKIT_ADMIN_USERNAME: 'root', IDKIT_ADMIN_PASSWORD: 'Given-By-A-Person-1', NO_COLOR: '1' };
  const { stdout, stderr } = await serve(cwd, BANNER_END, { env, terminal: true });
  assert.equal(secretsOf(cwd).get('IDKIT_ADMIN_PASSWORD'), env.IDKIT_ADMIN_PASSWORD, 'written as it is');
  assert.match(stderr, /^administrator +root$/m);
  assert.ok(!`${stdout}${stderr}`.includes(env.IDKIT_ADMIN_PASSWORD));
  assert.ok(!stderr.includes('\u001b['));
});

test('without a terminal, prints the path of .env instead of the password; --json ends with one result', async (t) => {
  const cwd = makeDirectory(t);
  const database = 'sqlite:elsewhere/own.db';
  const baseUrl = 'https://login.example.test';
  const flags = ['--database', database, '--host', 'localhost', '--base-url', `${baseUrl}/`];
  const ran = await serve(cwd, '"ready"', { argv: ['--json', ...flags] });
  assert.equal(ran.code, 0);
  const { address, ...result } = ran.result();
  assert.match(String(address), /^http:\/\/localhost:\d+$/);
  assert.deepEqual(result, {
    type: 'result',
    command: 'serve',
    ok: true,
    exitCode: 0,
    baseUrl,
    dir: join(cwd, 'idkit'),
  });
  const notes = ran.json().filter(({ type }) => type === 'note');
  assert.ok(notes.some(({ message }) => String(message).endsWith(`the password is in ${cwd}/idkit/.env`)));
  for (const [name, secret] of secretsOf(cwd)) {
    if (name !== 'IDKIT_ADMIN_USERNAME') assert.ok(!`${ran.stdout}${ran.stderr}`.includes(secret), name);
  }
  assert.ok(existsSync(join(cwd, 'idkit/elsewhere/serve.lock')), 'serve.lock is next to the database file');
});
