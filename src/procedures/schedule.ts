import type { Settings } from '../config/index.ts';

/** One timer. Times are UTC. */
export interface Timer {
  id: string;
  /** The arguments after the name of the program and `--dir`. */
  arguments: readonly string[];
  /** The fields minute, hour, day of month, month and day of week. */
  cron: string;
  /** systemd's OnCalendar expression. */
  calendar: string;
  why: string;
}

/** Stands for the limit of the setting `backup.maxAgeHours`. */
const MAX_AGE = '{maxAge}';

/** Database and realms are backed up daily, configuration and environment weekly. A drill runs monthly. */
export const TIMERS: readonly Timer[] = [
  {
    id: 'backup-database',
    arguments: ['backup', '--only', 'database,env'],
    cron: '0 2 * * *',
    calendar: '*-*-* 02:00:00 UTC',
    why: 'database backup, daily at 02:00 UTC, with the environment so that the set can be restored',
  },
  {
    id: 'backup-realms',
    arguments: ['backup', '--only', 'realms'],
    cron: '30 2 * * *',
    calendar: '*-*-* 02:30:00 UTC',
    why: 'realm export, daily at 02:30 UTC',
  },
  {
    id: 'backup-config',
    arguments: ['backup', '--only', 'config'],
    cron: '0 3 * * 0',
    calendar: 'Sun *-*-* 03:00:00 UTC',
    why: 'configuration archive, weekly, 4 versions kept',
  },
  {
    id: 'backup-env',
    arguments: ['backup', '--only', 'env'],
    cron: '15 3 * * 0',
    calendar: 'Sun *-*-* 03:15:00 UTC',
    why: 'encrypted environment file, weekly, off-site through the mirror, 4 versions kept',
  },
  {
    id: 'verify',
    arguments: ['verify', '--latest', '--max-age', MAX_AGE],
    cron: '0 4 * * *',
    calendar: '*-*-* 04:00:00 UTC',
    why: 'check that the newest backup is intact and not too old, daily',
  },
  {
    id: 'drill',
    arguments: ['verify', '--latest', '--drill'],
    cron: '0 5 1 * *',
    calendar: '*-*-01 05:00:00 UTC',
    why: 'backup verification and test restore, monthly',
  },
];

/** Renders cron lines or systemd units. They start idkit with `command`. */
export function renderSchedule(
  settings: Settings,
  options: { format: 'cron' | 'systemd'; command: string },
): string {
  return options.format === 'cron'
    ? renderCron(settings, options.command)
    : renderSystemd(settings, options.command);
}

function renderCron(settings: Settings, command: string): string {
  const lines = TIMERS.flatMap((timer) => [
    `# ${timer.why}`,
    `${timer.cron} ${commandLine(command, quoteForShell(settings.dir), { settings, timer }).replaceAll('%', '\\%')}`,
  ]);
  return [
    `# idkit: timers for ${settings.dir}. Install them with crontab -e as the user that runs the service.`,
    '# Times are UTC. A cron that does not support CRON_TZ uses the time zone of the machine.',
    'CRON_TZ=UTC',
    '# This file contains the passphrase of env.gpg. Make it readable only for this user.',
    'IDKIT_BACKUP_PASSPHRASE_FILE=/etc/idkit/passphrase',
    ...lines,
    '',
  ].join('\n');
}

function renderSystemd(settings: Settings, command: string): string {
  const units = TIMERS.map((timer, index) => {
    const line = commandLine(command, quoteForSystemd(settings.dir), { settings, timer });
    const earlier = TIMERS.slice(0, index).map(({ id }) => `idkit-${id}.service`);
    return [
      `# /etc/systemd/system/idkit-${timer.id}.service`,
      '[Unit]',
      `Description=idkit: ${timer.why}`,
      // After downtime, systemd starts all missed services together, and they need the lock of the backup root.
      ...(earlier.length === 0 ? [] : [`After=${earlier.join(' ')}`]),
      '[Service]',
      'Type=oneshot',
      'Environment=IDKIT_BACKUP_PASSPHRASE_FILE=/etc/idkit/passphrase',
      `ExecStart=${line}`,
      '',
      `# /etc/systemd/system/idkit-${timer.id}.timer`,
      '[Unit]',
      `Description=idkit: ${timer.why}`,
      '[Timer]',
      `OnCalendar=${timer.calendar}`,
      'Persistent=true',
      '[Install]',
      'WantedBy=timers.target',
      '',
    ].join('\n');
  });
  const names = TIMERS.map(({ id }) => `idkit-${id}.timer`).join(' ');
  return `${units.join('\n')}\n# systemctl daemon-reload && systemctl enable --now ${names}\n`;
}

function commandLine(
  command: string,
  dir: string,
  { settings, timer }: { settings: Settings; timer: Timer },
): string {
  const maxAge = `${settings.backup.maxAgeHours}h`;
  const words = timer.arguments.map((word) => (word === MAX_AGE ? maxAge : word));
  return [command, '--dir', dir, ...words, '--quiet'].join(' ');
}

const PLAIN = /^[A-Za-z0-9_./@:+,-]+$/;

function quoteForShell(path: string): string {
  return PLAIN.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Uses double quotes, C escapes, `%%` and `$$` (systemd.service(5)). */
function quoteForSystemd(path: string): string {
  if (PLAIN.test(path)) return path;
  return `"${path.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;
}
