import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listPages } from './pages.ts';

const readme = listPages().find(({ file }) => file === 'README.md')!.text;

test('README has at most 200 lines', () => {
  assert.ok(readme.split('\n').length <= 200);
});

test('README links to each part of the documentation', () => {
  for (const part of [
    'operate/',
    'applications/',
    'reference/',
    'keycloak/',
    'decisions/',
    'performance.md',
    'architecture.md',
    'not-built.md',
  ])
    assert.ok(readme.includes(`](docs/${part}`), part);
});
