import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagsOfCommand, settingsFromFlags } from '../../src/config/settings/flags.ts';
import { wholeNumber } from '../../src/config/settings/kinds.ts';
import { loadRows } from '../../src/config/settings/load.ts';
import { settingDocs, showSettings } from '../../src/config/settings/show.ts';
import { SETTINGS } from '../../src/config/settings/table.ts';
import { renderDefaultYaml } from '../../src/config/yaml/template.ts';
import { makePlatform } from './places.ts';

// A dummy row. A row is enough to add a setting, so no other code mentions this one.
const rows = [
  ...SETTINGS,
  {
    name: 'dummy.size',
    env: 'IDKIT_DUMMY_SIZE',
    fileEnv: 'IDKIT_DUMMY_SIZE_FILE',
    flags: { serve: '--dummy-size <number>' },
    kind: wholeNumber(1, 10),
    default: 3,
    reason: 'the number of a dummy',
    doc: 'the size of the dummy',
  },
] as const;

test('one row defines the type, the default and every source of a setting, in order of precedence', async (t) => {
  const yaml = 'dummy: { size: 4 }\n';
  const load = (dir: string, env = {}, flags = {}) => loadRows(rows, { dir, env, flags });
  const none = await load(makePlatform(t, {}));
  const size: number = none.dummy.size;
  assert.equal(size, 3);
  assert.equal(none.sources['dummy.size'], 'default');
  assert.equal((await load(makePlatform(t, { yaml }))).dummy.size, 4);
  const dir = makePlatform(t, { yaml, env: 'IDKIT_DUMMY_SIZE=5\n' });
  assert.equal((await load(dir)).dummy.size, 5);
  assert.equal((await load(dir, { IDKIT_DUMMY_SIZE: '6' })).dummy.size, 6);
  const flags = settingsFromFlags('serve', { dummySize: '7' }, rows);
  assert.equal((await load(dir, { IDKIT_DUMMY_SIZE: '6' }, flags)).dummy.size, 7);
});

test('one row defines the checks of a setting in idkit.yaml, in .env and as a flag', async (t) => {
  const wrong = {
    code: 'IDKIT_SETTING',
    message: /dummy\.size must be a whole number from 1 to 10, not 11$/,
  };
  await assert.rejects(
    loadRows(rows, { dir: makePlatform(t, { yaml: 'dummy: { size: 11 }\n' }), env: {} }),
    wrong,
  );
  await assert.rejects(loadRows(rows, { dir: makePlatform(t, { env: 'IDKIT_DUMY_SIZE=1\n' }), env: {} }), {
    code: 'IDKIT_SETTING',
    hints: ['did you mean IDKIT_DUMMY_SIZE?'],
  });
  const flags = { 'dummy.size': 'x' };
  await assert.rejects(loadRows(rows, { dir: makePlatform(t, {}), env: {}, flags }), {
    code: 'IDKIT_USAGE',
    message: '--dummy-size must be a whole number from 1 to 10, not "x"',
  });
});

test('one row adds a setting to the template, the flags, `idkit config show` and the reference', async (t) => {
  const template = renderDefaultYaml('embedded', 'idkit', {}, rows);
  assert.ok(template.endsWith('# dummy:\n#   size: 3  # the size of the dummy\n'), template);
  const flag = flagsOfCommand('serve', rows).at(-1);
  assert.deepEqual(flag, {
    setting: 'dummy.size',
    form: '--dummy-size <number>',
    description: 'the size of the dummy (default: 3)',
  });
  const settings = await loadRows(rows, { dir: makePlatform(t, {}), env: {} });
  const shown = { name: 'dummy.size', value: 3, source: 'default', doc: 'the size of the dummy' };
  assert.deepEqual(showSettings(settings, rows).at(-1), shown);
  const documented = settingDocs(rows).at(-1);
  assert.equal(documented?.env, 'IDKIT_DUMMY_SIZE');
  assert.equal(documented?.flag, '--dummy-size');
  assert.equal(documented?.expected, 'a whole number from 1 to 10');
});
