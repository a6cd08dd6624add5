import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isInstalled, spawnService } from '../program.ts';

// A start must not read the modules that only compile the queries: they take longer than the rest of the start.

const work = mkdtempSync(join(tmpdir(), 'idkit-start-modules-'));

/** Returns a module that appends the address of every module that its process and its threads load to `file`. */
function recorder(file: string): string {
  const code = `
    import { appendFileSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        appendFileSync(${JSON.stringify(file)}, url + '\\n');
        return next(url, context);
      },
    });`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

test('a start of serve loads neither Kysely nor the sources of the compiled queries', async (t) => {
  t.after(() => rmSync(work, { recursive: true, force: true }));
  const file = join(work, 'modules');
  const dir = join(work, 'platform');
  const service = await spawnService(dir, [], { NODE_OPTIONS: `--import=${recorder(file)}` });
  try {
    assert.equal((await fetch(`${service.address}/realms/master`)).status, 200);
  } finally {
    await service.stop();
  }
  const modules = readFileSync(file, 'utf8').trim().split('\n');
  // The program itself is in the list, so the recorder works.
  const program = isInstalled ? '/dist/' : pathToFileURL(join(import.meta.dirname, '../../src/store')).href;
  assert.ok(modules.some((module) => module.includes(program)));
  const sources = /\/node_modules\/kysely\/|\/src\/store\/queries\/(?!compiled\/)/;
  assert.deepEqual(
    modules.filter((module) => sources.test(module)),
    [],
  );
});
