import assert from 'node:assert/strict';
import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { connectAdmin } from '../../src/client/index.ts';
import { startService } from '../../src/service/index.ts';
import { PASSPHRASE } from '../procedures/platform.ts';
import { changedSinceBackup } from '../procedures/restored-state.ts';
import { waitUntil } from '../wait-until.ts';
import { makeDirectory, run } from './run.ts';

const ENV = { IDKIT_BACKUP_PASSPHRASE: PASSPHRASE.reveal() };

/** Returns the names of the realms in a database file. */
function realmsOf(file: string): readonly string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare('SELECT name FROM realm ORDER BY name')
      .all()
      .map(({ name }) => String(name));
  } finally {
    database.close();
  }
}

test('restore --at and drill --at refuse what is not a moment', async (t) => {
  const cwd = makeDirectory(t);
  for (const moment of [
    'yesterday',
    '2026-11-22',
    '2026-11-22T10:15:03',
    '2026-11-22T10:15:03+01:00',
    '2026-13-22T10:15:03Z',
    '2026-11-22T10:15:03.1234Z',
    'before:',
    'before:short',
    'before:%27%20OR%201',
  ])
    for (const command of ['restore', 'drill']) {
      const refused = await run([command, '--at', moment], { cwd, env: ENV });
      assert.equal(refused.code, 2, `${command} ${moment}: ${refused.stderr}`);
      assert.match(refused.stderr, /^error IDKIT_USAGE: --at is neither a time nor an event/m, moment);
    }
  const time = ['restore', '--at', '2026-11-22T10:15:03Z'];
  for (const [more, message] of [
    [['--resume'], /--at cannot be combined with --resume/],
    [['--abort'], /--at cannot be combined with --abort/],
    [['--yes', '--in-place', '--confirm', 'idkit', '--from', cwd], /--in-place cannot be combined with --at/],
  ] as const) {
    const refused = await run([...time, ...more], { cwd, env: ENV });
    assert.equal(refused.code, 2, refused.stderr);
    assert.match(refused.stderr, message);
  }
});

test('backups list, drill --at and restore --at before:EVENT-ID bring a deleted user and its realm back from the archive', async (t) => {
  const { platform } = await changedSinceBackup(t);
  const archive = join(platform.dir, '..', 'archive');
  const cwd = platform.dir;
  const without = await run(['restore', '--at', '2999-01-01T00:00:00Z', '--yes'], { cwd, env: ENV });
  assert.equal(without.code, 2, without.stderr);
  assert.match(without.stderr, /^error IDKIT_SETTING: restore --at needs an archive/m);
  await appendFile(join(cwd, 'idkit.yaml'), `backup:\n  archive: ${archive}\n`);
  const settings = await platform.load();
  const service = await startService(settings);
  t.after(() => service.close());
  const { username, password } = settings.administrator;
  const admin = await connectAdmin({
    baseUrl: service.address,
    username,
    password: password!,
    timeoutMilliseconds: 60_000,
  });
  await waitUntil('the archive has a base', async () => {
    const text = await readFile(join(cwd, 'data/archive.json'), 'utf8').catch(() => '{}');
    return JSON.parse(text).base !== undefined;
  });
  await admin.call('POST', '', { realm: 'acme', enabled: true, adminEventsEnabled: true });
  await admin.call('POST', '/acme/users', { username: 'alice', enabled: true });
  const { body: users } = await admin.call('GET', '/acme/users');
  for (const { id } of users as { id: string }[]) await admin.call('DELETE', `/acme/users/${id}`);
  const { body } = await admin.call('GET', '/acme/admin-events?operationTypes=DELETE');
  const [event] = body as [{ id: string }];
  await admin.call('DELETE', '/acme');
  await service.close();
  const file = join(cwd, 'data/idkit.db');
  assert.deepEqual(realmsOf(file), ['master']);

  const listed = await run(['backups', 'list'], { cwd, env: ENV });
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(
    listed.stderr,
    /archive .*: newest moment \S+Z; every moment from \S+Z to \S+Z; 0 gaps/,
    'one line for the archive',
  );
  const { archive: shown } = (
    await run(['backups', 'list', '--json'], { cwd, env: ENV })
  ).result() as unknown as {
    archive: { newest: string; ranges: { until: string }[]; gaps: number };
  };
  assert.deepEqual([shown.ranges.length, shown.ranges[0]!.until, shown.gaps], [1, shown.newest, 0]);

  const alice = () => {
    const database = new DatabaseSync(file, { readOnly: true });
    const row = database.prepare("SELECT count(*) AS n FROM account WHERE username = 'alice'").get();
    database.close();
    return row?.['n'];
  };
  assert.equal(alice(), 0);

  const chains = await readdir(archive);
  const at = ['--at', `before:${event.id}`];
  const drilled = await run(['drill', ...at, '--json'], { cwd, env: ENV });
  assert.equal(drilled.code, 0, drilled.stderr);
  const { source, checks } = drilled.result() as unknown as {
    source: { moment: string; restoredTo: string; realms: { realm: string }[] };
    checks: { id: string; outcome: string }[];
  };
  assert.equal(source.moment, `before ${event.id}`);
  assert.ok(source.restoredTo <= shown.newest);
  assert.deepEqual(source.realms.map(({ realm }) => realm).sort(), ['acme', 'master']);
  assert.equal(checks.find(({ id }) => id === 'credentials')?.outcome, 'not-applicable');
  assert.deepEqual(await readdir(archive), chains, 'a drill writes nothing to the archive');
  assert.deepEqual(realmsOf(file), ['master']);

  const restored = await run(['restore', ...at, '--yes'], { cwd, env: ENV });
  assert.equal(restored.code, 0, restored.stderr);
  assert.deepEqual(realmsOf(file), ['acme', 'master']);
  assert.equal(alice(), 1);
  const unknown = await run(['restore', '--at', 'before:0b7c1f8e-0000-4d1b-9a1e-3c7b0a5d2f10', '--yes'], {
    cwd,
    env: ENV,
  });
  assert.equal(unknown.code, 10, unknown.stderr);
});
