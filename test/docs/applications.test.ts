import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');
const examples = readdirSync(new URL('examples/', root), { recursive: true, encoding: 'utf8' });

test('every program text of README stands in an example that a test runs', () => {
  const blocks = [...readme.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
  assert.ok(blocks.length >= 3);
  const texts = examples
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(new URL(`examples/${name}`, root), 'utf8'));
  for (const block of blocks)
    assert.ok(
      texts.some((text) => text.includes(block)),
      block,
    );
});

test('README names every example', () => {
  const names = readdirSync(new URL('examples/', root));
  for (const name of names) assert.ok(readme.includes(`examples/${name}`), name);
});

test('README tells every state, reason and error code of idkit/client, and no other', () => {
  const section = readme.slice(readme.indexOf('## For applications'), readme.indexOf('## Reference'));
  const rows = [...section.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name!);
  const states = read('src/client/application/session-state.ts');
  const members = [...states.matchAll(/^ {2}\| '([a-z_]+)';?$/gm)].map(([, name]) => name!);
  const names = [...states.matchAll(/^ {2}\| .*readonly name: '([a-z_]+)'/gm)].map(([, name]) => name!);
  assert.deepEqual(rows.sort(), [...members, ...names].sort());
  const codes = [...read('src/client/application/client-error.ts').matchAll(/^ {2}\| '([a-z_]+)';?$/gm)];
  assert.ok(codes.length >= 6);
  for (const [, code] of codes) assert.ok(section.includes(`\`${code}\``), code!);
});

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}
