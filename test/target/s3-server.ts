import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from '../free-port.ts';
import { waitUntil } from '../wait-until.ts';
import { scratch } from './scratch.ts';

/** The program of the S3 server, which `.ci/run` installs: https://github.com/versity/versitygw */
const PROGRAM = process.env['IDKIT_TEST_S3_SERVER'] ?? join(tmpdir(), 'idkit-versitygw', 'versitygw');

/** A real S3 server that keeps the objects of a bucket as files of a directory. */
export interface S3Server {
  port: number;
  /** The directory that holds the objects of the bucket. */
  objects: string;
  bucket: string;
  /** The environment of a client. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** Returns why S3 cannot be tested here, or undefined if it can. Throws instead if IDKIT_TEST_REQUIRE_ALL is set. */
export function findS3Gap(): string | undefined {
  const why = existsSync(PROGRAM) ? undefined : `needs versitygw (${PROGRAM}, see .ci/run)`;
  if (why !== undefined) assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', why);
  return why;
}

/**
 * Starts an S3 server with one bucket, which is stopped after the test.
 *
 * @param options.versions whether the bucket keeps old versions
 * @param options.directory the place for the objects; default: a new directory
 */
export async function startS3(
  t: Pick<TestContext, 'after'>,
  options: { versions?: boolean; directory?: string; tls?: { cert: string; key: string } } = {},
): Promise<S3Server> {
  const dir = options.directory ?? scratch(t as TestContext);
  const root = join(dir, 'objects');
  const versions = join(dir, 'versions');
  const bucket = 'copies';
  for (const one of [root, versions]) mkdirSync(one, { recursive: true });
  mkdirSync(join(root, bucket), { recursive: true });
  const port = await freePort();
  const keys = { AWS_ACCESS_KEY_ID: 'test-key', AWS_SECRET_ACCESS_KEY: 'test-secret-0123456789' };
  const tls = options.tls === undefined ? [] : ['--cert', options.tls.cert, '--key', options.tls.key];
  const child = spawn(
    PROGRAM,
    [
      ...['--port', `127.0.0.1:${port}`, '--quiet', '--keep-alive', ...tls, 'posix'],
      ...(options.versions === true ? ['--versioning-dir', versions] : []),
      root,
    ],
    {
      env: {
        PATH: process.env['PATH'],
        ROOT_ACCESS_KEY: keys.AWS_ACCESS_KEY_ID,
        ROOT_SECRET_KEY: keys.AWS_SECRET_ACCESS_KEY,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const closed = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  t.after(stop);
  await waitUntil('the S3 server accepts connections', () => canConnect(port), { seen: () => errors });
  const scheme = options.tls === undefined ? 'http' : 'https';
  return {
    port,
    bucket,
    objects: join(root, bucket),
    env: {
      ...keys,
      AWS_ENDPOINT_URL: `${scheme}://127.0.0.1:${port}`,
      AWS_REGION: 'us-east-1',
      PATH: process.env['PATH'] ?? '',
    },
    stop,
  };
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

/** Lists what a directory holds, so that a test sees the rest of an upload. */
export function findFiles(dir: string): readonly string[] {
  return execFileSync('find', [dir, '-type', 'f'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
}
