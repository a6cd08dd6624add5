import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { EVENT_TYPES } from '../src/admin/realm/events.ts';
import { SIGNATURE_ALGORITHMS } from '../src/crypto/jws.ts';
import { PAGE_LOCALES } from '../src/model/page-locales.ts';
import { MOST_GRACE_SECONDS } from '../src/model/session-lifetimes.ts';
import { writeLicences } from './licences.ts';

// Builds the console into dist/console: index.html, and files whose names contain a hash of their content, so browsers
// may cache them forever. Each screen is a file of its own, which the browser loads when the screen is opened.

const root = fileURLToPath(new URL('..', import.meta.url));
const source = (name: string): string => `${root}src/console/${name}`;
const target = `${root}dist/console`;

/** The values in src/console/api/service-choices.ts, from the tables that the service uses. */
const SERVICE_CHOICES = {
  locales: PAGE_LOCALES,
  eventTypes: EVENT_TYPES.filter((type) => !type.endsWith('_ERROR')),
  signatureAlgorithms: SIGNATURE_ALGORITHMS,
  mostGraceSeconds: MOST_GRACE_SECONDS,
};

const common: BuildOptions & { metafile: true } = {
  absWorkingDir: root,
  outdir: `${target}/assets`,
  bundle: true,
  minify: true,
  target: 'es2024',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  metafile: true,
  logLevel: 'warning',
};

rmSync(target, { recursive: true, force: true });
const scripts = await build({
  ...common,
  entryPoints: [source('main.tsx'), source('icon.svg')],
  format: 'esm',
  splitting: true,
  jsx: 'automatic',
  // The stylesheets are bundled below: esbuild would not load those of a screen together with its script.
  loader: { '.svg': 'copy', '.css': 'empty' },
  define: { 'process.env.NODE_ENV': '"production"', SERVICE_CHOICES: JSON.stringify(SERVICE_CHOICES) },
  conditions: ['idkit-source'],
  legalComments: 'linked',
});
const styles = await build({
  ...common,
  stdin: {
    contents: importStyles(scripts.metafile),
    loader: 'css',
    resolveDir: root,
    sourcefile: 'console.css',
  },
  entryNames: 'console-[hash]',
  // Keep PatternFly's background images as files: the console's policy `img-src 'self'` allows no data URLs.
  loader: { '.svg': 'file', '.jpg': 'file', '.woff2': 'file' },
});

/**
 * Imports every stylesheet that a script of the console imports: PatternFly's variables first, then its components in
 * the order of their names, as in PatternFly's own bundle, and the console's rules last, so that they override these.
 */
function importStyles({ inputs }: Metafile): string {
  const rank = (name: string): number =>
    name.startsWith('src/') ? 2 : name.includes('/patternfly/base/') ? 0 : 1;
  const names = Object.keys(inputs).filter((name) => name.endsWith('.css'));
  // Within the base, the variables precede the rules that use them.
  const base = (name: string): string => (name.includes('variables') ? '0' : name);
  return names
    .toSorted((one, other) => rank(one) - rank(other) || (base(one) < base(other) ? -1 : 1))
    .map((name) => `@import ${JSON.stringify(`./${name}`)};\n`)
    .join('');
}

/** Returns the name of the only output that fits. @throws Error if there is none */
function output({ outputs }: Metafile, pattern: RegExp): string {
  const found = Object.keys(outputs).find((name) => pattern.test(name));
  if (found === undefined) throw new Error(`the build of the console produced no file ${pattern}`);
  return `assets/${basename(found)}`;
}

mkdirSync(target, { recursive: true });
writeFileSync(
  `${target}/index.html`,
  readFileSync(source('index.html'), 'utf8')
    .replace('{script}', output(scripts.metafile, /\/main-\w+\.js$/))
    .replace('{icon}', output(scripts.metafile, /\/icon-\w+\.svg$/))
    .replace('{style}', output(styles.metafile, /\/console-\w+\.css$/)),
);
const inputs = { ...scripts.metafile.inputs, ...styles.metafile.inputs };
writeLicences({ inputs, outputs: {} }, 'dist/console/LICENSES.txt');
