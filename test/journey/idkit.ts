import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { parseEnvFile } from '../../src/config/index.ts';
import { PROGRAM } from '../program.ts';
import { waitUntil } from '../wait-until.ts';

/** The program under test. */
export const BIN = PROGRAM;

/** The result of a run. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Parses the last line of stdout as JSON. */
  result(): Record<string, unknown>;
}

interface RunOptions {
  bin?: string;
  cwd: string;
  env?: NodeJS.ProcessEnv;
  stdin?: string;
}

/** Additional environment variables of every run. Test files set them to run the journeys on another database. */
export const surroundings: { of(cwd: string): Promise<NodeJS.ProcessEnv> } = { of: async () => ({}) };

/** Runs idkit in a separate process, without a terminal and without the IDKIT_… variables of this process. */
export async function runIdkit(argv: readonly string[], options: RunOptions): Promise<Ended> {
  const around = await surroundings.of(options.cwd);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [options.bin ?? BIN, ...argv], {
      cwd: options.cwd,
      env: cleanEnvironment({ ...around, ...options.env }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const text = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      text.stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      text.stderr += chunk;
    });
    child.on('error', reject);
    child.stdin.on('error', () => {});
    child.stdin.end(options.stdin ?? '');
    child.on('close', (code) =>
      resolve({
        code,
        ...text,
        result: () => JSON.parse(text.stdout.trim().split('\n').at(-1)!) as Record<string, unknown>,
      }),
    );
  });
}

/** A running `idkit serve`. */
export interface Service {
  address: string;
  /** Address of metrics and detailed health. Undefined without a management listener. */
  managementUrl: string | undefined;
  /** Returns the log lines so far. */
  log(): readonly Record<string, unknown>[];
  stderr(): string;
  /** Resolves when stderr matches. */
  printed(pattern: RegExp): Promise<void>;
  run(argv: readonly string[], options?: { env?: NodeJS.ProcessEnv; stdin?: string }): Promise<Ended>;
  /** Sends a signal and returns the exit code. Default: SIGTERM. */
  stop(signal?: 'SIGTERM' | 'SIGINT'): Promise<number | null>;
}

/**
 * Starts `idkit serve` without a terminal, on a free port by default, and waits for the address in its log. The service
 * ends with the test.
 */
export async function startIdkit(
  t: TestContext,
  options: {
    bin?: string;
    cwd: string;
    env?: NodeJS.ProcessEnv;
    argv?: readonly string[];
    /** With `default`, serve uses its default port. Otherwise it uses a free port. */
    managementPort?: 'default';
  },
): Promise<Service> {
  const around = await surroundings.of(options.cwd);
  const { argv = [] } = options;
  const child = spawn(
    process.execPath,
    [options.bin ?? BIN, 'serve', ...freePorts(argv, options.managementPort), ...argv],
    {
      cwd: options.cwd,
      env: cleanEnvironment({ ...around, ...options.env }),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const text = { stdout: '', stderr: '' };
  let ended: { code: number | null } | undefined;
  const closed = new Promise<number | null>((resolve) =>
    child.on('close', (code) => {
      ended = { code };
      resolve(code);
    }),
  );
  child.stderr.on('data', (chunk) => {
    text.stderr += chunk;
  });
  child.stdout.on('data', (chunk) => {
    text.stdout += chunk;
  });
  const find = () => {
    if (ended !== undefined) throw new Error(`serve ended with ${ended.code}: ${text.stderr}`);
    return /"address":"([^"]+)"(?:,"managementUrl":"([^"]+)")?/.exec(text.stdout);
  };
  const [, address = '', managementUrl] = await waitUntil('serve says its address', find, {
    seconds: 120,
    every: 5,
    seen: () => text.stderr,
  });
  const stop: Service['stop'] = async (signal = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return closed;
  };
  t.after(() => stop());
  return {
    address,
    managementUrl,
    log: () =>
      text.stdout
        .split('\n')
        // The text after the last line end is an incomplete line or empty.
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    stderr: () => text.stderr,
    async printed(pattern) {
      await waitUntil(`stderr matches ${pattern}`, () => pattern.test(text.stderr), {
        seen: () => text.stderr,
      });
    },
    run: (argv, more = {}) =>
      runIdkit(argv, {
        cwd: options.cwd,
        ...(options.bin === undefined ? {} : { bin: options.bin }),
        ...(more.stdin === undefined ? {} : { stdin: more.stdin }),
        env: { ...options.env, ...more.env },
      }),
    stop,
  };
}

/**
 * Returns flags that replace the default ports with free ports, because the services of several tests run in parallel.
 */
function freePorts(argv: readonly string[], managementPort?: 'default'): readonly string[] {
  const flags = managementPort === undefined ? ['--port', '--management-port'] : ['--port'];
  return flags.flatMap((flag) => (argv.includes(flag) ? [] : [flag, '0']));
}

function cleanEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(IDKIT_|NODE_TEST|NODE_COMPILE_CACHE|npm_)/.test(name),
  );
  return { ...Object.fromEntries(own), ...more };
}

/** Creates an empty directory that is removed after the test. */
export function makePlace(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-journey-'));
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));
  return dir;
}

/** Returns the values in `idkit/.env` below `cwd`. */
export function readSecrets(cwd: string): Readonly<Record<string, string>> {
  return Object.fromEntries(parseEnvFile(readFileSync(join(cwd, 'idkit', '.env'), 'utf8')));
}

/** Posts a form to an endpoint of a realm. */
export async function post(
  address: string,
  realm: string,
  endpoint: string,
  form: Record<string, string>,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${address}/realms/${realm}/protocol/openid-connect/${endpoint}`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
}
