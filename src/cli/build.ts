import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

// Builds the program into dist: main.js, one file for each kind of worker thread, and the parts that commands load.
// Packages that package.json names as dependencies stay packages; the others are joined in, with their licences.

const root = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

const THREADS = [
  'src/store/sqlite/writer/writer-thread.ts',
  'src/store/sqlite/reader-thread.ts',
  'src/store/sqlite/checkpoint-thread.ts',
  'src/store/sqlite/check-thread.ts',
  'src/store/sqlite/dump/dump-thread.ts',
  'src/store/sqlite/load/load-thread.ts',
  'src/crypto/password-thread.ts',
  'src/backupset/gzip-thread.ts',
];

/** What the joined packages load at once and use seldom or never here; it is loaded when it is used. */
const LAZY = ['node:https', 'node:http2', 'semver', 'safe-regex2', 'thread-stream'];
/** What they load for features that are not used here: JSON schemas, and requests without a socket. */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'];

const lazy: Plugin = {
  name: 'lazy',
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(${LAZY.join('|')})$`);
    onResolve({ filter }, ({ path, kind, importer, namespace }) =>
      kind === 'require-call' && namespace === 'file' && importer.includes('node_modules')
        ? { path, namespace: 'lazy', pluginData: dirname(importer) }
        : undefined,
    );
    onLoad({ filter, namespace: 'lazy' }, ({ path, pluginData }) => ({
      resolveDir: pluginData as string,
      contents: `
        let loaded;
        const load = () => (loaded ??= require(${JSON.stringify(path)}));
        module.exports = new Proxy(function () {}, {
          get: (_, name) => load()[name],
          apply: (_, self, args) => Reflect.apply(load(), self, args),
          construct: (_, args) => Reflect.construct(load(), args),
        });`,
    }));
  },
};

const common: BuildOptions = {
  absWorkingDir: root,
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  external: [...Object.keys(manifest.dependencies), ...UNUSED],
  plugins: [lazy],
  entryNames: '[name]',
  logLevel: 'warning',
};

/** The licences of the packages whose code is in the outputs, as most of them ask for. */
function writeLicences({ inputs }: Metafile): void {
  const directories = new Set<string>();
  for (const input of Object.keys(inputs)) {
    const directory = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (directory !== undefined) directories.add(directory);
  }
  const notices = [...directories].sort().map((directory) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(root, directory, 'package.json'), 'utf8'),
    ) as Record<string, string>;
    const file = readdirSync(join(root, directory)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : `\n${readFileSync(join(root, directory, file), 'utf8').trim()}\n`;
    return `${name} ${version} (${license})\n${text}`;
  });
  writeFileSync(join(root, 'dist/LICENSES.txt'), notices.join(`\n${'-'.repeat(80)}\n\n`));
}

// Threads each in one file: they load no more than they need.
await build({ ...common, entryPoints: THREADS });
const { metafile } = await build({
  ...common,
  entryPoints: ['src/cli/main.ts'],
  splitting: true,
  metafile: true,
  chunkNames: 'part-[hash]',
  // What is joined in and is no ES module asks for Node.js's own modules by this.
  banner: {
    js: "import { createRequire as openRequire } from 'node:module'; const require = openRequire(import.meta.url);",
  },
});
writeLicences(metafile);
