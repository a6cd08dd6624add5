import { type BaseEnd, deriveArchiveKeys } from '../../../archive/index.ts';
import {
  checkMasterKey,
  type PostgresAddress,
  parsePostgresUrl,
  type Settings,
} from '../../../config/index.ts';
import { IdkitError, systemClock, systemRandom } from '../../../core/index.ts';
import {
  literal,
  openContext,
  openLocalPrograms,
  type RecoveredCluster,
  type RecoveryTarget,
} from '../../../pgtools/index.ts';
import { absoluteLocation, openTarget } from '../../../target/index.ts';
import { type ArchiverState, runArchiver } from './archiver.ts';
import { type FoundEvent, recoverBefore } from './before-event.ts';
import { chooseBase, chooseChain, findChains, type RestorableChain, recoverChain } from './moments.ts';

/** A moment in the past: a time, or the moment before an event of an administrator. */
export type Moment =
  | {
      /** Unix time in microseconds. */
      time: number;
    }
  | {
      /** The id of the event, as the administrative API returns it. */
      beforeEvent: string;
    };

/** An archiver that runs in this process. */
export interface RunningArchive {
  state(): ArchiverState;
  /** Ships what was received, and stops. */
  close(): Promise<void>;
}

/** A platform whose database is a private copy of a moment in the past. */
export interface RecoveredMoment {
  settings: Settings;
  /** Unix time in milliseconds of the last commit that the copy contains. Undefined if there was none since the base. */
  lastCommit: number | undefined;
  /** Stops and removes the copy. */
  close(): Promise<void>;
}

/** Begins to archive the WAL of the settings' database. It ends with `close`. */
export async function startPostgresArchive(
  settings: Settings,
  onState: (state: ArchiverState) => void,
): Promise<RunningArchive> {
  const { address, target, keys } = await openArchive(settings);
  const ending = new AbortController();
  let latest: ArchiverState = { doing: 'connecting' };
  const ended = runArchiver({
    address,
    password: settings.databasePassword,
    target,
    keys,
    everySeconds: settings.backup.archiveSeconds,
    spoolBytes: settings.backup.archiveSpoolBytes,
    clock: systemClock,
    random: systemRandom,
    onState(state) {
      latest = state;
      onState(state);
    },
    signal: ending.signal,
  });
  return {
    state: () => latest,
    async close() {
      ending.abort();
      await ended;
      await target.close();
    },
  };
}

/**
 * Recovers the database of the settings at a moment in a private directory below `dir`. Nothing of the live cluster is
 * changed.
 *
 * @throws IDKIT_NOT_FOUND before the first base, or without such an event; IDKIT_DAMAGED for a gap or damage;
 *   IDKIT_VERSION, IDKIT_NO_SPACE
 */
export async function recoverMoment(
  settings: Settings,
  moment: Moment,
  options: { makeDirectory(): Promise<string>; signal: AbortSignal; onFile?: (name: string) => void },
): Promise<RecoveredMoment> {
  const { address, target, keys } = await openArchive(settings);
  const { makeDirectory, ...watching } = options;
  try {
    const chains = await findChains(target, keys);
    const recover = async (chain: RestorableChain, base: BaseEnd, to: RecoveryTarget) =>
      recoverChain(chain, { target, keys, dir: await makeDirectory(), base, to, ...watching });
    const recoverTime = async (time: number) => {
      const milliseconds = Math.floor(time / 1000);
      const chain = chooseChain(chains, milliseconds);
      // After the last moment that is proven, the archive may contain more. It is all before the requested moment.
      const to: RecoveryTarget = milliseconds > chain.last ? { kind: 'newest' } : { kind: 'time', time };
      return recover(chain, chooseBase(chain, milliseconds), to);
    };
    const cluster =
      'time' in moment
        ? await recoverTime(moment.time)
        : await recoverBefore(moment.beforeEvent, {
            chains,
            recover,
            recoverTime,
            find: (found) => findEvent(settings, address, found, moment.beforeEvent),
          });
    return describe(settings, address, cluster);
  } finally {
    await target.close();
  }
}

async function openArchive(settings: Settings) {
  const { backup, database, dir, masterKey } = settings;
  if (backup.archive === null)
    throw new IdkitError('IDKIT_SETTING', 'the setting backup.archive names no place for the archive', {
      hints: ['set backup.archive in idkit.yaml to a directory, [user@]host:path, s3://… or rclone:…'],
    });
  if (database.kind !== 'postgres')
    throw new IdkitError('IDKIT_BUG', 'a SQLite file was opened as a Postgres database');
  return {
    address: parsePostgresUrl(database.url),
    target: await openTarget(absoluteLocation(backup.archive, dir)),
    keys: deriveArchiveKeys(checkMasterKey(masterKey)),
  };
}

/** Returns the address of a database of the recovered cluster. Roles log in there without a password. */
function addressIn({ socketDirectory }: RecoveredCluster, { user, database }: PostgresAddress): string {
  const [role, name] = [user, database].map(encodeURIComponent);
  return `postgres://${role}@/${name}?host=${encodeURIComponent(socketDirectory)}`;
}

function describe(settings: Settings, address: PostgresAddress, cluster: RecoveredCluster): RecoveredMoment {
  return {
    settings: {
      ...settings,
      runtime: 'embedded',
      database: { kind: 'postgres', url: addressIn(cluster, address) },
      databasePassword: undefined,
    },
    lastCommit: cluster.lastCommit === undefined ? undefined : Math.floor(cluster.lastCommit / 1000),
    close: () => cluster.close(),
  };
}

/** Finds an event and the transaction that wrote its row. */
async function findEvent(
  settings: Settings,
  address: PostgresAddress,
  cluster: RecoveredCluster,
  id: string,
): Promise<FoundEvent | undefined> {
  const context = openContext({
    address: parsePostgresUrl(addressIn(cluster, address)),
    password: undefined,
    programs: openLocalPrograms(),
    service: settings.service,
  });
  const [row] = await context.psql.query(
    address.database,
    settings.service === 'keycloak'
      ? `SELECT json_build_object('time', admin_event_time, 'transaction', xmin::text)
          FROM admin_event_entity WHERE id = ${literal(id)};`
      : `SELECT json_build_object('time', time, 'transaction', xmin::text)
          FROM admin_event WHERE doc::json->>'id' = ${literal(id)};`,
  );
  return row === undefined
    ? undefined
    : { time: Number(row['time']), transaction: String(row['transaction']) };
}
