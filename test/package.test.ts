import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startIdkit } from './journey/idkit.ts';

// Packs the checkout with `npm pack`, installs the package into an empty folder and starts it there.

const run = promisify(execFile);
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const work = mkdtempSync(join(tmpdir(), 'idkit-package-'));
const home = join(work, 'home');
/** The paths in the package, except those of the bundled packages. */
let files: readonly string[] = [];
let bundled: readonly string[] = [];
let installed = '';
let unreachable: string | undefined;

/** Runs npm without the npm settings of this project. */
async function npm(args: readonly string[], cwd: string): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const { stdout } = await run('npm', [...args], { cwd, env, maxBuffer: 1 << 26 });
  return stdout;
}

/** Entries of a checkout that packing does not read or that it creates itself. */
const LEFT_OUT = ['.git', 'node_modules', 'dist', 'test', 'image'];

/** Copies this checkout without `dist/`: other tests read that folder, and packing rebuilds it. */
function copyCheckout(): string {
  const copy = join(work, 'checkout');
  cpSync(root, copy, {
    recursive: true,
    filter: (path) => dirname(path) !== root || !LEFT_OUT.includes(basename(path)),
  });
  // npm does not follow links to bundled packages, so these are copied.
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { inBundle?: boolean }>;
  };
  const bundle = Object.entries(lock.packages).filter(([, { inBundle }]) => inBundle === true);
  const copied = new Set(bundle.map(([place]) => place.split('/')[1]));
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules'))) {
    const [from, to] = [join(root, 'node_modules', name), join(copy, 'node_modules', name)];
    if (copied.has(name)) cpSync(from, to, { recursive: true });
    else symlinkSync(from, to);
  }
  return copy;
}

before(async () => {
  const packed = JSON.parse(await npm(['pack', '--json', '--pack-destination', work], copyCheckout())) as
    | { filename: string; files: { path: string }[] }[]
    | Record<string, { filename: string; files: { path: string }[] }>;
  const [entry] = Object.values(packed);
  const packedFiles = entry!.files.map((file) => file.path);
  files = packedFiles.filter((path) => !path.startsWith('node_modules/'));
  bundled = packedFiles.filter((path) => path.startsWith('node_modules/'));
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{"name":"empty","private":true}');
  try {
    const tarball = join(work, entry!.filename);
    await npm(['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], home);
    installed = join(home, 'node_modules', 'idkit');
  } catch (error) {
    // Without a registry, npm cannot install the dependencies. In CI, which requires every component, this is a
    // failure.
    if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw error;
    unreachable = 'needs the npm registry';
  }
});

after(() => rmSync(work, { recursive: true, force: true }));

test('the package contains only the compiled program, its types, the documentation and the files for Prometheus, Grafana and a first realm', () => {
  for (const file of ['dist/main.js', 'dist/library/client.js', 'dist/console/index.html'])
    assert.ok(files.includes(file), `${file} is missing`);
  const foreign = files.filter(
    (path) =>
      !/^(bin\/|dist\/|docs\/.+\.md$|examples\/(alerts\.yaml|grafana-dashboard\.json|realm\.json)$|(README|CHANGELOG|SECURITY)\.md$|LICENSE$|package\.json$)/.test(
        path,
      ),
  );
  assert.deepEqual(foreign, []);
  assert.deepEqual(
    files.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts')),
    [],
  );
});

test('the package does not contain the package with only the library, which the same build writes', () => {
  assert.equal(existsSync(join(work, 'checkout/dist/packages/client/client.js')), true);
  assert.deepEqual(
    files.filter((path) => path.startsWith('dist/packages/')),
    [],
  );
});

test('the package bundles the direct and indirect dependencies that npm would warn about on Node.js 20', () => {
  const names = new Set(bundled.map((path) => path.split('/')[1]));
  for (const name of ['chalk', 'commander', 'execa', 'kysely']) assert.ok(names.has(name), name);
  assert.deepEqual(
    bundled.filter((path) => path.endsWith('.node')),
    [],
    'a package for one system alone is not bundled',
  );
});

test('the package contains only the types that its entry points export', () => {
  const types = files.filter((path) => path.endsWith('.d.ts'));
  assert.ok(types.includes('dist/types/client/application/index.d.ts'));
  assert.ok(types.includes('dist/types/client/resource-server/index.d.ts'));
  const inner = types.filter((path) => !/^dist\/types\/client\/[^/]+(\/[^/]+)?$/.test(path));
  assert.deepEqual(inner, []);
});

test('every package that the program imports is a dependency, or is compiled into the program with its licence', (t) => {
  if (unreachable !== undefined) return t.skip(unreachable);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const dist = join(installed, 'dist');
  const outside = new Set<string>();
  for (const file of readdirSync(dist).filter((name) => name.endsWith('.js'))) {
    const text = readFileSync(join(dist, file), 'utf8');
    for (const [, fixed, loaded] of text.matchAll(
      /(?<![\w$.])(?:import|export)[\w$*{},\s]*?from\s?"([^"]+)"|\bimport\("([^"]+)"\)/g,
    )) {
      const specifier = fixed ?? loaded;
      if (specifier !== undefined && !specifier.startsWith('.') && !specifier.startsWith('node:'))
        outside.add(specifier);
    }
  }
  for (const name of ['zod', 'pg', 'kysely', 'jose']) assert.ok(outside.has(name), `imports ${name}`);
  assert.deepEqual(
    [...outside].filter((name) => !(name in manifest.dependencies)),
    [],
  );
  const licences = readFileSync(join(dist, 'LICENSES.txt'), 'utf8');
  for (const name of ['fastify', 'find-my-way', 'pino', 'commander'])
    assert.match(licences, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)\\n`, 'm'));
  assert.ok(licences.split('Permission is hereby granted').length > 20);
  const inBrowser = readFileSync(join(dist, 'console', 'LICENSES.txt'), 'utf8');
  for (const name of ['react', 'react-dom', '@patternfly/patternfly', '@tanstack/react-query'])
    assert.match(inBrowser, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)\\n\\n[^-]`, 'm'));
});

