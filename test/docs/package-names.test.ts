import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { LIBRARY_PACKAGE } from '../../build/library-package.ts';
import { listPages, root } from './pages.ts';

// idkit is not in a package registry yet. A text that makes npm fetch `idkit`, or another name that this project does
// not own, would run the code of anyone who registers that name.

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

/** The pages that use `npx idkit`, each of which says that it runs in a checkout. */
const IN_A_CHECKOUT = [
  'README.md',
  'docs/operate/containers.md',
  'docs/operate/first-steps.md',
  'docs/operate/install.md',
];

/** Packages of other owners that a text may install, in addition to the dependencies. */
const OTHERS = ['hono', '@hono/node-server'];

/** Everything that people read or copy: pages, examples, and the texts in the sources. */
const texts = [
  ...listPages(),
  ...listTexts('examples'),
  ...listTexts('src'),
  { file: 'Containerfile', text: readFileSync(join(root, 'Containerfile'), 'utf8') },
];

function listTexts(dir: string): readonly { file: string; text: string }[] {
  return readdirSync(join(root, dir), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(tsx?|js|json|yaml|html)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ file: relative(root, file), text: readFileSync(file, 'utf8') }));
}

/** Returns the packages that a text makes npm fetch by name. */
function fetchedNames(text: string): readonly string[] {
  const commands = [...text.matchAll(/\bnpm (?:install|i|add)((?: +[^\s`'"&|;#]+)*)/g)];
  return commands.flatMap(([, rest = '']) =>
    rest
      .trim()
      .replace(/--prefix \S+/, '')
      .split(/ +/)
      .filter((word) => /^@?[a-z]/.test(word) && !word.includes('.tgz')),
  );
}

test('no text makes npm fetch a package by a name that this project does not own', () => {
  const known = new Set([
    ...Object.keys(manifest.dependencies),
    ...Object.keys(manifest.devDependencies),
    ...OTHERS,
  ]);
  const faults = texts.flatMap(({ file, text }) =>
    fetchedNames(text)
      .filter((name) => !known.has(name) && !/^(?:and|also|in|prints|it|then)$/.test(name))
      .map((name) => `${file}: npm install ${name}`),
  );
  assert.deepEqual(faults, []);
  assert.deepEqual(fetchedNames('npm install -g idkit && npm i --prefix x ./a.tgz @a/b'), ['idkit', '@a/b']);
});

test('npx idkit is only on pages that run in a checkout, and in the program if npx started it', () => {
  const users = texts.filter(({ text }) => /\bnpx (?:--\S+ )*idkit\b/.test(text)).map(({ file }) => file);
  assert.deepEqual(users.sort(), [...IN_A_CHECKOUT, 'src/cli/commands/serve.ts'].sort());
  for (const { file, text } of texts)
    if (IN_A_CHECKOUT.includes(file)) assert.match(text, /\bcheckout\b/, file);
  const others = texts.flatMap(({ file, text }) =>
    [...text.matchAll(/\bnpx (?:--\S+ )*(?!idkit\b)([a-z@][\w@/-]*)/g)].map(([, name]) => `${file}: ${name}`),
  );
  assert.deepEqual(
    others.filter((fault) => !/: (?:sends|started|only)$/.test(fault)),
    [],
  );
});

test('pages name the package files as the build writes them', () => {
  const built = new Set([manifest.name, LIBRARY_PACKAGE].map((name) => `${name}-${manifest.version}.tgz`));
  const named = listPages().flatMap(({ text }) =>
    [...text.matchAll(/[\w@-]+-\d+\.\d+\.\d+\.tgz/g)].map(([name]) => name),
  );
  assert.deepEqual([...new Set(named)].sort(), [...built].sort());
});
