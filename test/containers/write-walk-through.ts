import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startEngine } from './engines.ts';
import { findContainerExamples, runWalkThrough } from './walk-through.ts';

// Writes the output that docs/operate/containers.md shows: node test/containers/write-walk-through.ts

const file = new URL('../../docs/operate/containers.md', import.meta.url);

test('write the console blocks of docs/operate/containers.md', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-walk-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const page = readFileSync(file, 'utf8');
  const engine = await startEngine(t, 'docker');
  const ran = await runWalkThrough(dir, engine, findContainerExamples(page));
  // Replaces the outputs in the order of the page, because a command may occur twice.
  let [written, rest] = ['', page];
  for (const { command, output, actual } of ran) {
    const show = (text: string) => `$ ${command}\n${text === '' ? '' : `${text}\n`}`;
    const at = rest.indexOf(show(output));
    written += rest.slice(0, at) + show(showPublic(actual));
    rest = rest.slice(at + show(output).length);
  }
  writeFileSync(file, written + rest);
});

/** Replaces the test's values with the public images, the default ports and a memorable set name. */
function showPublic(text: string): string {
  return text
    .replace(/\b\d{8}_\d{6}\b/g, '20261101_020000')
    .replaceAll('localhost/idkit-test/database:1', 'docker.io/library/postgres:17')
    .replaceAll('localhost/idkit-test/caddy:1', 'docker.io/library/caddy:2')
    .replaceAll('localhost/idkit-test/base:1', 'docker.io/library/node:24-bookworm-slim')
    .replaceAll('localhost/idkit-test/idkit:1', 'localhost/idkit:0.1.0')
    .replace(/https:\/\/localhost:\d+/g, 'https://localhost:8443')
    .replace(/127\.0\.0\.1:\d+(?=\/(health|api)$)/gm, '127.0.0.1:8081')
    .replace(/127\.0\.0\.1:(?!8081)\d+/g, '127.0.0.1:8080');
}
