import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { slugOf } from '../../docs/.vitepress/slug.ts';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

const AT_THE_TOP = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

export interface Page {
  /** The path of the page, relative to the checkout. */
  file: string;
  text: string;
}

/** Lists every Markdown page that people read: the README and the files next to it, and `docs/`. */
export function listPages(): readonly Page[] {
  const below = readdirSync(join(root, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('node_modules/') && !file.includes('.vitepress/'));
  const top = readdirSync(root).filter((name) => AT_THE_TOP.includes(name));
  return [...top, ...below].sort().map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
}

/** Returns the anchors of a page's headings, as GitHub and VitePress generate them. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const text = markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, '');
  for (const [, heading] of text.matchAll(/^#{1,6} (.+?)\s*$/gm)) {
    const slug = slugOf(heading!);
    let name = slug;
    for (let count = 1; anchors.has(name); count++) name = `${slug}-${count}`;
    anchors.add(name);
  }
  for (const [, id] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id!);
  return anchors;
}

/** A part of a page between two headings. */
export interface Section {
  file: string;
  heading: string;
  /** The text of the section, without its heading and the empty lines around it. */
  text: string;
}

/** Returns the sections of a page in order. Each section ends at the next heading of any level. */
export function sectionsOf({ file, text }: Page): readonly Section[] {
  const sections: { heading: string; lines: string[] }[] = [];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (/^(?:```|~~~)/.test(line)) isCode = !isCode;
    const heading = isCode ? undefined : /^#{1,6} (.+?)\s*$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ heading, lines: [] });
    else if (isCode || !/^<!-- .* -->$/.test(line)) sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, lines }) => ({ file, heading, text: lines.join('\n').trim() }));
}
