import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownDirectory, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { findEntry } from '../../files/index.ts';
import { renderCrontab } from './cron.ts';
import type { InstallResult, ScheduleOptions, Scheduler } from './options.ts';
import { applyChanges, type FilePlan, planFiles, type ScheduledFile } from './owned-files.ts';
import { quoteForShell } from './quote.ts';
import { listWritable } from './sandbox.ts';
import { isUnitOf, listEnabled, renderUnits } from './systemd.ts';
import { plannedTimers } from './timers.ts';

/** The directory in which each scheduler reads the files of the machine. */
export const SCHEDULER_DIRECTORIES: Readonly<Record<Scheduler, string>> = {
  systemd: '/etc/systemd/system',
  cron: '/etc/cron.d',
};

/** What the caller chooses. The other facts come from the machine. */
export interface ScheduleChoices {
  /** Default: idkit. */
  name?: string;
  /** Default: the owner of the platform directory. */
  user?: string;
  mailTo?: string;
  /** Without `serve`. Default: false. */
  timersOnly?: boolean;
  /** `IDKIT_BACKUP_PASSPHRASE_FILE`. Default: /etc/NAME/passphrase. */
  passphraseFile?: string;
}

/**
 * Completes the choices with the facts of this machine: the running program, and the owner of the platform directory.
 *
 * @throws IDKIT_USAGE for a name, user or address that a unit or crontab cannot contain, and for a path with a control
 *   character
 */
export function scheduleOptions(settings: Settings, choices: ScheduleChoices): ScheduleOptions {
  const { name = 'idkit', mailTo, timersOnly = false } = choices;
  const owner = choices.user ?? findOwner(settings.dir);
  const options: ScheduleOptions = {
    dir: settings.dir,
    timers: plannedTimers(settings),
    jitterSeconds: settings.schedule.jitterSeconds,
    name,
    program: [process.execPath, fileURLToPath(new URL('bin/idkit.js', ownDirectory()))],
    user: owner,
    userChosen: choices.user !== undefined,
    home: findUser(owner)?.home,
    passphraseFile: choices.passphraseFile ?? `/etc/${name}/passphrase`,
    mailTo,
    withService: !timersOnly && settings.runtime === 'embedded' && settings.service === 'idkit',
  };
  check('--name', name, /^[a-z][a-z0-9-]{0,40}$/, 'lower-case letters, digits and hyphens');
  check('--user', owner, /^([a-z_][a-z0-9_.-]{0,30}\$?|\d{1,10})$/i, 'the name or the number of a user');
  if (mailTo !== undefined)
    check('--mail-to', mailTo, /^[\w.+-]+(@[A-Za-z0-9.-]+)?$/, 'one mail address, or the name of a user');
  // A line end in a path of idkit.yaml would add a line to a unit, which root installs.
  const paths = [...options.program, options.passphraseFile, ...listWritable(settings)];
  for (const path of paths)
    if (/[\0-\x1f\x7f]/.test(path))
      throw new IdkitError(
        'IDKIT_USAGE',
        `the path ${JSON.stringify(path)} contains a control character, which a schedule cannot contain`,
      );
  return options;
}

function check(flag: string, value: string, pattern: RegExp, expected: string): void {
  if (pattern.test(value)) return;
  throw new IdkitError('IDKIT_USAGE', `${flag} must be ${expected}, not ${JSON.stringify(value)}`);
}

/** Renders the text that `idkit schedule` prints: a crontab for `crontab -e`, or every unit with its path. */
export function renderSchedule(settings: Settings, scheduler: Scheduler, options: ScheduleOptions): string {
  checkTimers(options);
  if (scheduler === 'cron') {
    return `# idkit: timers for ${settings.dir}. Install them with crontab -e as the user ${options.user}.\n${renderCrontab(options, false)}`;
  }
  return showFiles({
    into: SCHEDULER_DIRECTORIES.systemd,
    files: renderUnits(settings, options),
    next: enableCommands(options),
  });
}

/** Renders files one after the other, each after a comment with its path. */
export function showFiles({ into, files, next }: Omit<InstallResult, 'changes'>): string {
  const shown = files.map(({ name, text }) => `# ${join(into, name)}\n${text}`);
  return [...shown, next.map((line) => `# ${line}\n`).join('')].join('\n');
}

/**
 * Installs the schedule for systemd or cron, or removes it. A file that idkit did not write, or that was changed since,
 * stops the whole installation before anything is written.
 *
 * @param work `plan` decides, and changes nothing
 * @throws IDKIT_USAGE if root would run the schedule without being named, or a unit to remove is enabled
 * @throws IDKIT_FAILED for a file that is not idkit's own; IDKIT_DIRECTORY_NOT_WRITABLE; IDKIT_NO_SPACE
 */
export function installSchedule(
  settings: Settings,
  scheduler: Scheduler,
  options: ScheduleOptions,
  work: { into?: string; remove?: boolean; plan?: boolean },
): InstallResult {
  const { into = SCHEDULER_DIRECTORIES[scheduler], remove = false } = work;
  if (!remove) {
    checkTimers(options);
    checkUser(scheduler, options);
  }
  const files = remove ? [] : renderFiles(settings, scheduler, options);
  const matches = scheduler === 'cron' ? (name: string) => name === options.name : isUnitOf(options.name);
  const plan: FilePlan = { into, dir: settings.dir, files, matches };
  const changes = planFiles(plan);
  if (remove && scheduler === 'systemd')
    checkDisabled(
      into,
      changes.map(({ file }) => basename(file)),
    );
  if (work.plan !== true) applyChanges(plan, changes);
  return {
    into,
    changes,
    files,
    next: remove ? afterRemoval(scheduler) : afterInstallation(scheduler, options),
  };
}

