import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { slugOf } from '../../docs/.vitepress/slug.ts';
import { anchorsOf, listPages, root } from './pages.ts';
import { listTexts } from './style-check.ts';

const pages = listPages();
const anchors = new Map(pages.map(({ file, text }) => [file, anchorsOf(text)]));

/** Returns why a link is broken, or undefined if it works. */
function explain(target: string, anchor: string | undefined): string | undefined {
  if (!existsSync(join(root, target))) return `${target} does not exist`;
  if (anchor === undefined || !target.endsWith('.md')) return undefined;
  return anchors.get(target)?.has(anchor) ? undefined : `${target} has no heading #${anchor}`;
}

test('every link between pages leads to a page and a heading', () => {
  const faults = pages.flatMap(({ file, text }) =>
    [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => {
      if (/^[a-z]+:/.test(link!)) return [];
      const [path, anchor] = link!.split('#');
      const target = path === '' ? file : normalize(join(dirname(file), path!));
      const fault = explain(target, anchor);
      return fault === undefined ? [] : [`${file}: ${fault}`];
    }),
  );
  assert.deepEqual(faults, []);
});

test('source files, tests and messages cite only pages and headings of docs/ that exist', () => {
  const faults = listTexts().flatMap(({ file, text }) => {
    if (file.endsWith('.md') || file.startsWith('test/docs/')) return [];
    return [...text.matchAll(/\bdocs\/([\w./-]+\.md)(?:#([\w-]+))?/g)].flatMap(([, path, anchor]) => {
      const fault = explain(`docs/${path}`, anchor);
      return fault === undefined ? [] : [`${file}: ${fault}`];
    });
  });
  assert.deepEqual(faults, []);
});

test('pages name only files that exist in the repository', () => {
  const faults = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/(?<=[`\s])((?:src|test|bin|build|examples|docs)\/[\w./-]*[\w/])(?=[`\s])/g)].flatMap(
      ([, path]) => (/[A-Z]{4}/.test(path!) || existsSync(join(root, path!)) ? [] : [`${file}: ${path}`]),
    ),
  );
  assert.deepEqual(faults, []);
});

test('anchors of headings follow GitHub’s rule', () => {
  assert.equal(slugOf('The `exp` of a token, and "why" (RFC 6749)'), 'the-exp-of-a-token-and-why-rfc-6749');
  assert.deepEqual(
    [...anchorsOf('# A\n## Same\n## Same\n```sh\n# no heading\n```\n')],
    ['a', 'same', 'same-1'],
  );
});
