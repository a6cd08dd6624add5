import type { Settings } from '../../config/index.ts';
import { renderCalendars } from './calendar.ts';
import type { ScheduleOptions } from './options.ts';
import { markFile, type ScheduledFile } from './owned-files.ts';
import { escapeForUnit, quoteForExec } from './quote.ts';
import { renderSandbox } from './sandbox.ts';
import { type PlannedTimer, timerArguments } from './timers.ts';

/** Seconds that `serve` gets to finish its last requests, in addition to `listen.drainSeconds`. */
const STOP_SECONDS = 60;

/** The exit codes of `serve` that another start cannot cure: wrong settings, secrets, data or versions. */
const FINAL_EXITS = '2 12 13 14';

/** Renders every unit: the service, a service and a timer for each procedure, and the unit that reports failures. */
export function renderUnits(settings: Settings, options: ScheduleOptions): readonly ScheduledFile[] {
  const { name, dir, timers } = options;
  const units = [
    ...(options.withService ? [[`${name}.service`, renderService(settings, options)] as const] : []),
    ...timers.flatMap((timer, index) => [
      [
        `${name}-${timer.id}.service`,
        renderProcedure(settings, options, timer, timers.slice(0, index)),
      ] as const,
      [`${name}-${timer.id}.timer`, renderTimer(timer, options)] as const,
    ]),
    [`${name}-failure@.service`, renderFailure(options)] as const,
  ];
  return units.map(([file, lines]) => ({ name: file, text: markFile(dir, `${lines.join('\n')}\n`) }));
}

/** Returns whether a file can be a unit of a schedule with this name, in this or in an earlier version of idkit. */
export function isUnitOf(name: string): (file: string) => boolean {
  const pattern = new RegExp(
    `^${name}(-(backup-[a-z]+|verify|mirror|retention|drill|failure@))?\\.(service|timer)$`,
  );
  return (file) => pattern.test(file);
}

/** Returns the units that an operator enables. The timers start the other ones. */
export function listEnabled({ name, withService, timers }: ScheduleOptions): readonly string[] {
  return [...(withService ? [`${name}.service`] : []), ...timers.map(({ id }) => `${name}-${id}.timer`)];
}

function renderService(settings: Settings, options: ScheduleOptions): readonly string[] {
  const drain = settings.listen.drainSeconds ?? 3;
  const database = settings.database.kind === 'postgres' ? ' postgresql.service' : '';
  return [
    '[Unit]',
    `Description=idkit: token service of ${escapeForUnit(options.dir)}`,
    'Wants=network-online.target',
    `After=network-online.target${database}`,
    reportFailures(options),
    '# The service starts again for as long as a database or a network is missing.',
    'StartLimitIntervalSec=0',
    '[Service]',
    'Type=exec',
    `User=${options.user}`,
    `ExecStart=${commandLine(options, ['serve'])}`,
    'Restart=on-failure',
    'RestartSec=2',
    `RestartPreventExitStatus=${FINAL_EXITS}`,
    'KillMode=mixed',
    `TimeoutStopSec=${drain + STOP_SECONDS}`,
    'LimitNOFILE=65536',
    ...cacheLines(options),
    ...renderSandbox(settings, options),
    '[Install]',
    'WantedBy=multi-user.target',
  ];
}

function renderProcedure(
  settings: Settings,
  options: ScheduleOptions,
  timer: PlannedTimer,
  earlier: readonly PlannedTimer[],
): readonly string[] {
  const { name, user, passphraseFile, withService } = options;
  // After downtime, systemd starts all missed services together, and they need the lock of the backup root.
  const before = [
    ...(withService ? [`${name}.service`] : []),
    ...earlier.map(({ id }) => `${name}-${id}.service`),
  ];
  return [
    '[Unit]',
    `Description=idkit: ${escapeForUnit(timer.why)}`,
    ...(before.length === 0 ? [] : [`After=${before.join(' ')}`]),
    reportFailures(options),
    '[Service]',
    'Type=oneshot',
    `User=${user}`,
    '# Only this unit can read the passphrase, from a copy that systemd makes of the file.',
    `LoadCredential=passphrase:${escapeForUnit(passphraseFile)}`,
    'Environment=IDKIT_BACKUP_PASSPHRASE_FILE=%d/passphrase',
    `ExecStart=${commandLine(options, timerArguments(timer))}`,
    '# Only the scheduler gets SIGTERM, and ends its command.',
    'KillMode=mixed',
    'Nice=10',
    ...cacheLines(options),
    ...renderSandbox(settings, options),
  ];
}

function renderTimer({ why, cron }: PlannedTimer, { jitterSeconds }: ScheduleOptions): readonly string[] {
  return [
    '[Unit]',
    `Description=idkit: ${escapeForUnit(why)}`,
    '[Timer]',
    ...renderCalendars(cron).map((calendar) => `OnCalendar=${calendar}`),
    ...(jitterSeconds === 0 ? [] : [`RandomizedDelaySec=${jitterSeconds}`]),
    'Persistent=true',
    '[Install]',
    'WantedBy=timers.target',
  ];
}

/**
 * Renders the unit that reports the failure of another unit, with the last lines of its log. It does not need idkit,
 * which may be what fails. The command reads its words from arguments, so no name becomes a part of the program.
 */
function renderFailure({ user, mailTo }: ScheduleOptions): readonly string[] {
  const report = 'journalctl --no-pager --output=short-iso --lines=50 --unit="$1"';
  const [program, ...words] =
    mailTo === undefined
      ? [`{ echo "$1 failed"; ${report}; } | systemd-cat -t idkit-failure -p alert`, '%i']
      : [
          `{ printf "To: %s\\nSubject: %s failed on %s\\n\\n" "$2" "$1" "$(uname -n)"; ${report}; } | /usr/sbin/sendmail -t`,
          '%i',
          mailTo,
        ];
  return [
    '[Unit]',
    'Description=idkit: report the failure of %i',
    '[Service]',
    'Type=oneshot',
    `User=${user}`,
    'SupplementaryGroups=systemd-journal',
    `ExecStart=/bin/sh -c ${quoteForExec(program ?? '')} idkit-failure ${words.join(' ')}`,
  ];
}

function reportFailures({ name }: ScheduleOptions): string {
  return `OnFailure=${name}-failure@%n.service`;
}

/** Node.js keeps compiled code in this directory, so that each start takes less time. */
function cacheLines({ name }: ScheduleOptions): readonly string[] {
  return [`CacheDirectory=${name}`, 'CacheDirectoryMode=0700', `Environment=NODE_COMPILE_CACHE=%C/${name}`];
}

/**
 * Returns the command line of a unit. systemd accepts quotes and escapes in the arguments of a command, but not in the
 * path of its program, so a shell starts a Node.js whose path needs them.
 */
function commandLine({ program, dir }: ScheduleOptions, words: readonly string[]): string {
  const command = [...program, '--dir', dir, ...words].map(quoteForExec);
  const isPlain = command[0] === program[0];
  return [...(isPlain ? [] : ['/bin/sh', '-c', quoteForExec('exec "$0" "$@"')]), ...command].join(' ');
}
