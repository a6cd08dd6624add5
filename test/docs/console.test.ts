import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runIdkit, startIdkit } from '../journey/idkit.ts';
import { findExamples, mask, NOT_RUN, runExamples } from './console.ts';
import { listPages } from './pages.ts';

const pages = listPages()
  .map(({ file, text }) => ({ file, examples: findExamples(text) }))
  .filter(({ examples }) => examples.length > 0);

/**
 * Returns the name of the first missing program, or undefined if none is missing. Throws instead if
 * IDKIT_TEST_REQUIRE_ALL is set.
 */
function findMissing(programs: readonly string[]): string | undefined {
  const missing = programs.find((program) => spawnSync(program, ['--version']).error !== undefined);
  if (missing !== undefined && process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') {
    assert.fail(`${missing} is missing, and every component is required`);
  }
  return missing;
}

const STEPS = {
  'README.md': ['serve', 'client_credentials', 'backup', 'verify', 'smoke', 'restore --from'],
  'docs/operate/first-steps.md': [
    'serve',
    'client_credentials',
    'grant_type=password',
    'refresh_token',
    'backup',
    'verify',
    'smoke',
    'admin realm list',
    'restore --from',
  ],
};

for (const [file, steps] of Object.entries(STEPS)) {
  test(`${file} has a console block for each step from serve to restore`, () => {
    const page = pages.find((one) => one.file === file);
    const text = (page?.examples ?? []).map(({ command }) => command).join('\n');
    for (const step of steps) assert.ok(text.includes(step), `a block shows ${step}`);
  });
}

test('every command that the test does not run is on a page and has a reason', () => {
  for (const [command, reason] of Object.entries(NOT_RUN)) {
    assert.ok(
      pages.some(({ examples }) => examples.some((example) => example.command === command)),
      command,
    );
    assert.ok(reason.length > 20);
  }
});

for (const { file, examples } of pages) {
  test(`every command in the console blocks of ${file} prints what the page shows`, async (t) => {
    const missing = findMissing(['bash', 'curl', 'sed']);
    if (missing !== undefined) return t.skip(`needs ${missing}`);
    const dir = mkdtempSync(join(tmpdir(), 'idkit-docs-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    for (const { command, output, actual } of await runExamples(t, dir, examples)) {
      assert.equal(mask(actual), mask(output), `$ ${command}`);
    }
  });
}

test('every example runs against a service that imported the example realm', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-examples-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const place = new URL('../../examples/', import.meta.url).pathname;
  await runIdkit(['init'], { cwd: dir });
  mkdirSync(join(dir, 'idkit', 'import'), { recursive: true });
  copyFileSync(join(place, 'realm.json'), join(dir, 'idkit', 'import', 'realm.json'));
  const service = await startIdkit(t, { cwd: dir });

  const run = (file: string, env: NodeJS.ProcessEnv) => {
    const ended = spawnSync(process.execPath, [join(place, file)], {
      env: { ...process.env, BASE_URL: service.address, REALM: 'example', ...env },
      encoding: 'utf8',
    });
    assert.equal(ended.status, 0, ended.stderr);
    return ended.stdout;
  };
  assert.match(
    run('service-token.js', { CLIENT_ID: 'orders', CLIENT_SECRET: 'change-me-orders-secret' }),
    /^Bearer token for 300 s, scope "(email profile|profile email)"\n$/,
  );
  assert.equal(
    run('session.js', { CLIENT_ID: 'shop', USERNAME: 'alice', PASSWORD: 'change-me-alice' }),
    'logged in for 300 s\nrefreshed: new refresh token\nlogged out: 204\nafterwards: 400 invalid_grant\n',
  );
});
