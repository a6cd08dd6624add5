import { IdkitError } from '../../core/index.ts';
import type { BackupEntry } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given } from '../flags.ts';
import { renderTable } from '../output/render-table.ts';
import { renderAge, renderBytes } from '../output/render-units.ts';
import { confirm, terminalWidth } from '../terminal.ts';

/** `idkit backups list|prune` */
export function addBackups(program: CliCommand, run: Runner): void {
  const backups = program
    .command('backups')
    .description('list and delete backup sets')
    .examples([
      ['idkit backups list', 'age, size and last verification of each set'],
      ['idkit backups prune --dry-run', 'which sets would be deleted, and why'],
    ]);
  backups
    .command('list')
    .description('list the sets of the backup root with age, size and last verification')
    .settingFlags('backups list')
    .examples([['idkit backups list --json', 'as JSON for scripts']])
    .action(run(listSets));
  backups
    .command('prune')
    .description('delete sets older than --keep-days, but never the newest good set')
    .settingFlags('backups prune')
    .option('--dry-run', 'report which sets would be deleted, but delete nothing')
    .examples([
      ['idkit backups prune --dry-run', 'which sets would be deleted, and why'],
      ['idkit backups prune --keep-days 30 --yes', 'deletes without a question'],
    ])
    .action(run(pruneSets));
}

async function listSets(context: CommandContext, flags: Flags): Promise<Outcome> {
  const { settingsFromFlags } = await import('../../config/index.ts');
  const settings = await context.loadPlatform(settingsFromFlags('backups list', flags));
  const { listBackups } = await import('../../procedures/index.ts');
  const { findings, failure, ...data } = await listBackups(settings, { clock: context.procedure.clock });
  const text =
    data.sets.length === 0
      ? `${data.root} contains no sets`
      : renderTable(
          ['NAME', 'AGE', 'SIZE', 'PARTS', 'SEAL', 'VERIFIED'],
          data.sets.map(renderRow),
          terminalWidth(context.terminal),
        );
  return { data, text, findings, ...given('failure', failure) };
}

function renderRow(set: BackupEntry): readonly string[] {
  const verified =
    set.verified === undefined ? 'never' : `${renderVerdict(set.verified)} ${set.verified.at.slice(0, 16)}Z`;
  return [
    set.name,
    renderAge(set.ageSeconds),
    renderBytes(set.bytes),
    set.parts.join(','),
    set.sealed ? 'sealed' : 'unsealed',
    verified,
  ];
}

/** Renders a verdict. A good set whose seal was not checked is not authenticated. */
function renderVerdict({ verdict, seal }: NonNullable<BackupEntry['verified']>): string {
  return verdict === 'good' && seal === 'not checked' ? 'good, not authenticated' : verdict;
}

async function pruneSets(context: CommandContext, flags: Flags): Promise<Outcome> {
  const dryRun = flags['dryRun'] === true;
  if (!dryRun && !context.globals.yes && !context.terminal.canAsk) {
    throw new IdkitError(
      'IDKIT_USAGE',
      'prune deletes backup sets, and without a terminal it cannot ask for confirmation',
      {
        hints: ['add --yes to delete them, or --dry-run to see which sets would be deleted'],
      },
    );
  }
  const { settingsFromFlags } = await import('../../config/index.ts');
  const settings = await context.loadPlatform(settingsFromFlags('backups prune', flags));
  const { pruneBackups } = await import('../../procedures/index.ts');
  if (!dryRun && !context.globals.yes) {
    const plan = await pruneBackups(settings, { ...context.procedure, dryRun: true });
    const going = plan.decisions.filter((decision) => decision.action === 'delete');
    if (going.length > 0) {
      const question = `Delete ${going.map((decision) => decision.name).join(', ')}?`;
      if (!(await confirm(context.terminal, question, context.signal))) {
        throw new IdkitError('IDKIT_USAGE', 'the answer was not yes, so nothing was deleted');
      }
    }
  }
  const { findings, failure, ...data } = await pruneBackups(settings, {
    ...context.procedure,
    ...given('dryRun', dryRun ? true : undefined),
  });
  const text =
    data.decisions.length === 0
      ? `${data.root} contains no sets`
      : renderTable(
          ['NAME', 'ACTION', 'WHY'],
          data.decisions.map(({ name, action, reason }) => [name, action, reason]),
          terminalWidth(context.terminal),
        );
  return { data, text, findings, ...given('failure', failure) };
}
