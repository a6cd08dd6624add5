import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { initPlatform, loadSettings, type Settings } from '../../../src/config/index.ts';
import {
  type InstallResult,
  installSchedule,
  type ScheduleChoices,
  type Scheduler,
  scheduleOptions,
} from '../../../src/procedures/index.ts';
import { makeDirectory } from '../platform.ts';

/** A user that can run the program of this checkout. */
const USER = userInfo().username;

interface Place {
  settings: Settings;
  into: string;
  install(
    scheduler: Scheduler,
    work?: { remove?: boolean; plan?: boolean },
    choices?: ScheduleChoices,
  ): InstallResult;
}

/** A platform directory, and an empty directory of a scheduler. */
async function makePlace(t: TestContext): Promise<Place> {
  const dir = await makeDirectory(t, 'schedule');
  initPlatform(dir, { env: {} });
  const settings = await loadSettings({ dir, env: {} });
  const into = await makeDirectory(t, 'into');
  return {
    settings,
    into,
    install: (scheduler, work = {}, choices = { user: USER }) =>
      installSchedule(settings, scheduler, scheduleOptions(settings, choices), { into, ...work }),
  };
}

const changesOf = (result: InstallResult): readonly string[] => [
  ...new Set(result.changes.map(({ change }) => change)),
];

