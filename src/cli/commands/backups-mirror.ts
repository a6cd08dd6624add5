import { renderCount } from '../../core/index.ts';
import type { MirrorReport } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given } from '../flags.ts';
import { renderTable } from '../output/render-table.ts';
import { renderBytes } from '../output/render-units.ts';

/** `idkit backups mirror` */
export function addMirror(backups: CliCommand, run: Runner): void {
  backups
    .command('mirror')
    .argument(
      '[target]',
      'a directory, [user@]host:path, s3://bucket/prefix or rclone:remote:path (default: backup.mirror)',
    )
    .description('copy the backup root to another place, and read a part of it back')
    .settingFlags('backups mirror')
    .option('--delete', 'also delete the sets there that backup.mirrorKeep does not keep')
    .option('--read-all', 'read every byte there, as one run a week does')
    .option('--dry-run', 'report which sets would be deleted there and why, but copy and delete nothing')
    .examples([
      ['idkit backups mirror', 'copies to backup.mirror what it lacks'],
      ['idkit backups mirror s3://backups/idkit --read-all', 'and verifies all of it'],
      ['idkit backups mirror --dry-run', 'which sets would be deleted there, and why'],
    ])
    .action(run((context, flags, [target]) => mirror(context, flags, target)));
}

async function mirror(context: CommandContext, flags: Flags, target: string | undefined): Promise<Outcome> {
  const { settingsFromFlags } = await import('../../config/index.ts');
  const settings = await context.loadPlatform(settingsFromFlags('backups mirror', flags));
  const { mirrorBackups } = await import('../../procedures/index.ts');
  const flag = (name: string): true | undefined => (flags[name] === true ? true : undefined);
  const { findings, failure, ...data } = await mirrorBackups(settings, {
    ...context.procedure,
    ...given('target', target),
    ...given('deletes', flag('delete')),
    ...given('readsAll', flag('readAll')),
    ...given('dryRun', flag('dryRun')),
  });
  // If the target could not even be listed, a report of zeros would look like an empty target.
  if (failure !== undefined && data.decisions.length === 0) return { data, findings, failure };
  const text = flag('dryRun') === true ? renderDecisions(data) : renderReport(data);
  return { data, text, findings, ...given('failure', failure) };
}

function renderDecisions({ decisions, target }: Pick<MirrorReport, 'decisions' | 'target'>): string {
  if (decisions.length === 0) return `${target} contains no sets`;
  return renderTable(
    [
      { title: 'NAME', field: 'name' },
      { title: 'ACTION', field: 'action' },
      { title: 'REASONS', field: 'reason' },
    ],
    decisions.map((decision) => ({ ...decision })),
    undefined,
  );
}

function renderReport({
  target,
  copied,
  deleted,
  decisions,
  readBack,
}: Omit<MirrorReport, 'findings' | 'failure'>): string {
  const read = `${renderCount(readBack.files, 'file')} (${renderBytes(readBack.bytes)}) read back`;
  return [
    `${target}: ${renderCount(decisions.length, 'set')}, ${copied.length} copied, ${deleted.length} deleted`,
    readBack.kind === 'all' ? `${read}, every byte of every set` : `${read} as a sample`,
  ].join('; ');
}
