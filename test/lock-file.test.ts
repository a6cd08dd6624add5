import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

type Entry = Readonly<Record<string, unknown>>;

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Entry>>;
};

/** Finds the dependencies in the lock file that are named by a tag such as `latest` instead of a version. */
function findTags(entries: Readonly<Record<string, Entry>>): string[] {
  return Object.entries(entries).flatMap(([place, entry]) =>
    KINDS.flatMap((kind) => Object.entries((entry[kind] ?? {}) as Readonly<Record<string, string>>))
      .filter(([, wanted]) => /^(?!x$|v\d)[a-z][a-z0-9._-]*$/i.test(wanted))
      .map(([name, wanted]) => `${place}: ${name} ${wanted}`),
  );
}

/*
 * npm 9 (Debian 12, Ubuntu 24.04) treats a lock file as absent if an override applies to a dependency that is named by
 * a tag. keycloak-connect names its optional chromedriver in that way. Its entry in the lock file omits the dependency,
 * and a later `npm install keycloak-connect` adds it again.
 */
test('the lock file does not name a dependency by a tag, which older versions of npm cannot read', () => {
  assert.deepEqual(findTags(packages), []);
  const tagged = {
    a: { optionalDependencies: { b: 'latest', c: '^1.0.0', d: 'x', e: '*', f: 'npm:ms@^2' } },
  };
  assert.deepEqual(findTags(tagged), ['a: b latest']);
});

/** Returns whether a range in `engines.node`, such as `^18.19.0 || >=20.5.0`, accepts the newest Node.js 20. */
function acceptsNode20(range: string): boolean {
  return range.split('||').some((part) => {
    const [, operator, major] = /^\s*(>=|\^|>)?\s*v?(\d+)/.exec(part) ?? [];
    if (major === undefined) return part.trim() === '*';
    return operator === '^' || operator === undefined ? major === '20' : Number(major) <= 20;
  });
}

/*
 * npm prints an EBADENGINE warning for each package that it installs and that rejects the Node.js in use. It does not
 * check packages that come inside idkit's own package (`bundleDependencies`). So `npx idkit` on Node.js 20 prints one
 * line, from bin/idkit.js: idkit needs a newer Node.js.
 */
test('on Node.js 20, npm prints no warnings about packages, so only idkit reports which Node.js it needs', () => {
  const installed = Object.entries(packages).filter(
    ([place, entry]) =>
      place === '' || (entry['dev'] !== true && entry['devOptional'] !== true && entry['inBundle'] !== true),
  );
  assert.ok(installed.length > 50);
  const refusing = installed.flatMap(([place, entry]) => {
    const { node } = (entry['engines'] ?? {}) as { node?: string };
    return node === undefined || acceptsNode20(node) ? [] : [`${place}: ${node}`];
  });
  assert.deepEqual(refusing, []);
  assert.deepEqual(['>=22', '^22 || >=24', '>=20.5.0', '>= 18', '^18 || ^20', '*'].map(acceptsNode20), [
    false,
    false,
    true,
    true,
    true,
    true,
  ]);
});
