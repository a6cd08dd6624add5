import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import type { ChecklistRow, Moment, RestorePlan, RestoreResult } from '../../procedures/index.ts';
import { isRemoteLocation } from '../../target/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given, textFlag } from '../flags.ts';
import { readMoment } from '../input/moment.ts';
import { findPrivateKeys, KEY_FLAG } from '../input/private-keys.ts';
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
    .option(
      '--from <set>',
      'the set: its directory, its name in the backup root, s3://bucket/prefix/NAME, or latest',
    )
    .option(
      '--at <moment>',
      'restore the database of this moment from the archive: a time such as 2026-11-22T10:15:03Z, or before:EVENT-ID of an administrator’s event',
    )
    .option('--dry-run', 'run all checks and print the plan, but change nothing')
    .option('--resume', 'continue an interrupted restore')
    .option('--abort', 'roll back an interrupted restore')
    .option(...KEY_FLAG)
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
      ['idkit restore --at 2026-11-22T10:15:03Z', 'the platform as it was at that moment'],
      [
        'idkit restore --at before:0b7c1f8e-7c1d-4d1b-9a1e-3c7b0a5d2f10',
        'before the change that an event describes',
      ],
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
  const { resolveSet, resolveSetBefore, restore } = await import('../../procedures/index.ts');
  const { cwd, procedure } = context;
  const { moment } = chosen;
  const findSet = async () =>
    moment === undefined ? undefined : resolveSetBefore(settings, moment, procedure);
  const from =
    chosen.from === undefined
      ? await findSet()
      : await resolveSet(settings, chosen.from, { ...procedure, cwd, ...keptDownload(settings, chosen) });
  const choice = { ...chosen, from };
  const privateKeys = choice.kind === 'abort' ? undefined : await findPrivateKeys(context, flags);
  const passphrase = await findPassphrase(context, choice);
  const flag = (name: string): true | undefined => (flags[name] === true ? true : undefined);
  const result = await restore(settings, {
    ...context.procedure,
    env: context.env,
    ...given('from', from),
    ...given('moment', moment),
    ...given('passphrase', passphrase),
    ...given('privateKeys', privateKeys),
    ...given('dryRun', flag('dryRun')),
    ...given('resume', flag('resume')),
    ...given('abort', flag('abort')),
    ...given('keepEnv', flag('keepEnv')),
    ...given('keepConfig', flag('keepConfig')),
    ...given('trustUnsealed', flag('trustUnsealed')),
    ...given('inPlace', choice.inPlace),
    ...(choice.asks ? { confirm: (plan: RestorePlan) => askForGo(context, plan) } : {}),
  });
  const isDownload = chosen.from !== undefined && isRemoteLocation(chosen.from);
  if (isDownload && from !== undefined && result.outcome === 'restored' && result.failure === undefined)
    await rm(join(settings.backup.root, '.fetched'), { recursive: true, force: true });
  const { findings, failure, ...data } = result;
  return { data, text: renderResult(context, result), findings, ...given('failure', failure) };
}

interface Choice {
  from: string | undefined;
  moment: Moment | undefined;
  kind: 'restore' | 'plan' | 'resume' | 'abort';
  keepEnv: boolean;
  trusts: boolean;
  /** The database name that `--confirm` repeats. */
  inPlace: string | undefined;
  asks: boolean;
}

/**
 * A restore keeps its downloaded set in the backup root until it is done, so that it can be resumed after a power failure.
 */
function keptDownload(settings: Settings, { kind }: Pick<Choice, 'kind'>): { keepIn?: string } {
  return kind === 'plan' ? {} : { keepIn: join(settings.backup.root, '.fetched') };
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
  const moment = readMoment(textFlag(flags, 'at'));
  const modes = ['resume', 'abort', 'dryRun'].filter((name) => flags[name] === true);
  if (modes.length > 1) {
    throw new IdkitError('IDKIT_USAGE', '--resume, --abort and --dry-run exclude each other');
  }
  const kind =
    modes[0] === 'resume' ? 'resume' : modes[0] === 'abort' ? 'abort' : modes[0] ? 'plan' : 'restore';
  if (moment !== undefined && (kind === 'resume' || kind === 'abort')) {
    throw new IdkitError('IDKIT_USAGE', `--at cannot be combined with --${kind}`, {
      hints: ['the interrupted restore knows its moment'],
    });
  }
  if (from === undefined && moment === undefined && (kind === 'restore' || kind === 'plan')) {
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
    moment,
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
  const { existsSync } = await import('node:fs');
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
