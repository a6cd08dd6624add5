import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { writeLicences } from './licences.ts';

// Builds the console into dist/console: index.html, and files whose names contain a hash of their content, so browsers
// may cache them forever.

const root = fileURLToPath(new URL('..', import.meta.url));
const source = (name: string): string => `${root}src/console/${name}`;
const target = `${root}dist/console`;

rmSync(target, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: [source('main.tsx'), source('icon.svg')],
  outdir: `${target}/assets`,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2024',
  jsx: 'automatic',
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  // Keep PatternFly's background images as files: the console's policy `img-src 'self'` allows no data URLs.
  loader: { '.svg': 'copy', '.jpg': 'file', '.woff2': 'file' },
  define: { 'process.env.NODE_ENV': '"production"' },
  conditions: ['idkit-source'],
  legalComments: 'linked',
  metafile: true,
  logLevel: 'warning',
});
const [script, output] = Object.entries(metafile.outputs).find(([, { entryPoint }]) =>
  entryPoint?.endsWith('main.tsx'),
) ?? ['', undefined];
const icon = Object.keys(metafile.outputs).find((name) => /\bicon-\w+\.svg$/.test(name));
if (icon === undefined || output?.cssBundle === undefined)
  throw new Error('the build of the console produced no script, style or icon');
mkdirSync(target, { recursive: true });
writeFileSync(
  `${target}/index.html`,
  readFileSync(source('index.html'), 'utf8')
    .replace('{script}', `assets/${basename(script)}`)
    .replace('{icon}', `assets/${basename(icon)}`)
    .replace('{style}', `assets/${basename(output.cssBundle)}`),
);
writeLicences(metafile, 'dist/console/LICENSES.txt');
