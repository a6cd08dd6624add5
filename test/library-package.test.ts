import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { LIBRARY_DEPENDENCIES, LIBRARY_PACKAGE } from '../build/library-package.ts';
import { findNode20 } from './examples/node-20.ts';

// Builds and packs the package that contains only the library, and installs it into an empty folder.

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'idkit-library-'));
const home = join(work, 'home');
let files: readonly string[] = [];

/** Runs npm without the npm settings of this project. */
async function npm(args: readonly string[], cwd: string): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const { stdout } = await run('npm', [...args], { cwd, env, maxBuffer: 1 << 26 });
  return stdout;
}

/** Packs a directory and returns the packed files and the path of the package. */
async function pack(dir: string): Promise<{ tarball: string; files: readonly string[] }> {
  const packed = JSON.parse(await npm(['pack', '--json', '--pack-destination', work, dir], work)) as
    | { filename: string; files: { path: string }[] }[]
    | Record<string, { filename: string; files: { path: string }[] }>;
  const [entry] = Object.values(packed);
  return { tarball: join(work, entry!.filename), files: entry!.files.map(({ path }) => path) };
}

before(async () => {
  await run(process.execPath, [join(root, 'build/packages.ts'), work], { cwd: root });
  const library = await pack(join(work, 'client'));
  files = library.files;
  // The dependencies come from this checkout, so that npm needs no registry.
  const others = [];
  for (const name of LIBRARY_DEPENDENCIES)
    others.push((await pack(join(root, 'node_modules', name))).tarball);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  await npm(['install', '--offline', '--no-audit', '--no-fund', library.tarball, ...others], home);
});

after(() => rmSync(work, { recursive: true, force: true }));

test('the package contains only the two entries, their types, the licence and a page about them', () => {
  const foreign = files.filter(
    (path) =>
      !/^(package\.json|README\.md|LICENSE|(client|resource-server)\.js|types\/(application|resource-server)\/[a-z-]+\.d\.ts|types\/[a-z-]+\.d\.ts)$/.test(
        path,
      ),
  );
  assert.deepEqual(foreign, []);
  assert.ok(files.length > 10);
  const manifest = JSON.parse(readFileSync(join(work, 'client/package.json'), 'utf8')) as {
    name: string;
    version: string;
    dependencies: object;
  };
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  assert.deepEqual([manifest.name, manifest.version], [LIBRARY_PACKAGE, own.version]);
  assert.deepEqual(Object.keys(manifest.dependencies), ['jose', 'oauth4webapi']);
});

test('an application on Node.js 20 imports both entries', async (t) => {
  const node = findNode20();
  if (node === undefined) return t.skip('needs Node.js 20 (IDKIT_TEST_NODE_20)');
  const code = `
    import { openServiceTokens } from '${LIBRARY_PACKAGE}';
    import { openResourceServer } from '${LIBRARY_PACKAGE}/resource-server';
    const issuer = 'http://127.0.0.1:1/realms/x';
    const codes = [
      openServiceTokens({ issuer, clientId: 'a', clientSecret: '' }).accessToken().catch(({ code }) => code),
      openServiceTokens({ issuer, clientId: 'a', clientSecret: 'b' }).accessToken().catch(({ code }) => code),
      openResourceServer({ issuer, audience: 'a' }).check('Bearer x').catch(({ reason }) => reason),
    ];
    console.log((await Promise.all(codes)).join(), process.versions.node.split('.')[0]);`;
  const { stdout } = await run(node, ['--input-type=module', '-e', code], { cwd: home });
  assert.equal(stdout, 'secret_missing,unreachable,malformed 20\n');
});

test('a bundle for browsers contains no module of Node.js', async () => {
  const bundled = await build({
    stdin: {
      contents: `export { openBrowserSession } from '${LIBRARY_PACKAGE}'; export * from '${LIBRARY_PACKAGE}/resource-server';`,
      resolveDir: home,
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    metafile: true,
    minify: true,
  });
  const inputs = Object.values(bundled.metafile.inputs).flatMap(({ imports }) => imports);
  assert.deepEqual(
    inputs.filter(({ path, external }) => external === true || path.startsWith('node:')),
    [],
  );
  assert.doesNotMatch(bundled.outputFiles[0]!.text, /node:|require\(|process\./);
});

test('the types need neither the types of Node.js nor this checkout', async () => {
  const lines = [
    `import { openBrowserSession, openNativeSession, type SessionState } from '${LIBRARY_PACKAGE}';`,
    `import { type BearerRefusal, openResourceServer, webBearer } from '${LIBRARY_PACKAGE}/resource-server';`,
    "const show = (state: SessionState) => console.log(state.name === 'logged_in' ? state.user['name'] : '');",
    "const session = openBrowserSession({ issuer: 'https://x', clientId: 'x', redirectUri: 'x', onChange: show });",
    "const api = openResourceServer({ issuer: 'https://x', audience: 'x' });",
    "const log = (refusal: BearerRefusal, { url }: Request) => console.log(url, refusal.reason === 'expired');",
    'export const GET = webBearer(api, {}, () => Response.json({}), { onRefusal: log });',
    '// @ts-expect-error the function that opens a page is missing',
    "console.log(session, openNativeSession({ issuer: 'https://x', clientId: 'x', redirectUri: 'x' }));",
  ];
  writeFileSync(join(home, 'app.mts'), lines.join('\n'));
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--lib', 'es2024,dom', '--types', ''];
  await run(join(root, 'node_modules/.bin/tsc'), [...flags, 'app.mts'], { cwd: home });
});
