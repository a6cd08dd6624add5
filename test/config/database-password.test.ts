import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings, showSettings } from '../../src/config/index.ts';
import { makePlatform } from './places.ts';

const NAME = 'IDKIT_DATABASE_PASSWORD';
const FILE = 'IDKIT_DATABASE_PASSWORD_FILE';

test('reads the database password from the environment, the file that it names, .env, or the file that .env names, in this order', async (t) => {
  const cases: [
    env: NodeJS.ProcessEnv,
    lines: readonly string[],
    password: string | undefined,
    source: string,
  ][] = [
    [{ [NAME]: 'given', [FILE]: 'one' }, [`${NAME}=kept`, `${FILE}=two`], 'given', 'environment'],
    [{ [FILE]: 'one' }, [`${NAME}=kept`, `${FILE}=two`], 'in one', 'file'],
    [{}, [`${NAME}=kept`, `${FILE}=two`], 'kept', '.env'],
    [{}, [`${FILE}=two`], 'in two', 'file'],
    [{ [FILE]: 'empty' }, [], undefined, 'default'],
  ];
  for (const [env, lines, password, source] of cases) {
    const dir = makePlatform(t, { env: `${lines.join('\n')}\n` });
    for (const name of ['one', 'two']) writeFileSync(join(dir, name), `in ${name}\r\nnot this\n`);
    writeFileSync(join(dir, 'empty'), '');
    const settings = await loadSettings({ dir, env });
    assert.equal(settings.databasePassword?.reveal(), password, lines.join());
    const shown = showSettings(settings).find(({ name }) => name === NAME);
    assert.equal(shown?.source, source, 'config show says where it came from');
  }
});

test('reports an unreadable password file by name as a wrong setting (exit code 2)', async (t) => {
  const dir = makePlatform(t, { env: `${FILE}=nowhere\n` });
  await assert.rejects(loadSettings({ dir, env: {} }), { exitCode: 2, message: /_FILE names nowhere/ });
});
