import { parseSetName, SET_FILES } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import { openTarget, splitLocation, type Target } from '../../target/index.ts';
import type { ProcedureOptions } from '../run.ts';
import { type FetchOptions, fetchSet, findRemoteSet } from './fetch-set.ts';
import { listRemote, type RemoteSet } from './remote-root.ts';

type Options = Pick<ProcedureOptions, 'clock' | 'reporter' | 'signal'> & Pick<FetchOptions, 'keepIn'>;

/** The name of the newest set that can be restored. */
const LATEST = 'latest';

/**
 * Downloads the set at a location such as `s3://bucket/prefix/20261122_101112` and returns its directory. `latest` as the
 * last part means the newest complete set with the database.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_USAGE if the last part is not the name of a set
 */
export async function fetchRemoteSet(location: string, options: Options): Promise<string> {
  const split = splitLocation(location);
  if (split === undefined || (split.name !== LATEST && parseSetName(split.name) === undefined)) {
    throw new IdkitError('IDKIT_USAGE', `${location} does not end with the name of a set`, {
      hints: [`add it: ${location.replace(/\/$/, '')}/latest, or idkit backups list --root ${location}`],
    });
  }
  return withTarget(split.parent, options, async (target) => {
    const set =
      split.name === LATEST
        ? await findNewest(target, options)
        : await findRemoteSet(target, split.name, options.signal);
    return fetch(target, set, options);
  });
}

/** Downloads sets of a target, oldest first: all complete ones, or the newest that can be restored. */
export async function* fetchRemoteRoot(
  location: string,
  which: 'all' | 'newest',
  options: Options,
): AsyncGenerator<{ name: string; dir: string }> {
  const target = await openTarget(location, { signal: options.signal });
  try {
    const sets =
      which === 'newest' ? [await findNewest(target, options)] : await findComplete(target, options);
    for (const set of sets) yield { name: set.name, dir: await fetch(target, set, options) };
  } finally {
    await target.close();
  }
}

async function findComplete(target: Target, { clock, signal }: Options): Promise<readonly RemoteSet[]> {
  const { sets } = await listRemote(target, clock.now(), signal);
  return [...sets.values()].filter(({ complete }) => complete).toSorted((a, b) => a.startedAt - b.startedAt);
}

async function findNewest(target: Target, options: Options): Promise<RemoteSet> {
  const found = (await findComplete(target, options)).findLast((set) => hasDatabase(set) && !set.future);
  if (found !== undefined) return found;
  throw new NoRemoteSet(`${target.label} does not contain a backup set that can be restored`);
}

/** A target was read, and contains no set that can be restored. */
class NoRemoteSet extends IdkitError {
  constructor(message: string) {
    super('IDKIT_NOT_FOUND', message);
  }
}

/** Reports whether a target was read and contains no set. A bucket that does not exist is another error. */
export function isNoRemoteSet(error: unknown): error is IdkitError {
  return error instanceof NoRemoteSet;
}

/** Reports whether a set at a target contains the database, from the names of its files. */
export function hasDatabase({ files }: RemoteSet): boolean {
  return [...files.keys()].some((name) => name.startsWith(SET_FILES.dump));
}

async function fetch(target: Target, set: RemoteSet, options: Options): Promise<string> {
  options.reporter.note(`downloading ${set.name} from ${target.label}`);
  return fetchSet(target, set, options);
}

export async function withTarget<T>(
  location: string,
  { signal }: Pick<ProcedureOptions, 'signal'>,
  work: (target: Target) => Promise<T>,
): Promise<T> {
  const target = await openTarget(location, { signal });
  try {
    return await work(target);
  } finally {
    await target.close();
  }
}
