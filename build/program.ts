import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { writeLicences } from './licences.ts';

// Builds the program into dist: main.js, one file for each kind of worker thread, and the parts that commands load.
// Packages that package.json names as dependencies stay packages; the others are joined in, with their licences.

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

const THREADS = [
  'src/store/sqlite/writer/writer-thread.ts',
  'src/store/sqlite/reader/reader-thread.ts',
  'src/store/sqlite/writer/checkpoint-thread.ts',
  'src/store/sqlite/check/check-thread.ts',
  'src/store/sqlite/dump/dump-thread.ts',
  'src/store/sqlite/load/load-thread.ts',
  'src/crypto/password-thread.ts',
  'src/crypto/pattern-thread.ts',
  'src/backupset/gzip/gzip-thread.ts',
  'src/backupset/dump/inspect-thread.ts',
];

/** What the joined packages load at once and use seldom or never here; it is loaded when it is used. */
const LAZY = [
  'node:child_process',
  'node:http2',
  'node:https',
  '@fastify/proxy-addr',
  'semver',
  'thread-stream',
];
/** What they load for features that are not used here: JSON schemas, and requests without a socket. */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'];

/** What they check at every start, of themselves: that the expressions in URLs are safe. The only URL here is `/*`. */
const UNCHECKED = 'safe-regex2';

const lazy: Plugin = {
  name: 'lazy',
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(${LAZY.join('|')})$`);
    onResolve({ filter }, ({ path, kind, importer, namespace }) =>
      kind !== 'dynamic-import' && namespace === 'file' && importer.includes('node_modules')
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
    onResolve({ filter: new RegExp(`^${UNCHECKED}$`) }, ({ path }) => ({ path, namespace: 'unchecked' }));
    onLoad({ filter: /.*/, namespace: 'unchecked' }, () => ({ contents: 'module.exports = () => true;' }));
  },
};

/**
 * Node.js's own modules as they are. An import of one reads everything it exports, and that loads what few need:
 * streams of files with `node:fs`, for example.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?[a-z_0-9/]+$/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined;
      if (kind === 'require-call') return { path, namespace: 'required' };
      return kind === 'import-statement' ? { path, namespace: 'imported', sideEffects: false } : undefined;
    });
    const get = (path: string) => `process.getBuiltinModule(${JSON.stringify(path)})`;
    onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = ${get(path)};`,
    }));
    onLoad({ filter: /.*/, namespace: 'imported' }, async ({ path }) => {
      const names = Object.keys((await import(path)) as object).filter(
        (name) => /^[a-zA-Z]\w*$/.test(name) && name !== 'default',
      );
      const lines = names.map((name) => `export const ${name} = /* @__PURE__ */ (() => own.${name})();`);
      return { contents: [`const own = ${get(path)};`, 'export default own;', ...lines].join('\n') };
    });
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
  plugins: [lazy, builtins],
  entryNames: '[name]',
  // Names stay, so that a stack says where; line breaks and indents are a fifth of what a start would read.
  minifyWhitespace: true,
  logLevel: 'warning',
};

// Threads each in one file: they load no more than they need.
await build({ ...common, entryPoints: THREADS });
const { metafile } = await build({
  ...common,
  entryPoints: ['src/cli/main.ts'],
  splitting: true,
  metafile: true,
  chunkNames: 'part-[hash]',
});
writeLicences(metafile, 'dist/LICENSES.txt');
