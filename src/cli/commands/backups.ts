import { IdkitError } from '../../core/index.ts';
import type { BackupEntry } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given } from '../flags.ts';
import { renderTable } from '../output/render-table.ts';
import { renderAge, renderBytes } from '../output/render-units.ts';
import { confirm } from '../terminal.ts';

/** `idkit backups list|prune` */
export function addBackups(program: CliCommand, run: Runner): void {
  const backups = program
    .command('backups')
    .description('what backup sets there are')
    .examples([
      ['idkit backups list', 'how old, how big, verified when'],
      ['idkit backups prune --dry-run', 'what would go, and why'],
    ]);
  backups
    .command('list')
    .description('the sets of the backup root: how old, how big, verified when')
    .settingFlags('backups list')
    .examples([['idkit backups list --json', 'for a program']])
    .action(run(listSets));
  backups
    .command('prune')
    .description('delete sets by the retention rule; never the newest good one')
    .settingFlags('backups prune')
    .option('--dry-run', 'say what would be deleted, delete nothing')
    .examples([
      ['idkit backups prune --dry-run', 'what would go, and why'],
      ['idkit backups prune --keep-days 30 --yes', 'without a question'],
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
      ? `no sets below ${data.root}`
      : renderTable(['NAME', 'AGE', 'SIZE', 'PARTS', 'SEAL', 'VERIFIED'], data.sets.map(renderRow));
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

/** A good set whose seal was not opened is not authenticated. */
function renderVerdict({ verdict, seal }: NonNullable<BackupEntry['verified']>): string {
  return verdict === 'good' && seal === 'not checked' ? 'good, not authenticated' : verdict;
}

async function pruneSets(context: CommandContext, flags: Flags): Promise<Outcome> {
  const dryRun = flags['dryRun'] === true;
  if (!dryRun && !context.globals.yes && !context.terminal.canAsk) {
    throw new IdkitError('IDKIT_USAGE', 'prune deletes backup sets, and there is no terminal to ask on', {
      hints: ['add --yes, or --dry-run to see what would go'],
    });
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
        throw new IdkitError('IDKIT_USAGE', 'the question was not answered with yes; nothing was deleted');
      }
    }
  }
  const { findings, failure, ...data } = await pruneBackups(settings, {
    ...context.procedure,
    ...given('dryRun', dryRun ? true : undefined),
  });
  const text =
    data.decisions.length === 0
      ? `no sets below ${data.root}`
      : renderTable(
          ['NAME', 'ACTION', 'WHY'],
          data.decisions.map(({ name, action, reason }) => [name, action, reason]),
        );
  return { data, text, findings, ...given('failure', failure) };
}
