import { basename, dirname, join, resolve } from 'node:path';
import { judgeSets, listSets, parseSetName } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { findEntry } from '../../files/index.ts';
import type { Moment } from '../../platform/index.ts';
import type { ProcedureOptions } from '../run.ts';

/** The name of the newest good set. A directory that is really called like this is `./latest`. */
export const LATEST = 'latest';

/**
 * Returns the absolute path of the set that the operator names: a path, the name of a set in the backup root, or
 * `latest`, which can follow the path of another backup root: `/mnt/backups/latest`. The newest good set is the newest one that contains the database, is not known to be damaged, and is not
 * dated in the future. If a newer set is skipped because it is damaged, a note says so.
 *
 * @param options.cwd the directory to which a path is relative
 * @throws IDKIT_NOT_FOUND for `latest` without a good set
 */
export async function resolveSet(
  settings: Settings,
  named: string,
  options: { cwd: string } & Pick<ProcedureOptions, 'clock' | 'reporter'>,
): Promise<string> {
  const { root } = settings.backup;
  if (named === LATEST) return findNewestGood(root, options);
  const path = resolve(options.cwd, named);
  // A directory or link that is called latest takes precedence.
  if (isLatestOf(path, named)) return findNewestGood(dirname(path), options);
  const inRoot = join(root, named);
  const isName = parseSetName(named) !== undefined && findEntry(path) === undefined;
  return isName && findEntry(inRoot) !== undefined ? inRoot : path;
}

/**
 * Returns the absolute path of the set whose environment and configuration belong to a moment: the newest good one
 * before it. Only the archive knows when an event was, so for an event it is the newest good set.
 *
 * @throws IDKIT_NOT_FOUND without such a set
 */
export async function resolveSetBefore(
  { backup: { root } }: Settings,
  moment: Moment,
  options: Pick<ProcedureOptions, 'clock' | 'reporter'>,
): Promise<string> {
  return findNewestGood(root, options, 'at' in moment ? moment.at : undefined);
}

function isLatestOf(path: string, named: string): boolean {
  return basename(named) === LATEST && named !== `./${LATEST}` && findEntry(path) === undefined;
}

async function findNewestGood(
  root: string,
  { clock, reporter }: Pick<ProcedureOptions, 'clock' | 'reporter'>,
  before = Number.POSITIVE_INFINITY,
): Promise<string> {
  const { sets } = await listSets(root, clock.now());
  const candidates = (await judgeSets(root, sets)).filter(
    ({ name, whole, future }) => whole && !future && (parseSetName(name) ?? 0) <= before,
  );
  const good = candidates.findLast(({ state }) => state !== 'bad');
  if (good === undefined) {
    const when = before === Number.POSITIVE_INFINITY ? '' : ` from before ${new Date(before).toISOString()}`;
    throw new IdkitError('IDKIT_NOT_FOUND', `${root} does not contain a good backup set${when}`, {
      hints: [
        ...(when === '' ? [] : ['--from SET chooses the set whose .env and configuration are restored']),
        'idkit backups list shows the sets of the backup root',
        `the sets of another backup root are named by its path: /mnt/backups/${LATEST}`,
      ],
    });
  }
  const newest = candidates.at(-1);
  if (newest !== undefined && newest !== good)
    reporter.note(`${newest.name} is damaged, so ${LATEST} is the older set ${good.name}`);
  return good.dir;
}
