import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { listPages } from './pages.ts';

const root = new URL('../../', import.meta.url);
const pages = listPages();
const section = pages
  .filter(({ file }) => file.startsWith('docs/applications/'))
  .map(({ text }) => text)
  .join('\n');
const examples = readdirSync(new URL('examples/', root), { recursive: true, encoding: 'utf8' });

test('every JavaScript block on a page is the whole of an example that a test runs', () => {
  const blocks = pages.flatMap(({ text }) =>
    [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, block]) => block!),
  );
  assert.ok(blocks.length >= 8);
  const texts = examples
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(new URL(`examples/${name}`, root), 'utf8'));
  for (const block of blocks) assert.ok(texts.includes(block), block);
});

test('docs/applications mentions every example', () => {
  const names = readdirSync(new URL('examples/', root));
  // Monitoring has its own page.
  const ofMonitoring = ['grafana-dashboard.json', 'alerts.yaml'];
  for (const name of names.filter((each) => !ofMonitoring.includes(each)))
    assert.ok(section.includes(`examples/${name}`), name);
});

test('docs/applications lists every state, reason and error code of idkit/client, and no others', () => {
  const login = pages.find(({ file }) => file === 'docs/applications/login.md')!.text;
  const rows = [...login.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name!);
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
