import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { mask } from '../docs/console.ts';
import {
  leftovers,
  missingEngine,
  missingPlugin,
  pluginEnvironment,
  startEngine,
  type TestEngine,
} from './engines.ts';
import { findContainerExamples, runWalkThrough } from './walk-through.ts';

const page = readFileSync(new URL('../../docs/operate/containers.md', import.meta.url), 'utf8');
const examples = findContainerExamples(page);

test('docs/operate/containers.md leads from init to a restore on an empty host', () => {
  const text = examples.map(({ command }) => command).join('\n');
  for (const word of [
    'init --runtime compose',
    'up',
    'backup',
    'verify',
    'rm -r idkit',
    'restore --from',
    'smoke',
  ])
    assert.ok(text.includes(word), word);
});

const PROGRAMS = { 'docker compose': 'docker', 'podman-compose': 'podman' } as const;

for (const [program, kind] of Object.entries(PROGRAMS)) {
  test(`with ${program} every command of docs/operate/containers.md prints what the page shows`, async (t) => {
    const missing = missingEngine(kind) ?? (kind === 'docker' ? missingPlugin() : undefined);
    if (missing !== undefined) return t.skip(missing);
    const dir = mkdtempSync(join(tmpdir(), 'idkit-walk-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const engine = await startEngine(t, kind);
    const ran = await runWalkThrough(dir, kind === 'docker' ? withPlugin(engine) : engine, examples);
    for (const { command, output, actual } of ran)
      assert.equal(maskPlaces(actual), maskPlaces(output), `$ ${command}`);

    const checklist = ran.find(({ command }) => command.includes('restore --from'))?.actual ?? '';
    assert.match(checklist, /user counts per realm match expectations +done/);
    assert.doesNotMatch(checklist, /does not apply|failed/, 'every row of the checklist is done');
    const volumes = await leftovers(engine, 'idkit');
    assert.equal(volumes.filter((name) => !name.startsWith('idkit_')).length, 0, 'down keeps volumes');
    if (kind === 'podman') return;
    const label = '{{index .Labels "com.docker.compose.version"}}';
    const madeBy = await engine.call(['volume', 'inspect', '-f', label, 'idkit_database']);
    assert.doesNotMatch(madeBy, /^1\./, 'uses the plugin, even if docker-compose is installed');
  });
}

/** Returns the engine with the compose plugin. Adds a line to `.env` that idkit can read but the plugin cannot. */
function withPlugin(engine: TestEngine): TestEngine {
  const env = { ...engine.env, ...pluginEnvironment() };
  return { ...engine, env, images: `${engine.images}NOTE=\`two\n'lines'\`\n` };
}

/** Masks images and ports, because those of the test differ from those on the page. */
function maskPlaces(text: string): string {
  return mask(text)
    .replace(/\b(localhost|docker\.io)(\/[a-z-]+)+:[\w.-]+/g, '<image>')
    .replace(/localhost:\d+/g, 'localhost:<port>');
}
