import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { LIBRARY_DEPENDENCIES, LIBRARY_ENTRIES, LIBRARY_PACKAGE } from './library-package.ts';

// Writes the package with only the library, from the sources in src/client. `npm pack` in its directory makes the file
// that applications install. Usage: node build/packages.ts [DIR]; the package is then DIR/client.

const root = fileURLToPath(new URL('..', import.meta.url));
const target = resolve(process.argv[2] ?? join(root, 'dist/packages'), 'client');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  license: string;
  dependencies: Record<string, string>;
};

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: Object.fromEntries(LIBRARY_ENTRIES.map(({ file, source }) => [file, source])),
  outdir: target,
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  packages: 'external',
  logLevel: 'warning',
});

const compiler = join(root, 'node_modules/typescript/bin/tsc');
const types = join(target, 'types');
execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', types], {
  cwd: root,
  stdio: 'inherit',
});
// The compiler keeps the folders of src; the package has those of src/client.
for (const name of readdirSync(join(types, 'client')))
  cpSync(join(types, 'client', name), join(types, name), { recursive: true });
rmSync(join(types, 'client'), { recursive: true });

const description = {
  name: LIBRARY_PACKAGE,
  version: manifest.version,
  description:
    'Sessions, machine-to-machine tokens and bearer verification for OpenID Connect: idkit, Keycloak and others',
  license: manifest.license,
  type: 'module',
  sideEffects: false,
  exports: {
    ...Object.fromEntries(
      LIBRARY_ENTRIES.map((entry) => [
        entry.path,
        { types: `./types/${entry.types}`, default: `./${entry.file}.js` },
      ]),
    ),
    './package.json': './package.json',
  },
  engines: { node: '>=20' },
  dependencies: Object.fromEntries(LIBRARY_DEPENDENCIES.map((name) => [name, manifest.dependencies[name]])),
};
writeFileSync(join(target, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);
writeFileSync(
  join(target, 'README.md'),
  `# ${LIBRARY_PACKAGE}

The library of idkit for applications, in browsers and on Node.js 20 or newer. It works with idkit, Keycloak 26 and other
OpenID providers.

- \`${LIBRARY_PACKAGE}\`: sessions in browsers, in programs and on servers, and machine-to-machine tokens
- \`${LIBRARY_PACKAGE}/resource-server\`: verification of bearer tokens, with adapters for Express, Fastify, Hono, web
  handlers and node:http

The toolkit \`idkit\` contains the same library as \`idkit/client\` and \`idkit/resource-server\`.
`,
);
cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
