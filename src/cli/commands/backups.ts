import { IdkitError, renderCount } from '../../core/index.ts';
import type { BackupEntry, ListedArchive } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given, remoteRoot } from '../flags.ts';
import type { Column, ListOutcome } from '../output/lists.ts';
import { withOutputFlags } from '../output/presentation.ts';
import { renderAge, renderBytes } from '../output/render-units.ts';
import { confirm } from '../terminal.ts';
import { addMirror } from './backups-mirror.ts';
import { addDiff, addShow } from './inspect.ts';
import { addRestoreItem } from './restore-item.ts';

/** `idkit backups list|prune|mirror` */
export function addBackups(program: CliCommand, run: Runner): void {
  const backups = program
    .command('backups')
    .description('list, inspect, compare, copy and delete backup sets, and put single records back')
    .examples([
      ['idkit backups list', 'age, size and last verification of each set'],
      ['idkit backups show latest', 'what the newest good set contains'],
      ['idkit backups prune --dry-run', 'which sets would be deleted, and why'],
    ]);
  withOutputFlags(backups.command('list'), { fields: 'name,bytes', jq: '[?sealed].name' })
    .description('list the sets of the backup root with age, size and last verification')
    .settingFlags('backups list')
    .examples([
      ['idkit backups list --json', 'as JSON for scripts'],
      ['idkit backups list -o name', 'the names of the sets, one a line'],
      ['idkit backups list --root s3://backups/idkit', 'the sets of a target'],
    ])
    .action(run(listSets));
  addMirror(backups, run);
  withOutputFlags(backups.command('prune'), { fields: 'name,action', jq: "[?action=='delete'].name" })
    .description('delete sets older than --keep-days, but never the newest good set')
    .settingFlags('backups prune')
    .option('--dry-run', 'report which sets would be deleted, but delete nothing')
    .examples([
      ['idkit backups prune --dry-run', 'which sets would be deleted, and why'],
      ['idkit backups prune --keep-days 30 --yes', 'deletes without a question'],
    ])
    .action(run(pruneSets));
  addShow(backups, run);
  addDiff(backups, run);
  addRestoreItem(backups, run);
}

async function listSets(context: CommandContext, flags: Flags): Promise<Outcome> {
  const { settingsFromFlags } = await import('../../config/index.ts');
  const remote = remoteRoot(flags);
  const { listArchive, listBackups, listRemoteBackups } = await import('../../procedures/index.ts');
  const settings =
    remote === undefined ? await context.loadPlatform(settingsFromFlags('backups list', flags)) : undefined;
  const { findings, failure, ...sets } =
    settings === undefined
      ? await listRemoteBackups(remote!, context.procedure)
      : await listBackups(settings, { clock: context.procedure.clock });
  const archive = settings === undefined ? undefined : await listArchive(settings);
  if (archive !== undefined) context.reporter.note(renderArchive(archive));
  const data = { ...sets, ...given('archive', archive) };
  for (const { kind, outcome, startedAt, set, report } of data.drills)
    context.reporter.note(
      `newest drill (${kind}): ${outcome} ${startedAt.slice(0, 16)}Z, set ${set}${report === undefined ? '' : `, ${report}`}`,
    );
  const list: ListOutcome = {
    noun: 'sets',
    columns: SET_COLUMNS,
    records: data.sets.map((set) => ({ ...set })),
    name: 'name',
    empty: `${data.root} contains no sets`,
  };
  return { data, list, findings, ...given('failure', failure) };
}

/** Renders the times that can be restored from the archive as one line. */
function renderArchive({ target, newest, ranges, gaps, fault }: ListedArchive): string {
  const start = `archive ${target}: `;
  if (fault !== undefined)
    return `${start}${newest === undefined ? '' : `newest moment ${newest}; `}${fault}`;
  if (newest === undefined) return `${start}no moment can be restored, because it has no complete base`;
  const times = ranges.map(({ from, until }) => `${from} to ${until}`).join(', and from ');
  return `${start}newest moment ${newest}; every moment from ${times}; ${renderCount(gaps, 'gap')}`;
}

const SET_COLUMNS: readonly Column[] = [
  { title: 'NAME', field: 'name' },
  { title: 'AGE', field: 'ageSeconds', show: (seconds) => renderAge(Number(seconds)) },
  { title: 'SIZE', field: 'bytes', show: (bytes) => renderBytes(Number(bytes)) },
  { title: 'PARTS', field: 'parts', priority: 3 },
  { title: 'SEAL', field: 'sealed', priority: 2, show: (sealed) => (sealed ? 'sealed' : 'unsealed') },
  {
    title: 'VERIFIED',
    field: 'verified',
    priority: 2,
    show: (_, set) => renderVerified(set as unknown as BackupEntry),
  },
];

function renderVerified({ verified }: BackupEntry): string {
  return verified === undefined ? 'never' : `${renderVerdict(verified)} ${verified.at.slice(0, 16)}Z`;
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
    const files = plan.archive?.reduce((sum, step) => sum + step.files, 0) ?? 0;
    const names = going.map((decision) => decision.name);
    if (files > 0) names.push(`${files} files of the archive`);
    if (names.length > 0) {
      const question = `Delete ${names.join(', ')}?`;
      if (!(await confirm(context.terminal, question, context.signal))) {
        throw new IdkitError('IDKIT_USAGE', 'the answer was not yes, so nothing was deleted');
      }
    }
  }
  const { findings, failure, ...data } = await pruneBackups(settings, {
    ...context.procedure,
    ...given('dryRun', dryRun ? true : undefined),
  });
  for (const { name, action, reason, files } of data.archive ?? [])
    context.reporter.note(
      `archive chain ${name}: ${action}${files > 0 ? ` (${files} files)` : ''}, because ${reason}`,
    );
  const list: ListOutcome = {
    noun: 'decisions',
    columns: [
      { title: 'NAME', field: 'name' },
      { title: 'ACTION', field: 'action' },
      { title: 'WHY', field: 'reason', priority: 2 },
    ],
    records: data.decisions.map((decision) => ({ ...decision })),
    name: 'name',
    empty: `${data.root} contains no sets`,
  };
  return { data, list, findings, ...given('failure', failure) };
}
