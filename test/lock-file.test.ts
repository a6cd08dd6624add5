import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

type Entry = Readonly<Record<string, unknown>>;

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Entry>>;
};

/** The dependencies that a package of the lock file names by a tag of the registry instead of a version. */
function findTags(entries: Readonly<Record<string, Entry>>): string[] {
  return Object.entries(entries).flatMap(([place, entry]) =>
    KINDS.flatMap((kind) => Object.entries((entry[kind] ?? {}) as Readonly<Record<string, string>>))
      .filter(([, wanted]) => /^(?!x$|v\d)[a-z][a-z0-9._-]*$/i.test(wanted))
      .map(([name, wanted]) => `${place}: ${name} ${wanted}`),
  );
}

/*
 * npm 9 (Debian 12, Ubuntu 24.04) takes a lock file for absent where an override meets a dependency that is named by
 * a tag. keycloak-connect names its optional chromedriver so; its entry in the lock file goes without it, and a later
 * `npm install keycloak-connect` brings it back.
 */
test('the lock file names no dependency by a tag, so that the npm of an older system Node.js reads it (issue 3, §1)', () => {
  assert.deepEqual(findTags(packages), []);
  const tagged = {
    a: { optionalDependencies: { b: 'latest', c: '^1.0.0', d: 'x', e: '*', f: 'npm:ms@^2' } },
  };
  assert.deepEqual(findTags(tagged), ['a: b latest']);
});
