import { isEncryptedSet, SET_FILES } from '../../backupset/index.ts';
import type { BackupEntry, ListBackupsResult } from '../backups/list.ts';
import type { ProcedureOptions } from '../run.ts';
import { listRemote, type RemoteSet } from './remote-root.ts';
import { hasDatabase, withTarget } from './remote-set.ts';

/** Lists the sets of a target from the names and sizes of their files, oldest first. Nothing is downloaded. */
export async function listRemoteBackups(
  location: string,
  options: Pick<ProcedureOptions, 'clock' | 'signal'>,
): Promise<ListBackupsResult> {
  const now = options.clock.now();
  return withTarget(location, options, async (target) => {
    const { sets } = await listRemote(target, now, options.signal);
    const ordered = [...sets.values()].toSorted((a, b) => a.startedAt - b.startedAt);
    return {
      root: target.label,
      drills: [],
      sets: ordered.map((set) => toEntry(set, location, now)),
      findings: ordered
        .filter(({ complete }) => !complete)
        .map(({ name }) => ({
          code: 'SET_INCOMPLETE',
          message: `${name} is an unfinished copy at ${target.label}`,
        })),
    };
  });
}

function toEntry(set: RemoteSet, location: string, now: number): BackupEntry {
  return {
    name: set.name,
    dir: `${location.replace(/\/$/, '')}/${set.name}`,
    startedAt: new Date(set.startedAt).toISOString(),
    ageSeconds: Math.floor((now - set.startedAt) / 1000),
    bytes: [...set.files.values()].reduce((sum, size) => sum + size, 0),
    parts: ['unknown'],
    sealed: set.files.has(SET_FILES.seal),
    encrypted: isEncryptedSet([...set.files.keys()]),
    whole: hasDatabase(set),
    state: set.complete ? 'unverified' : 'bad',
    future: set.future,
  };
}
