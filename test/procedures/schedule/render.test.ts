import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { initPlatform, loadSettings, nextCronTime, type Settings } from '../../../src/config/index.ts';
import {
  installSchedule,
  renderSchedule,
  type ScheduleChoices,
  scheduleOptions,
} from '../../../src/procedures/index.ts';
import { renderCalendars } from '../../../src/procedures/schedule/calendar.ts';
import { PROGRAM, spawnService } from '../../program.ts';
import { makeDirectory, PASSPHRASE } from '../platform.ts';

const run = promisify(execFile);

/** A directory name that the shell, cron and systemd each read differently without quotes. */
const ODD = `it's 100% "$x" \\ {a}`;

/** Returns the reason to skip a test, or undefined if the program is installed. */
function missing(program: string): string | undefined {
  if (spawnSync(program, ['--version']).error === undefined) return undefined;
  if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1')
    assert.fail(`${program} is missing, and every component is required`);
  return `needs ${program}`;
}

/** Renders the text that `idkit schedule` prints. */
function print(settings: Settings, format: 'cron' | 'systemd', choices: ScheduleChoices = {}): string {
  return renderSchedule(settings, format, scheduleOptions(settings, choices));
}

describe('schedule', () => {
  it('prints cron lines for the database, realms, configuration, environment, verify, retention and drill', async (t) => {
    const settings = await loadSettings({ dir: await makeDirectory(t, 'schedule'), env: {} });
    const text = print(settings, 'cron');
    const jobs = text.split('\n').filter((line) => /^[\d*]/.test(line));
    assert.deepEqual(
      jobs.map((line) => line.replace(/^((?:\S+ ){5}).*?--dir \S+ /, '$1')),
      [
        '0 2 * * * schedule run --once --job backup-database --quiet >/dev/null',
        '30 2 * * * schedule run --once --job backup-realms --quiet >/dev/null',
        '0 3 * * 0 schedule run --once --job backup-config --quiet >/dev/null',
        '15 3 * * 0 schedule run --once --job backup-env --quiet >/dev/null',
        '0 4 * * * schedule run --once --job verify --quiet >/dev/null',
        '45 3 * * * schedule run --once --job retention --quiet >/dev/null',
        '0 5 1 * * schedule run --once --job drill --quiet >/dev/null',
      ],
    );
    for (const line of ['CRON_TZ=UTC', 'SHELL=/bin/sh', 'MAILTO=root'])
      assert.match(text, new RegExp(`^${line}$`, 'm'));
    assert.match(print(settings, 'cron', { mailTo: 'ops@example.org' }), /^MAILTO=ops@example\.org$/m);
  });

  it('prints cron lines that work in the environment of cron, also for a directory with special characters', async (t) => {
    const base = await makeDirectory(t, 'cron');
    const dir = join(base, ODD);
    initPlatform(dir, { env: {} });
    await (await spawnService(dir, [])).stop();
    const passphraseFile = join(base, 'pass phrase');
    await writeFile(passphraseFile, `${PASSPHRASE.reveal()}\n`, { mode: 0o600 });
    const settings = await loadSettings({ dir, env: {} });
    const { variables, commands } = readCrontab(print(settings, 'cron', { passphraseFile }));
    assert.equal(commands.length, 7);
    // cron itself sets these variables, and those of the crontab.
    const env = { HOME: base, LOGNAME: 'nobody', PATH: '/usr/bin:/bin', ...variables };
    for (const command of commands) {
      const ended = spawnSync('/usr/bin/env', ['-i', ...pairs(env), '/bin/sh', '-c', command], {
        encoding: 'utf8',
        cwd: '/',
      });
      assert.deepEqual([ended.status, ended.stdout, ended.stderr], [0, '', ''], command);
    }
    const listed = await run(process.execPath, [PROGRAM, '--dir', dir, 'backups', 'list', '--json']);
    const { sets } = JSON.parse(listed.stdout.trim().split('\n').at(-1)!) as { sets: { parts: string[] }[] };
    assert.deepEqual(sets.map(({ parts }) => parts.join(',')).sort(), [
      'config',
      'database,env',
      'env',
      'realms',
    ]);
  });

  it('prints units that systemd accepts, also for paths with special characters', async (t) => {
    const skip = missing('systemd-analyze');
    if (skip !== undefined) return t.skip(skip);
    const base = await makeDirectory(t, 'units');
    const dir = join(base, ODD);
    initPlatform(dir, { env: {} });
    const node = join(base, `no de %n '"$HOME`);
    await symlink(process.execPath, node);
    const env = { IDKIT_DATABASE_URL: `sqlite:${join(base, 'data base/x.db')}` };
    const settings = await loadSettings({ dir, env });
    const user = userInfo().username;
    for (const choices of [
      { user },
      { user, mailTo: 'ops@example.org', passphraseFile: join(base, 'a %b') },
    ]) {
      const into = await makeDirectory(t, 'into');
      const options = scheduleOptions(settings, choices);
      const { changes } = installSchedule(
        settings,
        'systemd',
        { ...options, program: [node, PROGRAM] },
        { into },
      );
      assert.equal(changes.length, 16);
      const files = changes.map(({ file }) => file);
      const verified = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
        encoding: 'utf8',
        env: { ...process.env, SYSTEMD_UNIT_PATH: `${into}:` },
      });
      assert.deepEqual([verified.status, verified.stdout, verified.stderr], [0, '', '']);
    }
  });

  it('gives each unit the user, absolute paths, a sandbox and a report of its failure, but no passphrase', async (t) => {
    const dir = await makeDirectory(t, 'units');
    const text = print(await loadSettings({ dir, env: {} }), 'systemd', { user: 'idkit' });
    const services = unitsOf(text).filter(([name]) => /^idkit(-(?!failure).*)?\.service$/.test(name));
    assert.equal(services.length, 8);
    for (const [name, unit] of services) {
      assert.match(unit, /^User=idkit$/m, name);
      assert.match(unit, /^ExecStart=\/\S+ \/\S+\/bin\/idkit\.js --dir \/\S+ [a-z]+/m, name);
      assert.match(unit, /^OnFailure=idkit-failure@%n\.service$/m, name);
      assert.match(unit, /^ProtectSystem=strict$/m, name);
      assert.match(unit, new RegExp(`^ReadWritePaths=-${dir}$`, 'm'), name);
    }
    const [, backup = ''] = services.find(([name]) => name === 'idkit-backup-database.service') ?? [];
    assert.match(backup, /^LoadCredential=passphrase:\/etc\/idkit\/passphrase$/m);
    assert.match(backup, /^Environment=IDKIT_BACKUP_PASSPHRASE_FILE=%d\/passphrase$/m);
    const [, serve = ''] = services.find(([name]) => name === 'idkit.service') ?? [];
    assert.doesNotMatch(serve, /passphrase/);
  });

  it('lets the units write to a backup root, a mirror and a database outside the platform directory', async (t) => {
    const dir = await makeDirectory(t, 'units');
    initPlatform(dir, { env: {} });
    const yaml =
      'backup: { root: /var/backups/idkit, mirror: /mnt/mirror }\ndatabase: sqlite:/var/lib/idkit/idkit.db\n';
    await writeFile(join(dir, 'idkit.yaml'), yaml);
    const text = print(await loadSettings({ dir, env: {} }), 'systemd', { user: 'idkit' });
    assert.match(
      text,
      new RegExp(`^ReadWritePaths=-${dir} -/var/lib/idkit -/var/backups/idkit -/mnt/mirror$`, 'm'),
    );
    await writeFile(join(dir, 'idkit.yaml'), 'listen: { port: 443 }\n');
    const low = print(await loadSettings({ dir, env: {} }), 'systemd', { user: 'idkit' });
    assert.match(low, /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m);
    // The platform directory of this test is below /tmp.
    assert.match(low, /^PrivateTmp=no$/m);
  });

  it('prints a timer for each procedure; the timers use UTC and catch up after a missed run', async (t) => {
    const settings = await loadSettings({ dir: await makeDirectory(t, 'schedule'), env: {} });
    const text = print(settings, 'systemd');
    const calendars = [...text.matchAll(/^OnCalendar=(.*)$/gm)].map(([, calendar]) => calendar);
    assert.equal(calendars.length, 7);
    assert.ok(calendars.every((calendar) => calendar?.endsWith(' UTC')));
    assert.equal(calendars[0], '*-*-* 02:00:00 UTC');
    assert.equal([...text.matchAll(/^Persistent=true$/gm)].length, 7);
  });

  it('renders the times of idkit.yaml for systemd, which agrees with cron on them', async (t) => {
    const skip = missing('systemd-analyze');
    if (skip !== undefined) return t.skip(skip);
    const now = Date.parse('2026-11-25T10:00:30Z');
    const expressions = [
      '5,35 */6 1-7,31 jan-mar *',
      '0 0 29 2 *',
      '@weekly',
      '0 2 13 * fri',
      '* * * * 0-2,7',
    ];
    for (const expression of expressions) {
      const times = renderCalendars(expression).map((calendar) => {
        const argv = ['calendar', `--base-time=@${now / 1000}`, calendar];
        const ended = spawnSync('systemd-analyze', argv, {
          encoding: 'utf8',
          env: { ...process.env, TZ: 'UTC' },
        });
        const [, next] = /Next elapse: \w+ (\S+ \S+) UTC/.exec(ended.stdout) ?? [];
        return Date.parse(`${next?.replace(' ', 'T')}Z`);
      });
      assert.equal(Math.min(...times), nextCronTime(expression, now, 'UTC'), expression);
    }
  });

  it('leaves out the jobs that idkit.yaml switches off, and refuses a schedule without one', async (t) => {
    const dir = await makeDirectory(t, 'schedule');
    initPlatform(dir, { env: {} });
    const timers = async (yaml: string) => {
      await writeFile(join(dir, 'idkit.yaml'), yaml);
      const text = print(await loadSettings({ dir, env: {} }), 'systemd', { user: 'idkit' });
      return unitsOf(text).flatMap(([name]) => (name.endsWith('.timer') ? [name] : []));
    };
    const some = 'schedule: { realms: "off", config: "off", env: "off", retention: "off", drill: "off" }\n';
    assert.deepEqual(await timers(some), ['idkit-backup-database.timer', 'idkit-verify.timer']);
    assert.ok((await timers('backup: { mirror: /mnt/m }\n')).includes('idkit-mirror.timer'));
    await assert.rejects(timers('schedule: { enabled: false }\n'), {
      code: 'IDKIT_SETTING',
      message: 'the schedule has no job',
    });
  });

  it('orders the services, so that services that systemd starts together run one after the other', async (t) => {
    const settings = await loadSettings({ dir: await makeDirectory(t, 'schedule'), env: {} });
    const text = print(settings, 'systemd', { timersOnly: true });
    const units = unitsOf(text).filter(([name]) => name.endsWith('.service') && !name.includes('failure'));
    const names = units.map(([name]) => name);
    const orders = units.slice(1).map(([, unit]) => /^After=(.*)$/m.exec(unit)?.[1]);
    assert.equal(names.length, 7);
    assert.deepEqual(
      orders,
      names.slice(1).map((_, index) => names.slice(0, index + 1).join(' ')),
    );
  });

  it('rejects names, users, addresses and paths that a unit or a crontab cannot contain', async (t) => {
    const dir = await makeDirectory(t, 'schedule');
    const settings = await loadSettings({ dir, env: {} });
    for (const choices of [
      { name: 'a b' },
      { name: '../idkit' },
      { user: 'a\nExecStart=/bin/sh' },
      { user: '-x' },
      { mailTo: 'a@b; reboot' },
      { mailTo: '"' },
      { passphraseFile: '/a\nb' },
    ])
      assert.throws(
        () => scheduleOptions(settings, choices),
        { code: 'IDKIT_USAGE' },
        JSON.stringify(choices),
      );
    const broken = join(dir, 'a\nb');
    await mkdir(broken);
    const database = 'sqlite:/x\nUser=root\n/y.db';
    for (const odd of [
      await loadSettings({ dir: broken, env: {} }),
      await loadSettings({ dir, env: { IDKIT_DATABASE_URL: database } }),
    ])
      assert.throws(() => scheduleOptions(odd, { user: 'idkit' }), {
        code: 'IDKIT_USAGE',
        message: /contains a control character/,
      });
  });

  it('the report of a failure contains the name of the unit, and goes to the mail address', async (t) => {
    const dir = await makeDirectory(t, 'failure');
    const text = print(await loadSettings({ dir, env: {} }), 'systemd', { mailTo: 'ops@example.org' });
    const [, unit = ''] = unitsOf(text).find(([name]) => name === 'idkit-failure@.service') ?? [];
    const [, quoted = '', rest] = /^ExecStart=\/bin\/sh -c "(.*)" idkit-failure (.*)$/m.exec(unit) ?? [];
    assert.equal(rest, '%i ops@example.org');
    // Reads the word as systemd does: C escapes, then `%%` and `$$`.
    const script = quoted.replace(/\\(.)/g, '$1').replaceAll('%%', '%').replaceAll('$$', '$');
    const bin = join(dir, 'bin');
    await mkdir(bin);
    for (const name of ['sendmail', 'journalctl']) {
      const body = name === 'sendmail' ? 'cat' : 'echo "log of $4"';
      await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`);
      await chmod(join(bin, name), 0o755);
    }
    const local = script.replace('/usr/sbin/sendmail', 'sendmail');
    const ended = spawnSync('/bin/sh', ['-c', local, 'x', 'idkit-verify.service', 'ops@example.org'], {
      env: { PATH: `${bin}:/usr/bin:/bin`, TMPDIR: tmpdir() },
      encoding: 'utf8',
    });
    assert.match(
      ended.stdout,
      /^To: ops@example\.org\nSubject: idkit-verify\.service failed on \S+\n\nlog of --unit=idkit-verify\.service\n$/,
    );
  });
});

/** Splits the printed units at the comments with their paths. */
function unitsOf(text: string): readonly (readonly [name: string, text: string])[] {
  return text
    .split(/^# \/etc\/systemd\/system\//m)
    .slice(1)
    .map((unit) => [unit.slice(0, unit.indexOf('\n')), unit.slice(unit.indexOf('\n') + 1)] as const);
}

/** Reads a crontab as cron does: variables, and commands in which an unescaped percent sign ends the line. */
function readCrontab(text: string): { variables: Record<string, string>; commands: readonly string[] } {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const variables = lines.flatMap((line) => {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value!] as const];
  });
  const commands = lines.flatMap((line) => {
    const [, command] = /^(?:\S+ ){5}(.*)$/.exec(line) ?? [];
    if (command === undefined || !/^[\d*]/.test(line)) return [];
    const end = /(?<!\\)%/.exec(command)?.index ?? command.length;
    return [command.slice(0, end).replaceAll('\\%', '%')];
  });
  return { variables: Object.fromEntries(variables), commands };
}

function pairs(env: Record<string, string>): readonly string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}
