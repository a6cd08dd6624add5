import { IdkitError } from '../../core/index.ts';
import type { ItemOutcome, ItemPlan, RestoreItemResult } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given, textFlag } from '../flags.ts';
import { findPrivateKeys, KEY_FLAG } from '../input/private-keys.ts';
import type { Column } from '../output/lists.ts';
import { printable } from '../output/output.ts';
import { renderTable } from '../output/render-table.ts';
import { confirm, terminalWidth } from '../terminal.ts';
import { connect, realmFlag, withAdminFlags } from './admin/connect.ts';

/** `idkit backups restore-item SET` */
export function addRestoreItem(backups: CliCommand, run: Runner): void {
  withAdminFlags(backups.command('restore-item'), { realm: true })
    .argument(
      '<set>',
      'a set: its directory, its name in the backup root, s3://bucket/prefix/NAME, or latest',
    )
    .description('put one realm, user, client or group of a set back into the running platform')
    .option('--user <username>', 'the user, by name or id')
    .option('--client <client>', 'the client, by its clientId or id')
    .option('--group <path>', 'the group with its subgroups, by path or id')
    .option(
      '--overwrite',
      'also return a record that exists to its state in the set; ends the sessions of a user',
    )
    .option('--dry-run', 'print what would be created, changed and kept, but change nothing')
    .option(...KEY_FLAG)
    .option('--trust-unsealed', 'accept a set without a seal, which anyone could have changed')
    .examples([
      ['idkit backups restore-item latest --realm acme --user alice --dry-run', 'prints the plan'],
      [
        'idkit backups restore-item latest --realm acme --client orders',
        'with its roles and service account',
      ],
      ['idkit backups restore-item latest --realm acme --group /staff --yes', 'without a question'],
      ['idkit backups restore-item latest --realm acme', 'the whole realm'],
    ])
    .action(run((context, flags, [set]) => restoreOne(context, flags, set)));
}

async function restoreOne(
  context: CommandContext,
  flags: Flags,
  named: string | undefined,
): Promise<Outcome> {
  const item = checkItem(context, flags);
  const dryRun = flags['dryRun'] === true;
  const asks = !dryRun && !context.globals.yes;
  if (asks && !context.terminal.canAsk) {
    throw new IdkitError(
      'IDKIT_USAGE',
      'restore-item changes the platform, and without a terminal it cannot ask for confirmation',
      { hints: ['add --yes to put the record back, or --dry-run to print the plan'] },
    );
  }
  if (named === undefined || named === '')
    throw new IdkitError('IDKIT_USAGE', 'the directory of the set is an empty string');
  const settings = await context.loadSettings();
  const { findPassphrase } = await import('../../config/index.ts');
  const { resolveSet, restoreItem } = await import('../../procedures/index.ts');
  const { env, signal, procedure, cwd } = context;
  const set = await resolveSet(settings, named, { ...procedure, cwd });
  const prompt = flags['trustUnsealed'] === true ? undefined : context.promptPassphrase;
  const passphrase = await findPassphrase({ env, signal, prompt });
  const privateKeys = await findPrivateKeys(context, flags);
  const { admin } = await connect(context, flags);
  const result = await restoreItem(settings, {
    ...procedure,
    set,
    item,
    admin,
    ...given('passphrase', passphrase),
    ...given('privateKeys', privateKeys),
    ...given('trustUnsealed', flags['trustUnsealed'] === true ? true : undefined),
    ...given('overwrite', flags['overwrite'] === true ? true : undefined),
    ...given('dryRun', dryRun ? true : undefined),
    ...(asks ? { confirm: (plan: ItemPlan) => askForGo(context, plan) } : {}),
  });
  if (result.outcome === 'declined')
    throw new IdkitError('IDKIT_USAGE', 'the answer was not yes, so nothing was put back');
  const { findings, failure, ...data } = result;
  return { data, text: renderResult(context, result), findings, ...given('failure', failure) };
}

/** @throws IDKIT_USAGE for more than one record */
function checkItem(context: CommandContext, flags: Flags) {
  const names = ['user', 'client', 'group'].filter((name) => flags[name] !== undefined);
  if (names.length > 1)
    throw new IdkitError(
      'IDKIT_USAGE',
      `${names.map((name) => `--${name}`).join(' and ')} exclude each other`,
    );
  const item = {
    realm: realmFlag(context, flags),
    ...given('user', textFlag(flags, 'user')),
    ...given('client', textFlag(flags, 'client')),
    ...given('group', textFlag(flags, 'group')),
  };
  const empty = names.find((name) => flags[name] === '');
  if (empty !== undefined) throw new IdkitError('IDKIT_USAGE', `--${empty} is an empty string`);
  return item;
}

const COLUMNS: readonly Column[] = [
  { title: 'ACTION', field: 'action' },
  { title: 'KIND', field: 'kind' },
  { title: 'NAME', field: 'name' },
  { title: 'ID', field: 'id', priority: 2 },
];

/** Number of records that the plan for people lists. */
const MOST_ROWS = 50;

function renderPlan(plan: ItemPlan, width: number | undefined): string {
  const rows = plan.results.slice(0, MOST_ROWS).map((row: ItemOutcome) => ({ ...row }));
  const more = plan.results.length - rows.length;
  return [
    renderTable(COLUMNS, rows, width),
    ...(more === 0 ? [] : [`and ${more} more records`]),
    ...(plan.further === 0 ? [] : ['and the roles and memberships of further users']),
  ].join('\n');
}

async function askForGo(context: CommandContext, plan: ItemPlan): Promise<boolean> {
  const width = context.terminal.stderr.columns || 80;
  context.terminal.stderr.write(printable(`${renderPlan(plan, width)}\n`));
  return confirm(context.terminal, `Put these records back into realm ${plan.realm}?`, context.signal);
}

function renderResult(context: CommandContext, result: RestoreItemResult): string {
  const table = renderPlan(result, terminalWidth(context.terminal));
  const end = result.outcome === 'planned' ? 'nothing was changed' : `put back from ${result.set}`;
  return `${table}\n${end}`;
}