test('the bill of materials lists exactly the packages that are compiled in or installed', (t) => {
  if (unreachable !== undefined) return t.skip(unreachable);
  const sbom = JSON.parse(readFileSync(join(installed, 'dist', 'sbom.cdx.json'), 'utf8')) as {
    bomFormat: string;
    metadata: { component: { name: string } };
    components: { name: string; version: string; scope: string; purl: string }[];
  };
  assert.deepEqual([sbom.bomFormat, sbom.metadata.component.name], ['CycloneDX', 'idkit']);
  for (const { purl } of sbom.components) assert.match(purl, /^pkg:npm\//);
  const listed = new Set(sbom.components.map(({ name }) => name));
  const joined = ['LICENSES.txt', 'console/LICENSES.txt'].flatMap((file) =>
    [...readFileSync(join(installed, 'dist', file), 'utf8').matchAll(/^(\S+) \d+\.\d+\.\d+\S* \(/gm)].map(
      ([, name]) => name!,
    ),
  );
  const own = JSON.parse(readFileSync(join(home, 'node_modules', '.package-lock.json'), 'utf8')) as {
    packages: Record<string, unknown>;
  };
  const present = Object.keys(own.packages).map((place) => place.split('node_modules/').at(-1)!);
  const shipped = new Set([...joined, ...present.filter((name) => name !== 'idkit')]);
  assert.ok(joined.includes('fastify') && joined.includes('react') && shipped.has('zod'));
  assert.deepEqual([...shipped].filter((name) => !listed.has(name)).sort(), []);
  const optional = new Set(
    sbom.components.filter(({ scope }) => scope === 'optional').map(({ name }) => name),
  );
  assert.deepEqual([...listed].filter((name) => !shipped.has(name) && !optional.has(name)).sort(), []);
});

test('npm installs a manual page for each command', (t) => {
  if (unreachable !== undefined) return t.skip(unreachable);
  const { man } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { man: string[] };
  assert.ok(man.includes('./dist/man/idkit.1') && man.includes('./dist/man/idkit-restore.1'));
  for (const page of man) assert.match(readFileSync(join(installed, page), 'utf8'), /^\.TH "IDKIT/);
});

test('an installation does not contain its own Node.js', (t) => {
  if (unreachable !== undefined) return t.skip(unreachable);
  const names = readdirSync(join(home, 'node_modules'));
  assert.deepEqual(
    names.filter((name) => name.startsWith('node-linux')),
    [],
  );
  const own = readdirSync(installed, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !/^(node_modules|docs)\b/.test(relative(installed, entry.parentPath)),
  );
  const bytes = own.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  assert.ok(bytes < 6_500_000, `${bytes} bytes`);
  assert.equal(existsSync(join(installed, '.node')), false);
});

test('the installed program starts and responds to requests', async (t) => {
  if (unreachable !== undefined) return t.skip(unreachable);
  const bin = join(home, 'node_modules', '.bin', 'idkit');
  const { stdout } = await run(process.execPath, [bin, '--version']);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  const service = await startIdkit(t, { bin, cwd: home });
  const health = await fetch(`${service.address}/health/ready`);
  assert.equal(health.status, 200);
  assert.equal(((await health.json()) as { status: string }).status, 'UP');
  const smoke = await service.run(['smoke', '--json']);
  assert.equal(smoke.code, 0, smoke.stderr);
  assert.equal(await service.stop(), 0);
});

test('the installed command calls a service over plain http without loading fetch and TLS, which would double its start', async (t) => {
  if (unreachable !== undefined) return t.skip(unreachable);
  const hook = join(home, 'loaded.cjs');
  writeFileSync(
    hook,
    "process.on('exit', () => console.log(process.moduleLoadList.filter((name) => /undici|NativeModule (http|tls)$/.test(name))));",
  );
  const argv = ['--require', hook, join(home, 'node_modules', '.bin', 'idkit')];
  const list = ['admin', 'realm', 'list', '--base-url', 'http://127.0.0.1:9'];
  const env = { ...process.env, IDKIT_ADMIN_PASSWORD: 'unused' };
  const failed = run(process.execPath, [...argv, ...list], { cwd: home, env });
  await assert.rejects(failed, { code: 15, stdout: "[ 'NativeModule http' ]\n" });
});

test('applications import the library with its types, and browser code does not need the types of Node.js', async (t) => {
  if (unreachable !== undefined) return t.skip(unreachable);
  const lines = [
    "import { openBrowserSession, type SessionState } from 'idkit/client';",
    "import { openResourceServer } from 'idkit/resource-server';",
    "const show = (state: SessionState) => console.log(state.name === 'logged_in' ? state.user['name'] : '');",
    "const session = openBrowserSession({ issuer: 'https://x', clientId: 'x', redirectUri: 'x', onChange: show });",
    "const answer: Promise<Response> = session.fetch('/orders');",
    '// @ts-expect-error the audience is missing',
    "console.log(answer, openResourceServer({ issuer: 'https://x' }));",
  ];
  writeFileSync(join(home, 'app.mts'), lines.join('\n'));
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--lib', 'es2024,dom', '--types', ''];
  await run(join(root, 'node_modules/.bin/tsc'), [...flags, 'app.mts'], { cwd: home });
  const code =
    "console.log(Object.keys({ ...(await import('idkit/client')), ...(await import('idkit/resource-server')) }).length)";
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { cwd: home });
  assert.ok(Number(stdout) >= 9, stdout);
});

test('if Node.js is too old, the program prints one clear line and exits with 14', async (t) => {
  if (unreachable !== undefined) return t.skip(unreachable);
  // The program reads the version from `process`, so a preloaded module can replace it with an old one.
  const preload = join(work, 'old.cjs');
  writeFileSync(preload, "Object.defineProperty(process.versions, 'node', { value: '18.20.0' });");
  const bin = join(installed, 'bin', 'idkit.js');
  const ended = await run(process.execPath, ['--require', preload, bin, '--version']).then(
    () => assert.fail('it ends with a fault'),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  assert.equal(ended.code, 14);
  assert.equal(ended.stdout, '');
  assert.equal(
    ended.stderr,
    'error IDKIT_VERSION: idkit needs Node.js 24 or newer, and this is 18.20.0\nhint: install a current one from https://nodejs.org/en/download, first in the search path\n',
  );
});
