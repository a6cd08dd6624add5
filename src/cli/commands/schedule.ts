import { resolve } from 'node:path';
import { Argument, Option } from 'commander';
import type { JobId } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { InstallResult, ScheduleChoices, Scheduler } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given, textFlag } from '../flags.ts';
import { renderTable } from '../output/render-table.ts';
import { wrapCommandLine } from '../output/wrap.ts';
import { terminalWidth } from '../terminal.ts';

/** The flags that only `idkit schedule install` accepts. */
const INSTALL_FLAGS = ['systemd', 'cron', 'into', 'dryRun', 'print', 'remove'];

/** The names of `JOBS`, which help must not load. */
const JOB_NAMES: readonly JobId[] = [
  'backup-database',
  'backup-realms',
  'backup-config',
  'backup-env',
  'verify',
  'mirror',
  'retention',
  'drill',
];

/** The flags that printing and installing share. */
const TIMER_FLAGS = ['format', 'user', 'name', 'mailTo', 'timersOnly'];

/** The flags that only `idkit schedule run` accepts. */
const RUN_FLAGS = ['once', 'job'];

/** `idkit schedule [run|install]` */
export function addSchedule(program: CliCommand, run: Runner): void {
  program
    .command('schedule')
    .description('run the jobs of the platform, or print or install the service and the timers that run them')
    .addArgument(
      new Argument('[action]', 'print, the default, run or install').choices(['print', 'run', 'install']),
    )
    .option('--once', 'run the jobs that are due, then exit')
    .addOption(
      new Option('--job <name>', 'run this job now, then exit; with --once, only if it is due').choices(
        JOB_NAMES,
      ),
    )
    .addOption(new Option('--format <kind>', 'what to print (default: cron)').choices(['cron', 'systemd']))
    .option('--systemd', 'install units for serve and the timers in /etc/systemd/system')
    .option('--cron', 'install the timers in /etc/cron.d')
    .option('--user <name>', 'the user that runs them (default: the owner of the platform directory)')
    .option('--name <name>', 'the name of the service, for several platforms on a machine (default: idkit)')
    .option('--mail-to <address>', 'mail failures to this address (default: with cron, root)')
    .option('--timers-only', 'leave out the unit of serve')
    .option('--into <dir>', 'install into another directory')
    .option('--dry-run', 'report which files would be written, but write nothing')
    .option('--print', 'print the files instead of writing them')
    .option('--remove', 'remove the files that install wrote')
    .examples([
      ['(crontab -l; idkit schedule) | crontab -', 'adds the lines to your crontab'],
      ['idkit schedule run', 'runs each job when it is due, in the foreground'],
      ['idkit schedule run --job backup-database', 'runs one job now'],
      ['idkit schedule --format systemd', 'prints unit and timer files'],
      ['idkit schedule install --systemd', 'writes them, and prints the commands that start them'],
      ['idkit schedule install --cron --mail-to ops@example.org', 'writes /etc/cron.d/idkit'],
      ['idkit schedule install --systemd --remove', 'removes the units again'],
    ])
    .action(
      run((context, flags, [action = 'print']) => {
        checkFlags(action, flags);
        if (action === 'run') return runJobs(context, flags);
        return action === 'install' ? install(context, flags) : print(context, flags);
      }),
    );
}

/** @throws IDKIT_USAGE for a flag of another action */
function checkFlags(action: string, flags: Flags): void {
  const groups = { install: INSTALL_FLAGS, run: RUN_FLAGS, print: [] };
  for (const [owner, names] of Object.entries(groups)) {
    const wrong = owner === action ? undefined : names.find((name) => flags[name] !== undefined);
    if (wrong !== undefined)
      throw new IdkitError('IDKIT_USAGE', `--${flagName(wrong)} belongs to idkit schedule ${owner}`);
  }
  const other = action === 'run' ? TIMER_FLAGS.find((name) => flags[name] !== undefined) : undefined;
  if (other !== undefined)
    throw new IdkitError('IDKIT_USAGE', `--${flagName(other)} does not belong to idkit schedule run`);
}

