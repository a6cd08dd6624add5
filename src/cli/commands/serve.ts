import type { Settings } from '../../config/index.ts';
import { IdkitError, renderCount } from '../../core/index.ts';
import type { OpenedLog, RunningService, ServeOptions, WorkerLink } from '../../service/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { toIdkitError } from '../exit.ts';
import { textFlag, wholeNumber } from '../flags.ts';
import { oneLine } from '../output/output.ts';

/** `idkit serve` */
export function addServe(program: CliCommand, run: Runner): void {
  program
    .command('serve')
    .description(
      'run the token service in the foreground, and create the platform directory if it does not exist',
    )
    .settingFlags('serve')
    .option(
      '--workers <number>',
      'the number of processes that share the port (default: 1); more than 1 needs Postgres',
    )
    .option(
      '--new-secrets',
      'generate new secrets where realm files contain a mask or an unresolved placeholder',
    )
    .examples([
      ['idkit serve', 'http://127.0.0.1:8080, data in ./idkit'],
      ['idkit serve --port 9443 --tls-cert cert.pem --tls-key key.pem', 'https'],
      ['idkit serve --base-url https://login.example.org', 'behind a proxy (trustedProxies in idkit.yaml)'],
      ['idkit serve --database postgres://idkit@db/idkit --workers 4', 'four processes on Postgres'],
    ])
    .action(run(serve));
}

async function serve(context: CommandContext, flags: Flags): Promise<Outcome> {
  const workers = readWorkers(flags);
  const settings = await loadOrInit(context, flags);
  checkWorkers(settings, workers);
  const { findWorkerLink, startService, startWorkers } = await import('../../service/index.ts');
  if (workers > 1) {
    const link = await findWorkerLink();
    if (link !== undefined) return runWorker(context, flags, settings, link);
  }
  const { stdout, stderr } = context.terminal;
  const onTerminal = stderr.isTTY === true && !context.globals.json;
  // With `serve > FILE`, the banner goes to the terminal and the log to the file.
  const log =
    onTerminal && stdout.isTTY === true ? undefined : await openLog(context, { shared: workers > 1 });
  const service = await (workers > 1
    ? startWorkers(settings, workers, log)
    : startService(settings, {
        newSecrets: flags['newSecrets'] === true,
        // The progress of an import goes to the log. Without a log, the terminal shows it as steps.
        ...(log === undefined ? { progress: showImport(context) } : { log }),
      }));
  const stopped = once(context.signal);
  const archive = await openArchive(context, settings, log);
  for (const note of service.notes) context.reporter.note(note);
  if (onTerminal) await showBanner(context, settings, service);
  else await noteSecretsFile(context, settings, service);
  await stopped;
  if (onTerminal && !context.globals.quiet) {
    context.terminal.stderr.write('\nstopping: requests in progress have up to 10 s to finish\n');
  }
  await service.close();
  await archive?.close();
  log?.flush();
  return { data: { address: service.address, baseUrl: service.baseUrl, dir: settings.dir } };
}

/** Archives every transaction of a Postgres database, if the settings name an archive. */
async function openArchive(context: CommandContext, settings: Settings, log: OpenedLog | undefined) {
  if (settings.backup.archive === null || settings.database.kind !== 'postgres') return undefined;
  const { startArchive } = await import('../../platform/open.ts');
  const { archiveReporter } = await import('./archive-reporter.ts');
  return startArchive(settings, archiveReporter(context.reporter, log));
}

/** Returns a function that shows the phases of an import as steps, with the users that each phase has handled. */
function showImport({ reporter }: CommandContext): NonNullable<ServeOptions['progress']> {
  let running: { id: string; began: number } | undefined;
  const finish = (summary?: string) => {
    if (running === undefined) return;
    const { id, began } = running;
    const milliseconds = Math.round(performance.now() - began);
    reporter.stepFinished({ id, milliseconds, ...(summary === undefined ? {} : { summary }) });
    running = undefined;
  };
  return ({ realm, phase, done, total }) => {
    if (phase === 'imported') return finish(renderCount(total, 'user'));
    const id = `${realm} ${phase}`;
    if (running?.id !== id) {
      finish();
      running = { id, began: performance.now() };
      const number = IMPORT_PHASES.indexOf(phase) + 1;
      const title = IMPORT_TITLES[phase](realm);
      reporter.stepStarted({ id, title, number, of: IMPORT_PHASES.length });
    }
    // The users are stored in one transaction, of which no part is visible.
    if (phase !== 'stored') reporter.stepProgress({ id, done, total, unit: 'items' });
  };
}

const IMPORT_PHASES = ['checked', 'prepared', 'stored'] as const;

const IMPORT_TITLES = {
  checked: (realm: string) => `Check the users of realm ${realm}`,
  prepared: (realm: string) => `Prepare the users of realm ${realm}`,
  stored: (realm: string) => `Store realm ${realm}`,
} as const;

function readWorkers(flags: Flags): number {
  const text = textFlag(flags, 'workers');
  return text === undefined ? 1 : wholeNumber(text, '--workers', { from: 1, to: 1024 });
}

function checkWorkers({ database }: Settings, workers: number): void {
  if (workers === 1 || database.kind === 'postgres') return;
  throw new IdkitError('IDKIT_USAGE', '--workers above 1 needs a postgres:// database', {
    hints: ['remove --workers, or set --database to a postgres:// address'],
  });
}

