import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../src/config/index.ts';
import { makeDirectory, makePlatform } from './places.ts';

const load = (dir: string) => loadSettings({ dir, env: {} });

test('rejects text that is not YAML, and reports its line', async (t) => {
  const dir = makePlatform(t, { yaml: 'runtime: embedded\nlisten: {host: "x\n' });
  await assert.rejects(load(dir), { code: 'IDKIT_SETTING', message: /idkit\.yaml line [23]: / });
});

test('rejects a file that contains a list, a number or a string instead of settings', async (t) => {
  for (const yaml of ['- a\n', '5\n', 'embedded\n']) {
    await assert.rejects(load(makePlatform(t, { yaml })), {
      code: 'IDKIT_SETTING',
      message: /must be a mapping/,
    });
  }
});

test('rejects a group that is not a mapping, and lists the keys that belong there', async (t) => {
  const dir = makePlatform(t, { yaml: 'listen: 8080\n' });
  await assert.rejects(load(dir), {
    message: /line 1: listen must be a mapping with host, port, managementPort/,
  });
});

test('rejects a key in the wrong place, and names the right place', async (t) => {
  const dir = makePlatform(t, { yaml: 'port: 8080\n' });
  await assert.rejects(load(dir), { hints: ['did you mean listen.port?'] });
});

test('rejects an unknown key, and lists the known keys if none is similar', async (t) => {
  const dir = makePlatform(t, { yaml: 'zzzzzzzzzz: 1\n' });
  const error = await load(dir).catch((thrown) => thrown);
  assert.match(error.hints[0], /^known keys: runtime, service, baseUrl, listen/);
});

test('rejects aliases, which can expand to gigabytes, and reports their line', async (t) => {
  const rows = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 9; i++)
    rows.push(
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  for (const yaml of [`${rows.join('\n')}\n`, 'runtime: &r embedded\nrealms: [*r]\n', 'realms: &r [*r]\n']) {
    await assert.rejects(load(makePlatform(t, { yaml })), {
      code: 'IDKIT_SETTING',
      message: /line [12]: aliases are not allowed/,
    });
  }
});

test('rejects a file that is not UTF-8 or larger than 1 MiB', async (t) => {
  const dir = makeDirectory(t);
  writeFileSync(join(dir, 'idkit.yaml'), Buffer.from([0x72, 0xff, 0xfe]));
  await assert.rejects(load(dir), { code: 'IDKIT_SETTING', message: /not UTF-8/ });
  writeFileSync(join(dir, 'idkit.yaml'), `# ${'x'.repeat(1_048_576)}`);
  await assert.rejects(load(dir), { code: 'IDKIT_SETTING', message: /larger than/ });
});

test('rejects an idkit.yaml that is a directory', async (t) => {
  const dir = makeDirectory(t);
  await import('node:fs').then((fs) => fs.mkdirSync(join(dir, 'idkit.yaml')));
  await assert.rejects(load(dir), { code: 'IDKIT_SETTING', message: /cannot be read/ });
});

test('resolves paths against the platform directory, and paths of flags against the working directory', async (t) => {
  const dir = makePlatform(t, { yaml: 'database: sqlite:x.db\nbackup: { root: sets }\n' });
  const settings = await load(dir);
  assert.deepEqual(settings.database, { kind: 'sqlite', file: join(dir, 'x.db') });
  assert.equal(settings.backup.root, join(dir, 'sets'));
  const flagged = await loadSettings({ dir, env: {}, cwd: '/srv', flags: { 'backup.root': 'elsewhere' } });
  assert.equal(flagged.backup.root, '/srv/elsewhere');
});

test('rejects a certificate without its key', async (t) => {
  const dir = makePlatform(t, { yaml: 'listen: { tlsCert: cert.pem }\n' });
  await assert.rejects(load(dir), {
    code: 'IDKIT_SETTING',
    message: /tlsCert and listen.tlsKey must be set together/,
  });
});

test('removes the trailing slash of a base URL', async (t) => {
  const dir = makePlatform(t, { yaml: 'baseUrl: https://login.example.org/auth/\n' });
  assert.equal((await load(dir)).baseUrl, 'https://login.example.org/auth');
});
