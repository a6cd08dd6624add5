import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/index.ts';
import { composeEnvironment, readFileVariables } from '../../../src/platform/compose/environment.ts';
import { makeDirectory } from '../../procedures/platform.ts';

test('.env sets variables of compose.yaml, but cannot choose the engine or the files that compose loads', async (t) => {
  const dir = await makeDirectory(t, 'compose-environment');
  const steering = ['DOCKER_HOST', 'COMPOSE_FILE', 'LD_PRELOAD', 'CONTAINER_HOST', 'PYTHONPATH', 'PATH'];
  const lines = steering.map((name) => `${name}=/planted`);
  await writeFile(join(dir, '.env'), `SITE=localhost\n${lines.join('\n')}\n`, { mode: 0o600 });
  const settings = await loadSettings({ dir, env: {} });
  for (const variables of [composeEnvironment(settings), readFileVariables(settings)]) {
    assert.equal(variables['SITE'], 'localhost');
    for (const name of steering) assert.equal(variables[name], undefined, name);
  }
});
