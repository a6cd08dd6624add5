import type { Settings } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import type { ChecklistRow, RestorePlan, RestoreResult } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given, textFlag } from '../flags.ts';
import type { Column } from '../output/lists.ts';
import { printable } from '../output/output.ts';
import { renderPlan } from '../output/render-plan.ts';
import { renderTable } from '../output/render-table.ts';
import { renderMilliseconds } from '../output/render-units.ts';
import { confirm, terminalWidth, textWidth } from '../terminal.ts';

/** `idkit restore` */
export function addRestore(program: CliCommand, run: Runner): void {
  program
    .command('restore')
    .description('replace the platform with a backup set, and roll back if the restore fails')
    .option('--from <set>', 'the set: its directory, its name in the backup root, or latest')
    .option(
      '--at <moment>',
      'a moment in the archive: a time such as 2026-11-22T10:15:03Z, or before:EVENT-ID of an event of an administrator',
    )
    .option('--dry-run', 'run all checks and print the plan, but change nothing')
    .option('--resume', 'continue an interrupted restore')
    .option('--abort', 'roll back an interrupted restore')
    .option('--keep-env', 'keep the current .env')
    .option('--keep-config', 'keep the current config/')
    .option(
      '--trust-unsealed',
      'accept a set without a seal, with every command and address that its configuration contains',
    )
    .option(
      '--in-place',
      'for Postgres with little disk space: empty the live database first; a failed restore cannot roll back',
    )
    .option('--confirm <name>', 'with --in-place: the name of the database to empty')
    .examples([
      ['idkit restore --from latest', 'the newest good set; asks for confirmation after all checks'],
      ['idkit restore --from backups/20261101_020000 --dry-run', 'prints the plan'],
      ['idkit restore --resume', 'continues after a power failure'],
      [
        'idkit restore --from backups/20261101_020000 --in-place --confirm idkit',
        'on Postgres, without space for a second database',
      ],
    ])
    .action(run(restoreSet));
}

async function restoreSet(context: CommandContext, flags: Flags): Promise<Outcome> {
  const chosen = checkChoice(context, flags);
  const settings = await context.loadSettings();
  if (chosen.at !== undefined) return restoreMoment(context, flags, settings, chosen.at);
  return restoreFrom(context, flags, settings, chosen);
}

/** Makes a set of the moment, restores it with the platform's own environment and configuration, and removes it. */
async function restoreMoment(
  context: CommandContext,
  flags: Flags,
  settings: Settings,
  at: string,
): Promise<Outcome> {
  const { makeMomentSet, parseMoment } = await import('../../procedures/index.ts');
  const set = await makeMomentSet(settings, parseMoment(at), context.procedure);
  const kept = { ...flags, from: set.dir, keepEnv: true, keepConfig: true, trustUnsealed: true };
  try {
    return await restoreFrom(context, kept, settings, checkChoice(context, { ...kept, at: undefined }));
  } finally {
    await set.remove();
  }
}

async function restoreFrom(
  context: CommandContext,
  flags: Flags,
  settings: Settings,
  chosen: Choice,
): Promise<Outcome> {
  const { resolveSet, restore } = await import('../../procedures/index.ts');
  const { cwd, procedure } = context;
  const from =
    chosen.from === undefined ? undefined : await resolveSet(settings, chosen.from, { ...procedure, cwd });
  const choice = { ...chosen, from };
  const passphrase = await findPassphrase(context, choice);
  const flag = (name: string): true | undefined => (flags[name] === true ? true : undefined);
  const result = await restore(settings, {
    ...context.procedure,
    env: context.env,
    ...given('from', from),
    ...given('passphrase', passphrase),
    ...given('dryRun', flag('dryRun')),
    ...given('resume', flag('resume')),
    ...given('abort', flag('abort')),
    ...given('keepEnv', flag('keepEnv')),
    ...given('keepConfig', flag('keepConfig')),
    ...given('trustUnsealed', flag('trustUnsealed')),
    ...given('inPlace', choice.inPlace),
    ...(choice.asks ? { confirm: (plan: RestorePlan) => askForGo(context, plan) } : {}),
  });
  const { findings, failure, ...data } = result;
  return { data, text: renderResult(context, result), findings, ...given('failure', failure) };
}

interface Choice {
  from: string | undefined;
  /** The moment in the archive. */
  at: string | undefined;
  kind: 'restore' | 'plan' | 'resume' | 'abort';
  keepEnv: boolean;
  trusts: boolean;
  /** The database name that `--confirm` repeats. */
  inPlace: string | undefined;
  asks: boolean;
}

