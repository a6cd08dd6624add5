import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { writeLicences } from './licences.ts';

// Builds the program into dist: main.js, one file for each kind of worker thread, and the chunks that commands load
// when they need them. The dependencies in `BUNDLED` are bundled; dist/LICENSES.txt contains their licences.

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

const THREADS = [
  'src/store/sqlite/writer/writer-thread.ts',
  'src/store/sqlite/reader/reader-thread.ts',
  'src/store/sqlite/reader/reader-process.ts',
  'src/store/sqlite/writer/checkpoint-thread.ts',
  'src/store/sqlite/check/check-thread.ts',
  'src/store/sqlite/dump/dump-thread.ts',
  'src/store/sqlite/load/load-thread.ts',
  'src/service/archive/ship-thread.ts',
  'src/crypto/password-thread.ts',
  'src/crypto/pattern-thread.ts',
  'src/backupset/gzip/gzip-thread.ts',
  'src/backupset/dump/inspect-thread.ts',
];

/**
 * Dependencies whose code is bundled into the program, because a start that reads hundreds of small files is slow.
 * Their own dependencies are bundled too. All other dependencies are imported from `node_modules`.
 */
const BUNDLED = ['commander', 'fastify', 'light-my-request', 'pino'];

/**
 * Modules that bundled libraries load immediately but rarely or never use here. The program loads them at their first
 * use instead, which makes a start 5 % faster.
 */
const DEFERRED = ['node:http2', 'node:https', '@fastify/proxy-addr', 'semver'];

const deferred: Plugin = {
  name: 'deferred',
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(${DEFERRED.join('|')})$`);
    onResolve({ filter }, ({ path, kind, importer, namespace }) =>
      kind === 'require-call' && namespace === 'file'
        ? { path, namespace: 'deferred', pluginData: dirname(importer) }
        : undefined,
    );
    onLoad({ filter, namespace: 'deferred' }, ({ path, pluginData }) => ({
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

/**
 * Replaces imports of Node.js modules with calls of `process.getBuiltinModule`. An import would read all exports of a
 * module and so load code that is rarely used, for example the file streams of `node:fs`.
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
  external: Object.keys(manifest.dependencies).filter((name) => !BUNDLED.includes(name)),
  plugins: [deferred, builtins],
  entryNames: '[name]',
  // Minifies white space, which is a fifth of the code that a start reads, but keeps names, so that stack traces are
  // readable.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
};

const undeclared = BUNDLED.filter((name) => !(name in manifest.dependencies));
if (undeclared.length > 0) throw new Error(`package.json must list ${undeclared.join(', ')} as dependencies`);

// Each kind of worker thread has its own entry, and shares chunks with the program.
const { metafile } = await build({
  ...common,
  entryPoints: ['src/cli/main.ts', ...THREADS],
  splitting: true,
  metafile: true,
  chunkNames: 'part-[hash]',
});
writeLicences(metafile, 'dist/LICENSES.txt');
