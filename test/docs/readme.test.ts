import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { settingDocs } from '../../src/config/index.ts';
import { ERROR_CATALOGUE } from '../../src/core/index.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  exports?: Record<string, unknown>;
};

test('every error that README names is in the catalogue, and every one of the catalogue in README', () => {
  const variables = new Set<string>(settingDocs().flatMap((row) => (row.env === undefined ? [] : [row.env])));
  const [, table] = /<!-- part: errors -->\n([\s\S]*?)<!-- end -->/.exec(readme)!;
  const written = [...table!.matchAll(/^\| `(IDKIT_[A-Z_]+)` /gm)].map((match) => match[1]!);
  assert.deepEqual(written, Object.keys(ERROR_CATALOGUE));
  const elsewhere = readme.replace(table!, '').matchAll(/\bIDKIT_[A-Z_]+\b/g);
  const others = ['IDKIT_DIR', 'IDKIT_USER_PASSWORD', 'IDKIT_DATABASE_PASSWORD_FILE'];
  for (const [name] of elsewhere) {
    const known =
      name in ERROR_CATALOGUE ||
      variables.has(name) ||
      others.includes(name) ||
      name.startsWith('IDKIT_BACKUP_PASSPHRASE');
    assert.ok(known || name === 'IDKIT_', `README names ${name}, and it exists`);
  }
});

test('every dependency has one line in README, and no line is left over (architecture §3.9)', () => {
  const section = readme.slice(readme.indexOf('## Dependencies'), readme.indexOf('## Changes'));
  const [shipped = '', joined = '', development = ''] = section.split(/^(?:Joined into|For development)/m);
  const rows = /^\| (`[^|]+`) \| [^|]{4,} \| [^|]{4,} \|$/gm;
  const named = (text: string) =>
    [...text.matchAll(rows)].flatMap(([, names]) => names!.replaceAll('`', '').split(', '));
  assert.deepEqual(named(shipped), Object.keys(manifest.dependencies).sort());
  const joinedIn = [...joined.matchAll(/`([^`]+)` \(/g)].map(([, name]) => name!);
  const written = [...joinedIn, ...named(development)].sort();
  const others = Object.keys(manifest.devDependencies).filter((name) => !name.startsWith('@types/'));
  assert.deepEqual(written, others.sort());
});

test('every decision has a context, a choice, what was rejected, and its cost: five lines (architecture §3.8)', () => {
  const section = readme.slice(readme.indexOf('## Decisions'), readme.indexOf('## Compatibility'));
  const decisions = section
    .split('\n\n')
    .slice(1)
    .filter((text) => text.trim() !== '');
  assert.ok(decisions.length >= 5);
  for (const decision of decisions) {
    assert.match(
      decision.trim(),
      /^\*\*[^\n]+\*\*\nContext: [^\n]+\nChoice: [^\n]+\nRejected: [^\n]+\nCost: [^\n]+$/,
    );
  }
});

test('every file that README links to exists', () => {
  for (const [, path] of readme.matchAll(/\]\(([^)#:]+)\)/g)) {
    assert.doesNotThrow(() => readFileSync(new URL(`../../${path}`, import.meta.url)), path);
  }
});