/** Runs one worker of `--workers`. The worker only logs; its parent process writes to the terminal. */
async function runWorker(
  context: CommandContext,
  flags: Flags,
  settings: Settings,
  link: WorkerLink,
): Promise<never> {
  const { stdout, stderr } = context.terminal;
  const silent = stderr.isTTY === true && !context.globals.json && stdout.isTTY === true;
  const log = silent ? undefined : await openLog(context, { shared: true });
  const { startService } = await import('../../service/index.ts');
  try {
    const service = await startService(settings, {
      worker: link,
      newSecrets: flags['newSecrets'] === true,
      ...(log === undefined ? {} : { log }),
    });
    void once(context.signal).then(() => link.signalled());
    await link.stopped;
    await service.close();
  } catch (error) {
    await link.failed(toIdkitError(error, context.signal));
  }
  log?.flush();
  process.exit(0);
}

/** Loads the settings. If the platform directory does not exist, creates it first. */
async function loadOrInit(context: CommandContext, flags: Flags): Promise<Settings> {
  const { initPlatform, settingsFromFlags } = await import('../../config/index.ts');
  const settingFlags = settingsFromFlags('serve', flags);
  const settings = await context.loadSettings(settingFlags);
  if (settings.exists) return settings;
  const made = initPlatform(settings.dir, { env: context.env });
  context.reporter.note(`created the platform directory ${made.paths.dir}`);
  return context.loadSettings(settingFlags);
}

async function openLog(
  context: CommandContext,
  { shared = false }: { shared?: boolean } = {},
): Promise<OpenedLog> {
  const { openLog: open } = await import('../../service/index.ts');
  const { stdout } = context.terminal;
  return open(stdout === process.stdout ? process.stdout.fd : stdout, {
    level: context.globals.quiet ? 'warn' : 'info',
    shared,
    ...(context.globals.json ? { base: { type: 'log' } } : {}),
  });
}

/** Shows the address of the service, its administrator, and commands to try next. */
async function showBanner(
  context: CommandContext,
  settings: Settings,
  service: RunningService,
): Promise<void> {
  const { openPaint } = await import('../output/paint.ts');
  const { ownVersion } = await import('../../config/index.ts');
  const paint = await openPaint(context.globals.color && !context.env['NO_COLOR']);
  const lines = [
    '',
    `${paint.strong(`idkit ${ownVersion()}`)} serves ${paint.strong(service.address)} ` +
      `(ready in ${service.startedInMilliseconds} ms)`,
    `platform directory  ${settings.dir}`,
  ];
  if (service.baseUrl !== service.address) lines.push(`base URL            ${service.baseUrl}`);
  if (service.managementUrl !== undefined) lines.push(`metrics             ${service.managementUrl}/metrics`);
  lines.push(`console             ${service.baseUrl}/admin/`);
  if (service.firstStart) lines.push(`administrator       ${settings.administrator.username}`);
  const password = await findGeneratedPassword(settings);
  if (service.firstStart && password !== undefined) {
    lines.push(
      `password            ${password}`,
      '                    it is not shown again, and it is also in this file:',
      `                    ${settings.dir}/.env`,
    );
  }
  for (const realm of service.imported) lines.push(`imported            realm ${oneLine(realm)}`);
  for (const { realm, what, refuses } of service.unenforced) {
    lines.push(
      paint.warning(
        `not enforced yet    ${oneLine(`${realm}: ${what}`)}${refuses ? '; the affected logins are rejected' : ''}`,
      ),
    );
  }
  const dir = context.globals.dir === undefined ? '' : ` --dir ${context.globals.dir}`;
  const idkit = context.env['npm_command'] === 'exec' ? 'npx idkit' : 'idkit';
  lines.push(
    '',
    'Try in another terminal:',
    `  ${idkit} smoke${dir}`,
    `  ${idkit} admin realm list${dir}`,
    `  ${idkit} backup${dir}`,
    '',
    paint.faint('Ctrl-C stops the service.'),
    '',
  );
  if (!context.globals.quiet) context.terminal.stderr.write(`${lines.join('\n')}`);
}

/**
 * Names the file that contains the password. Output that does not go to a terminal may be stored, so it must not
 * contain a secret.
 */
async function noteSecretsFile(
  context: CommandContext,
  settings: Settings,
  service: RunningService,
): Promise<void> {
  if (!service.firstStart) return;
  context.reporter.note(
    `the administrator is ${settings.administrator.username}; the password is in ${settings.dir}/.env`,
  );
}

/** Returns the administrator's password if idkit generated it. idkit never shows a password that a person chose. */
async function findGeneratedPassword(settings: Settings): Promise<string | undefined> {
  if (settings.sources['IDKIT_ADMIN_PASSWORD'] !== '.env') return undefined;
  const { isGeneratedValue, platformPaths } = await import('../../config/index.ts');
  if (!isGeneratedValue(platformPaths(settings.dir).env, 'IDKIT_ADMIN_PASSWORD')) return undefined;
  return settings.administrator.password?.reveal();
}

/** Resolves when the signal aborts. A signal is the normal end of serve, so the exit code is 0. */
function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
