import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Manifest {
  name: string;
  version: string;
  license: string;
  author?: string | { name: string };
}

/**
 * Writes the licences of the packages whose code or styles are part of a build. Most licences require this.
 *
 * @param target the file to write, relative to the checkout
 */
export function writeLicences({ inputs }: Metafile, target: string): void {
  const directories = new Set<string>();
  for (const input of Object.keys(inputs)) {
    const directory = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (directory !== undefined) directories.add(directory);
  }
  const notices = [...directories].sort().map(noticeOf);
  writeFileSync(join(root, target), notices.join(`\n${'-'.repeat(80)}\n\n`));
}

function noticeOf(directory: string): string {
  const manifest = JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8')) as Manifest;
  const file = readdirSync(join(root, directory)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? usualText(manifest) : readFileSync(join(root, directory, file), 'utf8');
  return `${manifest.name} ${manifest.version} (${manifest.license})\n\n${text.trim()}\n`;
}

/**
 * Returns the standard text of a licence, for a package that does not include its licence text.
 *
 * @throws Error if this file does not contain the text
 */
function usualText({ name, license, author = `The authors of ${name}` }: Manifest): string {
  const holder = typeof author === 'string' ? author : author.name;
  if (license === 'MIT') return `Copyright (c) ${holder}\n\n${MIT}`;
  if (license === 'Unlicense')
    return 'Released into the public domain by its authors (https://unlicense.org).';
  throw new Error(`package ${name} does not include the text of its licence ${license}`);
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