/** Runs the jobs in the foreground until a signal ends it, or only those that are wanted now. */
async function runJobs(context: CommandContext, flags: Flags): Promise<Outcome> {
  const settings = await context.loadPlatform();
  const { runSchedule, runScheduleOnce } = await import('../../procedures/index.ts');
  const job = textFlag(flags, 'job') as JobId | undefined;
  const options = { ...context.procedure, env: context.env, ...given('job', job) };
  if (job === undefined && flags['once'] !== true) {
    await runSchedule(settings, options);
    return {};
  }
  const result = await runScheduleOnce(settings, options, flags['once'] === true ? 'due' : 'now');
  const jobs = result.jobs.map(({ job: name, run }) => ({ job: name, ...run }));
  const lines = jobs.map(({ job: name, outcome }) => `${name}: ${outcome}`);
  return {
    data: { jobs },
    text: lines.length === 0 ? 'no job is due' : lines.join('\n'),
    findings: result.findings,
    ...given('failure', result.failure),
  };
}

async function print(context: CommandContext, flags: Flags): Promise<Outcome> {
  const settings = await context.loadPlatform();
  const format = (textFlag(flags, 'format') ?? 'cron') as Scheduler;
  const { renderSchedule, scheduleOptions } = await import('../../procedures/index.ts');
  const text = renderSchedule(settings, format, scheduleOptions(settings, readChoices(context, flags)));
  return { data: { format, schedule: text }, text: text.trimEnd(), verbatim: true };
}

async function install(context: CommandContext, flags: Flags): Promise<Outcome> {
  if (flags['format'] !== undefined)
    throw new IdkitError('IDKIT_USAGE', '--format prints a schedule; install takes --systemd or --cron');
  const [scheduler, other] = (['systemd', 'cron'] as const).filter((name) => flags[name] === true);
  if (scheduler === undefined || other !== undefined)
    throw new IdkitError('IDKIT_USAGE', 'idkit schedule install needs either --systemd or --cron', {
      hints: ['idkit schedule install --systemd installs the service and its timers'],
    });
  const settings = await context.loadPlatform();
  const { installSchedule, scheduleOptions, showFiles } = await import('../../procedures/index.ts');
  const options = scheduleOptions(settings, readChoices(context, flags));
  const printed = flags['print'] === true;
  const into = textFlag(flags, 'into');
  const result = installSchedule(settings, scheduler, options, {
    plan: printed || flags['dryRun'] === true,
    remove: flags['remove'] === true,
    ...given('into', into === undefined ? undefined : resolve(context.cwd, into)),
  });
  const data = { scheduler, user: options.user, changes: result.changes, next: result.next };
  if (printed) return { data: { ...data, files: result.files }, text: showFiles(result), verbatim: true };
  return {
    data,
    text: renderChanges(result, flags['dryRun'] === true, terminalWidth(context.terminal)),
    verbatim: true,
  };
}

/** Reads the flags that printing and installing share. The passphrase file comes from its variable. */
function readChoices({ env, cwd }: CommandContext, flags: Flags): ScheduleChoices {
  const passphraseFile = env['IDKIT_BACKUP_PASSPHRASE_FILE'];
  return {
    ...given('name', textFlag(flags, 'name')),
    ...given('user', textFlag(flags, 'user')),
    ...given('mailTo', textFlag(flags, 'mailTo')),
    ...given('passphraseFile', passphraseFile ? resolve(cwd, passphraseFile) : undefined),
    timersOnly: flags['timersOnly'] === true,
  };
}

const DONE = { create: 'wrote', update: 'replaced', keep: 'unchanged', remove: 'removed' } as const;
const PLANNED = { create: 'write', update: 'replace', keep: 'unchanged', remove: 'remove' } as const;

function renderChanges(
  { changes, next }: InstallResult,
  planned: boolean,
  width: number | undefined,
): string {
  if (changes.length === 0) return 'idkit has no files here';
  const table = renderTable(
    [
      { title: 'CHANGE', field: 'change' },
      { title: 'FILE', field: 'file' },
    ],
    changes.map(({ file, change }) => ({ file, change: (planned ? PLANNED : DONE)[change] })),
    width,
  );
  const commands =
    next.length === 0 || planned
      ? []
      : [
          '',
          'Next, run:',
          ...next.flatMap((line) =>
            wrapCommandLine(line, (width ?? Number.POSITIVE_INFINITY) - 2).map((part) => `  ${part}`),
          ),
        ];
  return [table, ...commands].join('\n');
}

function flagName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