describe('schedule install', () => {
  it('writes the files, leaves them unchanged the next time, and replaces its own files after a change', async (t) => {
    const { into, install } = await makePlace(t);
    assert.deepEqual(changesOf(install('systemd', { plan: true })), ['create']);
    assert.deepEqual(readdirSync(into), []);
    const first = install('systemd');
    assert.deepEqual(readdirSync(into).length, 16);
    assert.deepEqual(changesOf(first), ['create']);
    assert.deepEqual(changesOf(install('systemd')), ['keep']);
    const mailed = install('systemd', {}, { user: USER, mailTo: 'ops@example.org' });
    const updated = mailed.changes.filter(({ change }) => change === 'update').map(({ file }) => file);
    assert.deepEqual(updated, [join(into, 'idkit-failure@.service')]);
  });

  it('lists the commands that create the passphrase file and start the units', async (t) => {
    const { into, install } = await makePlace(t);
    const passphraseFile = join(into, 'passphrase');
    const next = (scheduler: Scheduler) => install(scheduler, {}, { user: USER, passphraseFile }).next;
    assert.deepEqual(next('systemd').slice(0, 3), [
      `install -D -m 0600 /dev/null ${passphraseFile}`,
      `editor ${passphraseFile}`,
      'systemctl daemon-reload',
    ]);
    assert.match(next('systemd')[3]!, /^systemctl enable --now idkit\.service idkit-backup-database\.timer /);
    assert.deepEqual(next('cron')[0], `install -D -m 0600 -o ${USER} /dev/null ${passphraseFile}`);
    writeFileSync(passphraseFile, 'x\n');
    assert.deepEqual(next('cron'), []);
  });

  it('lists the commands that give an existing passphrase file to the user of the timers of cron', async (t) => {
    const { settings, into } = await makePlace(t);
    const passphraseFile = join(into, 'passphrase');
    writeFileSync(passphraseFile, 'x\n');
    const options = {
      ...scheduleOptions(settings, { user: USER, passphraseFile }),
      user: 'nobody',
      program: ['/bin/sh', '/bin/sh'] as const,
    };
    const { next } = installSchedule(settings, 'cron', options, { into, plan: true });
    assert.deepEqual(next, [`chown nobody ${passphraseFile}`, `chmod 0600 ${passphraseFile}`]);
  });

  it('writes nothing if a file is changed, foreign, a link or of another platform, and removes none of these', async (t) => {
    const place = await makePlace(t);
    const { into, install } = place;
    install('systemd');
    const file = join(into, 'idkit-verify.service');
    const own = readFileSync(file, 'utf8');
    const other = await makePlace(t);
    const cases: readonly (readonly [() => void, RegExp])[] = [
      [() => writeFileSync(file, `# kept by ops\n${own}`), /verify\.service was changed after/],
      [() => writeFileSync(file, own.replace('Nice=10', 'Nice=5')), /verify\.service was changed after/],
      [() => writeFileSync(file, '[Unit]\n'), /verify\.service was not written by idkit/],
      [() => linkTo('/dev/null', file), /verify\.service was not written by idkit/],
    ];
    for (const [spoil, message] of cases) {
      spoil();
      const before = snapshot(into);
      const mailTo = 'ops@example.org';
      assert.throws(() => install('systemd', {}, { user: USER, mailTo }), { code: 'IDKIT_FAILED', message });
      assert.deepEqual(snapshot(into), before);
    }
    rmSync(file);
    writeFileSync(file, own);
    assert.throws(
      () =>
        installSchedule(other.settings, 'systemd', scheduleOptions(other.settings, { user: USER }), { into }),
      /idkit\.service belongs to the platform directory /,
    );
    const foreign = installSchedule(
      other.settings,
      'systemd',
      scheduleOptions(other.settings, { user: USER }),
      { into, remove: true },
    );
    assert.deepEqual(foreign.changes, []);
    assert.equal(readdirSync(into).length, 16);
  });

  it('installs a second platform of the same machine under another name', async (t) => {
    const one = await makePlace(t);
    const two = await makePlace(t);
    one.install('systemd');
    const choices = { user: USER, name: 'idkit-test' };
    const options = scheduleOptions(two.settings, choices);
    assert.equal(options.passphraseFile, '/etc/idkit-test/passphrase');
    installSchedule(two.settings, 'systemd', options, { into: one.into });
    assert.equal(readdirSync(one.into).length, 32);
    one.install('systemd', { remove: true });
    assert.ok(readdirSync(one.into).every((name) => name.startsWith('idkit-test')));
  });

  it('removes its files, but not while a unit is enabled', async (t) => {
    const missing = spawnSync('systemctl', ['--version']).error !== undefined;
    if (missing && process.env['IDKIT_TEST_REQUIRE_ALL'] !== '1') return t.skip('needs systemctl');
    const { settings, into: root } = await makePlace(t);
    const system = join(root, 'etc/systemd/system');
    mkdirSync(system, { recursive: true });
    const work = (remove: boolean) =>
      installSchedule(settings, 'systemd', scheduleOptions(settings, { user: USER }), {
        into: system,
        remove,
      });
    const enabled = work(false).next.at(-1)!.split(' ').slice(3);
    // With --root, systemctl works on a directory tree, without a running systemd.
    const systemctl = (verb: string): void => {
      const ended = spawnSync('systemctl', [`--root=${root}`, verb, ...enabled], { encoding: 'utf8' });
      assert.equal(ended.status, 0, ended.stderr);
    };
    systemctl('enable');
    assert.throws(() => work(true), { code: 'IDKIT_USAGE', message: /idkit\.service are enabled/ });
    assert.equal(readdirSync(system).filter((name) => name.startsWith('idkit')).length, 16);
    systemctl('disable');
    assert.deepEqual(changesOf(work(true)), ['remove']);
    assert.deepEqual(
      readdirSync(system).filter((name) => name.startsWith('idkit')),
      [],
    );
  });

  it('writes one file for cron, with the user in each line', async (t) => {
    const { into, install } = await makePlace(t);
    assert.deepEqual(changesOf(install('cron')), ['create']);
    const text = readFileSync(join(into, 'idkit'), 'utf8');
    const jobs = text.split('\n').filter((line) => /^[\d*]/.test(line));
    assert.equal(jobs.length, 7);
    for (const line of jobs)
      assert.match(line, new RegExp(`^(\\S+ ){5}${USER} /\\S+ /\\S+idkit\\.js --dir `));
    assert.deepEqual(changesOf(install('cron', { remove: true })), ['remove']);
    assert.deepEqual(readdirSync(into), []);
  });

  it('runs as the owner of the platform directory, but as root only if --user names root', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('needs root, to change the owner of a directory');
    const { settings, install } = await makePlace(t);
    assert.throws(() => install('systemd', {}, {}), { code: 'IDKIT_USAGE', message: /belongs to root/ });
    assert.equal(scheduleOptions(settings, { user: 'root' }).user, 'root');
    install('systemd', { plan: true }, { user: 'root' });
    chownSync(settings.dir, 65_534, 65_534);
    assert.equal(scheduleOptions(settings, {}).user, 'nobody');
    chownSync(settings.dir, 54_321, 54_321);
    assert.equal(scheduleOptions(settings, {}).user, '54321');
    assert.throws(() => install('cron', {}, {}), { code: 'IDKIT_USAGE', message: /54321 has no name/ });
  });

  it('rejects a user that cannot enter the directory of Node.js, before it writes anything', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('needs root, to name another user');
    const { settings, into } = await makePlace(t);
    const closed = join(into, 'closed');
    mkdirSync(join(closed, 'bin'), { recursive: true });
    chmodSync(closed, 0o700);
    chmodSync(into, 0o755);
    const [, script] = scheduleOptions(settings, {}).program;
    const options = {
      ...scheduleOptions(settings, { user: 'nobody' }),
      program: [`${closed}/bin/node`, script] as const,
    };
    assert.throws(() => installSchedule(settings, 'systemd', options, { into }), {
      code: 'IDKIT_USAGE',
      message: `the user nobody cannot enter ${closed}, so it cannot run the program`,
    });
    assert.deepEqual(readdirSync(into), ['closed']);
  });
});

function linkTo(target: string, file: string): void {
  rmSync(file);
  symlinkSync(target, file);
}

function snapshot(dir: string): Record<string, string> {
  return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]));
}
