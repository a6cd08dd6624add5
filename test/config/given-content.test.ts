import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../src/config/index.ts';
import { makeDirectory, makePlatform } from './places.ts';

const content = (file: string, text: string | Uint8Array) => ({
  file,
  bytes: Buffer.from(text as Uint8Array),
});

test('loads settings from given content instead of the file, and writes nothing', async (t) => {
  const dir = makePlatform(t, { yaml: 'realms: [own]\n', env: 'IDKIT_ADMIN_USERNAME=own\n' });
  const env = content('env.gpg', 'IDKIT_ADMIN_USERNAME=given\n');
  const yaml = content('the set’s idkit.yaml', 'realms: [given]\n');
  const both = await loadSettings({ dir, env: {}, contents: { env, yaml } });
  assert.deepEqual([both.administrator.username, both.realms, both.exists], ['given', ['given'], true]);
  const one = await loadSettings({ dir, env: {}, contents: { env } });
  assert.deepEqual([one.administrator.username, one.realms], ['given', ['own']]);
  const nowhere = join(makeDirectory(t), 'nowhere');
  const none = await loadSettings({ dir: nowhere, env: {}, contents: { env } });
  assert.deepEqual([none.administrator.username, none.exists], ['given', false]);
  assert.ok(!existsSync(nowhere));
});

test('the process environment takes precedence over given content, as it does over .env', async (t) => {
  const env = content('env.gpg', 'IDKIT_ADMIN_USERNAME=given\n');
  const settings = await loadSettings({
    dir: makeDirectory(t),
    env: { IDKIT_ADMIN_USERNAME: 'environment' },
    contents: { env },
  });
  assert.equal(settings.administrator.username, 'environment');
  assert.equal(settings.sources['IDKIT_ADMIN_USERNAME'], 'environment');
});

test('reports a fault in given content under the name that the caller passed', async (t) => {
  const dir = makeDirectory(t);
  const refused = (contents: object, message: RegExp) =>
    assert.rejects(loadSettings({ dir, env: {}, contents }), { code: 'IDKIT_SETTING', message });
  await refused({ env: content('env.gpg', 'no assignment') }, /^env\.gpg line 1 is not KEY=VALUE$/);
  await refused({ env: content('env.gpg', Uint8Array.of(0xff)) }, /^env\.gpg is not UTF-8$/);
  await refused({ env: content('env.gpg', 'IDKIT_MASTERKEY=x') }, /^env\.gpg contains the unknown key/);
  await refused({ yaml: content('its yaml', 'realm: []') }, /^its yaml line 1: unknown key "realm"$/);
  await refused({ yaml: content('its yaml', 'runtime: bare') }, /^its yaml line 1: runtime must be /);
});
