import { deriveArchiveKeys } from '../../../archive/index.ts';
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
import { chooseChain, findChains, type RestorableChain, recoverChain } from './moments.ts';

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
  try {
    const chains = await findChains(target, keys);
    const recover = async (chain: RestorableChain, time: number, to: RecoveryTarget) =>
      recoverChain(chain, {
        target,
        keys,
        dir: await options.makeDirectory(),
        time,
        to,
        signal: options.signal,
        ...(options.onFile === undefined ? {} : { onFile: options.onFile }),
      });
    if ('time' in moment) {
      const time = Math.floor(moment.time / 1000);
      const chain = chooseChain(chains, time);
      // After the last moment that is proven, the archive may contain more. It is all before the requested moment.
      const to: RecoveryTarget = time > chain.last ? { kind: 'newest' } : { kind: 'time', time: moment.time };
      return describe(settings, address, await recover(chain, time, to));
    }
    const newest = chains.at(-1);
    if (newest === undefined)
      throw new IdkitError('IDKIT_NOT_FOUND', `the archive at ${target.label} is empty`);
    const probe = await recover(newest, newest.last, { kind: 'newest' });
    const event = await findEvent(settings, address, probe, moment.beforeEvent).finally(() => probe.close());
    const chain = chooseChain(chains, event.time);
    const cluster = await recover(chain, event.time, { kind: 'before transaction', id: event.transaction });
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

/** Finds the transaction that wrote an event. @throws IDKIT_NOT_FOUND */
async function findEvent(
  settings: Settings,
  address: PostgresAddress,
  cluster: RecoveredCluster,
  id: string,
): Promise<{ time: number; transaction: string }> {
  const context = openContext({
    address: parsePostgresUrl(addressIn(cluster, address)),
    password: undefined,
    programs: openLocalPrograms(),
    service: settings.service,
  });
  const [row] = await context.psql.query(
    address.database,
    `SELECT json_build_object('time', time, 'transaction', xmin::text)
      FROM admin_event WHERE doc::json->>'id' = ${literal(id)};`,
  );
  if (row === undefined)
    throw new IdkitError('IDKIT_NOT_FOUND', `the newest moment of the archive has no event ${id}`, {
      hints: ['the events of administrators are in the console, and in GET /admin/realms/REALM/admin-events'],
    });
  return { time: Number(row['time']), transaction: String(row['transaction']) };
}
