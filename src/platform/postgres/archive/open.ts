import { deriveArchiveKeys } from '../../../archive/index.ts';
import {
  checkMasterKey,
  type PostgresAddress,
  parsePostgresUrl,
  type Settings,
} from '../../../config/index.ts';
import { IdkitError, type Secret, systemClock, systemRandom } from '../../../core/index.ts';
import { absoluteLocation, openTarget } from '../../../target/index.ts';
import { type ArchiverState, runArchiver } from './archiver.ts';
import { keepState } from './state-file.ts';

/** An archiver that runs in this process. */
export interface RunningArchive {
  state(): ArchiverState;
  /** Ships what was received, and stops. */
  close(): Promise<void>;
}

/** Begins to archive the WAL of the settings' database. It ends with `close`. */
export async function startPostgresArchive(
  settings: Settings,
  onState: (state: ArchiverState) => void,
): Promise<RunningArchive> {
  const { backup, database, dir } = settings;
  if (backup.archive === null || database.kind !== 'postgres')
    throw new IdkitError('IDKIT_BUG', 'the settings name no archive of a Postgres database');
  const target = await openTarget(absoluteLocation(backup.archive, dir));
  const file = keepState(dir, target.label);
  const ending = new AbortController();
  let latest: ArchiverState = { doing: 'connecting' };
  const ended = runArchiver({
    ...findReader(settings, parsePostgresUrl(database.url)),
    target,
    keys: deriveArchiveKeys(checkMasterKey(settings.masterKey)),
    everySeconds: backup.archiveSeconds,
    spoolBytes: backup.archiveSpoolBytes,
    keepMilliseconds: backup.keepDays * 86_400_000,
    clock: systemClock,
    random: systemRandom,
    onState(state) {
      latest = state;
      file.put(state);
      onState(state);
    },
    signal: ending.signal,
  });
  return {
    state: () => latest,
    async close() {
      ending.abort();
      await ended;
      await file.end();
      await target.close();
    },
  };
}

/** Returns the address and the password with which the WAL is read. */
function findReader(
  { backup: { archiveUser }, archivePassword, databasePassword }: Settings,
  address: PostgresAddress,
): { address: PostgresAddress; password: Secret | undefined } {
  if (archiveUser === null || archiveUser === address.user) return { address, password: databasePassword };
  // The password in the address is the one of the service's role.
  return { address: { ...address, user: archiveUser, password: undefined }, password: archivePassword };
}
