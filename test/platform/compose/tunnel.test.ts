import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Engine } from '../../../src/platform/compose/engine.ts';
import { whileTunnelled } from '../../../src/platform/compose/tunnel.ts';

/** The test never calls the engine, because nothing connects to the tunnel. */
const engine: Engine = {
  kind: 'docker',
  program: 'docker',
  call: () => assert.fail('the engine is not called'),
  findCompose: () => assert.fail('the engine is not called'),
};

test('only this user can use the tunnel to a container’s database, which closes when the work is done', async () => {
  const fault = new Error('of the work');
  let place = '';
  const ended = whileTunnelled(
    async () => ({ engine, id: 'none' }),
    async (directory) => {
      place = directory;
      assert.equal(statSync(directory).mode & 0o777, 0o700);
      assert.ok(statSync(join(directory, '.s.PGSQL.5432')).isSocket());
      throw fault;
    },
  );
  await assert.rejects(ended, fault);
  assert.notEqual(place, '');
  assert.ok(!existsSync(place));
});