/** @throws IDKIT_USAGE for flags that exclude each other, and for a missing set or confirmation */
function checkChoice(context: CommandContext, flags: Flags): Choice {
  const inPlace = textFlag(flags, 'confirm');
  if ((flags['inPlace'] === true) !== (inPlace !== undefined)) {
    throw new IdkitError('IDKIT_USAGE', '--in-place and --confirm must be used together', {
      hints: ['--in-place --confirm NAME empties the database NAME, then loads the set into it'],
    });
  }
  const from = textFlag(flags, 'from');
  const modes = ['resume', 'abort', 'dryRun'].filter((name) => flags[name] === true);
  if (modes.length > 1) {
    throw new IdkitError('IDKIT_USAGE', '--resume, --abort and --dry-run exclude each other');
  }
  const kind =
    modes[0] === 'resume' ? 'resume' : modes[0] === 'abort' ? 'abort' : modes[0] ? 'plan' : 'restore';
  const at = textFlag(flags, 'at');
  if (at !== undefined && (from !== undefined || kind === 'resume' || kind === 'abort'))
    throw new IdkitError('IDKIT_USAGE', '--at cannot be combined with --from, --resume or --abort');
  if (from === undefined && at === undefined && (kind === 'restore' || kind === 'plan')) {
    throw new IdkitError('IDKIT_USAGE', 'restore needs --from with the directory of a set', {
      hints: ['--from latest restores the newest good set; idkit backups list prints all sets'],
    });
  }
  const asks = kind === 'restore' && !context.globals.yes;
  if (asks && !context.terminal.canAsk) {
    throw new IdkitError(
      'IDKIT_USAGE',
      'restore replaces the platform, and without a terminal it cannot ask for confirmation',
      {
        hints: ['add --yes to restore without a question'],
      },
    );
  }
  return {
    from,
    at,
    kind,
    keepEnv: flags['keepEnv'] === true,
    trusts: flags['trustUnsealed'] === true,
    inPlace,
    asks,
  };
}

/** Finds the passphrase. Prompts only if the set certainly needs it: with `--resume`, `.env` may be staged already. */
async function findPassphrase(context: CommandContext, choice: Choice): Promise<Secret | undefined> {
  if (choice.kind === 'abort') return undefined;
  const config = await import('../../config/index.ts');
  const sources = { env: context.env, signal: context.signal };
  const asks = choice.kind !== 'resume' && (!choice.keepEnv || (await isSealed(choice)));
  const prompt = asks ? context.promptPassphrase : undefined;
  return config.findPassphrase({ ...sources, prompt });
}

/** Reports whether the seal of the set must be checked, which needs the passphrase even if `.env` is kept. */
async function isSealed({ from, trusts }: Choice): Promise<boolean> {
  if (from === undefined || trusts) return false;
  const [{ existsSync }, { join }] = await Promise.all([import('node:fs'), import('node:path')]);
  const { SET_FILES } = await import('../../backupset/index.ts');
  return existsSync(join(from, SET_FILES.seal));
}

async function askForGo(context: CommandContext, plan: RestorePlan): Promise<boolean> {
  const width = context.terminal.stderr.columns || 80;
  const detail = context.globals.verbose ? 'full with reasons' : 'short';
  const shown = renderPlan(plan, { detail, width });
  context.terminal.stderr.write(printable(`${shown}\n`));
  return confirm(context.terminal, `Replace ${plan.target} with this set?`, context.signal);
}

/** Renders the plan of a dry run. Off a terminal, it is complete and its lines are not wrapped. */
function renderDryRun({ terminal, globals }: CommandContext, plan: RestorePlan): string {
  const isTerminal = terminal.stdout.isTTY === true;
  return renderPlan(plan, {
    detail: globals.verbose ? 'full with reasons' : isTerminal ? 'short' : 'full',
    width: isTerminal ? textWidth(terminal) : Number.POSITIVE_INFINITY,
  });
}

function renderResult(context: CommandContext, result: RestoreResult): string {
  if (result.outcome === 'planned') {
    return `${result.plan === undefined ? '' : `${renderDryRun(context, result.plan)}\n`}nothing was changed`;
  }
  if (result.outcome === 'aborted') return 'rolled back to the state before the restore';
  const lines = [renderChecklist(result.checklist, terminalWidth(context.terminal))];
  for (const path of result.kept) lines.push(`kept ${path}`);
  lines.push(`restored ${result.set ?? ''} in ${renderMilliseconds(result.milliseconds)}`);
  return lines.join('\n');
}

const CHECKLIST_COLUMNS: readonly Column[] = [
  { title: 'CHECK', field: 'title' },
  { title: 'OUTCOME', field: 'outcome' },
  { title: 'DETAIL', field: 'detail' },
];

function renderChecklist(rows: readonly ChecklistRow[], width: number | undefined): string {
  return renderTable(
    CHECKLIST_COLUMNS,
    rows.map((row) => ({ ...row })),
    width,
  );
}
