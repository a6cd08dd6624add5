import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { startExampleRealm } from '../client/example-realm.ts';
import { waitUntil } from '../wait-until.ts';
import { findNode20 } from './node-20.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Copies the examples next to a `node_modules` that contains the library as this checkout builds it. */
async function copyExamples(t: TestContext): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-examples-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  cpSync(join(root, 'examples'), join(dir, 'examples'), { recursive: true });
  const library = join(dir, 'node_modules/idkit');
  mkdirSync(library, { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    symlinkSync(join(root, 'node_modules', name), join(dir, 'node_modules', name));
  await build({
    absWorkingDir: root,
    entryPoints: {
      client: 'src/client/application/index.ts',
      'resource-server': 'src/client/resource-server/index.ts',
    },
    outdir: library,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    packages: 'external',
    logLevel: 'warning',
  });
  const exports = { './client': './client.js', './resource-server': './resource-server.js' };
  writeFileSync(join(library, 'package.json'), JSON.stringify({ name: 'idkit', type: 'module', exports }));
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  return dir;
}

test('every example starts on Node.js 20', async (t) => {
  const node = findNode20();
  if (node === undefined) return t.skip('needs Node.js 20 (IDKIT_TEST_NODE_20)');
  const dir = await copyExamples(t);
  const realm = await startExampleRealm(t);
  const BASE_URL = realm.address;

  /** Runs an example until it prints the pattern, and returns the match. */
  const runUntil = async (file: string, pattern: RegExp, env: Record<string, string> = {}) => {
    const child = spawn(node, [`examples/${file}`], {
      cwd: dir,
      env: { PATH: process.env['PATH'], BASE_URL, PORT: '0', REALM: 'example', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
    t.after(async () => {
      child.kill();
      await closed;
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += chunk;
      });
    }
    const ran = (): RegExpExecArray | undefined => {
      const found = pattern.exec(text) ?? undefined;
      if (found === undefined && child.exitCode !== null) assert.fail(`${file} ended: ${text}`);
      return found;
    };
    return waitUntil(`${file} prints ${pattern}`, ran, { seconds: 60, seen: () => text });
  };

  const [, API = ''] = await runUntil('protected-api.js', /protected API on (\S+)/);
  const ran = ['protected-api.js'];
  const secret = { CLIENT_ID: 'orders', CLIENT_SECRET: 'change-me-orders-secret' };
  const cases: readonly (readonly [file: string, pattern: RegExp, env?: Record<string, string>])[] = [
    ['service-job.js', /2 orders/, { API, ...secret }],
    ['service-token.js', /Bearer token for 300 s/, secret],
    [
      'session.js',
      /afterwards: 400 invalid_grant/,
      { CLIENT_ID: 'shop', USERNAME: 'alice', PASSWORD: 'change-me-alice' },
    ],
    ['command-line-login.js', /Open this page in your browser: http/, { API }],
    ['api-express.js', /protected API on http/],
    ['api-node-http.js', /protected API on http/],
    ['server-login.js', /the portal is on http/, { API }],
    ['single-page/serve.js', /the shop is on http/, { API }],
  ];
  for (const [file, pattern, env] of cases) {
    await runUntil(file, pattern, env);
    ran.push(file);
  }
  // The tests of protected-apis.test.ts run the other two with the frameworks that they need.
  const others = ['api-hono.js', 'next', 'single-page'];
  const files = readdirSync(join(root, 'examples')).filter((name) => !/\.(json|yaml)$/.test(name));
  assert.deepEqual(
    files.filter((name) => !ran.includes(name) && !others.includes(name)),
    [],
  );
});