/** @throws IDKIT_SETTING without a job */
function checkTimers({ timers }: ScheduleOptions): void {
  if (timers.length > 0) return;
  throw new IdkitError('IDKIT_SETTING', 'the schedule has no job', {
    hints: ['set schedule.enabled to true, and the times of at least one job, in idkit.yaml'],
  });
}

/**
 * @throws IDKIT_USAGE if root would run everything only because it owns the directory, if the user cannot run the
 *   program, and for a user without a name in a crontab
 */
function checkUser(scheduler: Scheduler, { dir, user, userChosen, program }: ScheduleOptions): void {
  if (!userChosen && (user === 'root' || user === '0')) {
    throw new IdkitError(
      'IDKIT_USAGE',
      `${dir} belongs to root, so the service and the timers would run as root, which they do not need`,
      {
        hints: [
          `give the directory to the user of the service: chown -R idkit: ${dir}`,
          'or name a user with --user; --user root accepts root',
        ],
      },
    );
  }
  if (scheduler === 'cron' && /^\d+$/.test(user))
    throw new IdkitError('IDKIT_USAGE', `a crontab needs the name of a user, but ${user} has no name`, {
      hints: ['name a user with --user'],
    });
  const closed = program
    .map((path) => findClosed(path, findUser(user)?.uid))
    .find((path) => path !== undefined);
  if (closed !== undefined)
    throw new IdkitError(
      'IDKIT_USAGE',
      `the user ${user} cannot enter ${closed}, so it cannot run the program`,
      {
        hints: ['install Node.js and idkit where every user can run them, such as below /usr/local'],
      },
    );
}

/**
 * Returns the first directory above a file that a user cannot enter. Does not know the groups of the user, so it accepts
 * a directory that a group can enter.
 */
function findClosed(file: string, uid: number | undefined): string | undefined {
  if (uid === 0) return undefined;
  const parts = dirname(file).split('/').slice(1);
  const above = parts.map((_, at) => `/${parts.slice(0, at + 1).join('/')}`);
  return above.find((dir) => {
    const { mode, uid: owner } = statSync(dir);
    return owner === uid ? (mode & 0o100) === 0 : (mode & 0o011) === 0;
  });
}

/** Returns the commands that an operator runs after an installation. */
function afterInstallation(scheduler: Scheduler, options: ScheduleOptions): readonly string[] {
  const { passphraseFile, user } = options;
  // systemd reads the file as root. cron's commands read it as their user.
  const owner = scheduler === 'cron' ? ` -o ${user}` : '';
  const file = quoteForShell(passphraseFile);
  const isMissing = findEntry(passphraseFile) === undefined;
  return [
    ...(isMissing ? [`install -D -m 0600${owner} /dev/null ${file}`, `editor ${file}`] : []),
    // The units of systemd need only a file of root, which a timer of cron cannot read.
    ...(!isMissing && scheduler === 'cron' && !isOwnedBy(passphraseFile, user)
      ? [`chown ${user} ${file}`, `chmod 0600 ${file}`]
      : []),
    ...(scheduler === 'systemd' ? enableCommands(options) : []),
  ];
}

/** Whether a user owns a file, or is root, which can read every file. */
function isOwnedBy(file: string, user: string): boolean {
  const uid = findUser(user)?.uid;
  return uid === 0 || uid === statSync(file).uid;
}

function afterRemoval(scheduler: Scheduler): readonly string[] {
  return scheduler === 'systemd' ? ['systemctl daemon-reload'] : [];
}

function renderFiles(
  settings: Settings,
  scheduler: Scheduler,
  options: ScheduleOptions,
): readonly ScheduledFile[] {
  return scheduler === 'systemd'
    ? renderUnits(settings, options)
    : [{ name: options.name, text: renderCrontab(options, true) }];
}

function enableCommands(options: ScheduleOptions): readonly string[] {
  return ['systemctl daemon-reload', `systemctl enable --now ${listEnabled(options).join(' ')}`];
}

/** A removed unit that is still enabled or running would stay in systemd without its file. */
function checkDisabled(into: string, names: readonly string[]): void {
  const enabled = names.filter((name) =>
    ['multi-user.target.wants', 'timers.target.wants'].some(
      (folder) => findEntry(join(into, folder, name)) !== undefined,
    ),
  );
  if (enabled.length === 0) return;
  throw new IdkitError('IDKIT_USAGE', `${enabled.join(', ')} are enabled; nothing was removed`, {
    hints: [`run systemctl disable --now ${enabled.join(' ')}, and then this command again`],
  });
}

/** Returns the name of the owner of a directory, or the number if the user has no name. */
function findOwner(dir: string): string {
  const { uid } = statSync(dir);
  return listUsers().find((user) => user.uid === uid)?.name ?? String(uid);
}

function findUser(name: string): User | undefined {
  return listUsers().find((user) => user.name === name || String(user.uid) === name);
}

interface User {
  name: string;
  uid: number;
  home: string;
}

function listUsers(): readonly User[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 6)
    .map(([name = '', , uid, , , home = '']) => ({ name, uid: Number(uid), home }));
}
