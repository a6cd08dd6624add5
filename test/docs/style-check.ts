import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

export interface Text {
  /** The path of the file, relative to the checkout. */
  file: string;
  text: string;
}

export interface Offence {
  file: string;
  line: number;
  /** The phrase with the words around it. */
  text: string;
}

/** Patterns for citations of documents that a reader of this repository cannot open. */
export const CITATIONS: readonly { name: string; instead: string; pattern: RegExp }[] = [
  {
    name: 'citation of a file outside the repository',
    instead: 'a page of docs/ with its anchor, an RFC, or nothing',
    pattern:
      /\b(?:facts|contract|architecture|models|disaster-recovery|performance|oidc-conformance)(?:\.md)?,? (?:§|")|\(issue\b|\bissue(?: \d+)?: |\bissue §|\bspec(?:ification)?(?:,|:) (?:"|“|§|[a-z]+:)|\bspec "|\(spec\b|\bspec step\b|\bfacts\.md\b|\bdesign\//gi,
  },
  {
    name: 'observed',
    instead: '"Keycloak 26 answers …"',
    pattern: /\[observed|\(observed\)|\bobserved\/|\bas observed\b/gi,
  },
];

/** Files that quote the rules, or whose text is not from this project. */
const NOT_OURS = /^(?:docs\/style\.md|test\/docs\/style|test\/fixtures\/|docs\/\.vitepress\/)/;

/**
 * The header of a generated file. Generated files are skipped, because the rules apply to the programs that write them.
 */
const WRITTEN = /^\/\/ Written by `node /;

/** Lists the texts that the rules apply to. */
export function listTexts(): readonly Text[] {
  const folders = ['src', 'test', 'docs', 'bin', 'build', 'examples', '.github'];
  const below = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:tsx?|m?js|md|ya?ml|html)$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name))),
  );
  return [...below, 'README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
    .filter((file) => !NOT_OURS.test(file))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
    .filter(({ text }) => !WRITTEN.test(text));
}

/** Joins the lines of comments and paragraphs, so that a phrase that spans two lines is found. */
export function prose(text: string): string {
  return text
    .replace(/\n[ \t]*(?:\/\/|\*(?!\/)|>)?[ \t]*/g, ' ')
    .replace(/\/\*\*? ?/g, '')
    .replace(/ \*\//g, ' ');
}

export function countOffences(texts: readonly Text[], pattern: RegExp): readonly Offence[] {
  return texts.flatMap(({ file, text }) => {
    const line = prose(text);
    return [...line.matchAll(pattern)].map((match) => {
      const around = line.slice(Math.max(0, match.index - 50), match.index + 60);
      return { file, line: findLine(text, match[0]), text: around };
    });
  });
}

/**
 * Returns the first line that contains the phrase. If the phrase spans two lines, returns the first line that contains
 * its first word.
 */
function findLine(text: string, phrase: string): number {
  const at = text.indexOf(phrase);
  const found = at === -1 ? text.indexOf(phrase.split(' ')[0]!) : at;
  return text.slice(0, found).split('\n').length;
}
