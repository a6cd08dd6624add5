import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BaseEnd, deriveArchiveKeys } from '../../../archive/index.ts';
import {
  checkMasterKey,
  type PostgresAddress,
  parsePostgresUrl,
  type Settings,
} from '../../../config/index.ts';
import { IdkitError, type Secret } from '../../../core/index.ts';
import {
  literal,
  openContext,
  openLocalPrograms,
  type RecoveredCluster,
  type RecoveryTarget,
  recoverCluster,
  scratchRoom,
} from '../../../pgtools/index.ts';
import { absoluteLocation, openTarget, type Target } from '../../../target/index.ts';
import type { FoundMoment, Moment } from '../../contract.ts';
import { type FoundEvent, findBeforeEvent, recoverBefore } from './before-event.ts';
import { parseArchives } from './facts.ts';
import { type ForeignArchive, labelOf, listForeign, openForeign, parseForeign } from './foreign.ts';
import { chooseBase, chooseChain, findChains, type RestorableChain, recoverChain } from './moments.ts';

/** Where an archive is, and the database that it contains. */
export type ArchiveSettings = Pick<Settings, 'backup' | 'dir' | 'masterKey' | 'service'> & {
  address: PostgresAddress;
};

/** A database of a recovered cluster. Roles log in there without a password. */
export interface RecoveredDatabase {
  address: PostgresAddress;
  /** The address as a URL. */
  location: string;
  /** Stops and removes the cluster. */
  close(): Promise<void>;
}

interface Archive {
  target: Target;
  chains: readonly RestorableChain[];
  recover(chain: RestorableChain, base: BaseEnd, to: RecoveryTarget): Promise<RecoveredCluster>;
  find(cluster: RecoveredCluster, event: string): Promise<FoundEvent | undefined>;
}

/** Room for the WAL files in use and for what the replay adds, in bytes. */
const EXTRA_BYTES = 256 * 1024 * 1024;

/**
 * Finds a moment in the archive of a Postgres cluster. For an event, this replays the newest moment. Changes nothing.
 *
 * @throws IDKIT_SETTING without an archive; IDKIT_NOT_FOUND before the first base, or without such an event;
 *   IDKIT_DAMAGED for a gap or damage; IDKIT_VERSION, IDKIT_NO_SPACE
 */
export async function findPostgresMoment(
  settings: ArchiveSettings,
  moment: Moment,
  masterKey: Secret | undefined,
  signal: AbortSignal,
): Promise<FoundMoment> {
  const foreign = parseForeign(settings.backup.archive ?? '');
  if (foreign !== undefined) return findForeignMoment(settings, foreign, moment, signal);
  return withArchive(settings, masterKey, { signal }, async ({ chains, recover, find }) => {
    if ('at' in moment) {
      const chain = chooseChain(chains, moment.at);
      const base = chooseBase(chain, moment.at);
      const bytes = sizeOf(chain, base);
      await checkRoom(bytes);
      return describe(chain, base, { at: Math.min(moment.at, chain.last), bytes });
    }
    const newest = chains.at(-1);
    if (newest !== undefined) await checkRoom(sizeOf(newest, newest.bases.at(-1)!));
    const event = await findBeforeEvent(moment.before, {
      chains,
      recover,
      find: (one) => find(one, moment.before),
    });
    const { chain, base } = event.candidates[0]!;
    return {
      ...describe(chain, base, { at: event.time, bytes: sizeOf(chain, base) }),
      event: moment.before,
      transaction: event.transaction,
    };
  });
}

/** Recovers a moment that was found, in a private copy of the cluster. Nothing of the live cluster is changed. */
export async function recoverPostgresMoment(
  settings: ArchiveSettings,
  found: FoundMoment,
  options: { masterKey?: Secret | undefined; signal: AbortSignal; onFile?: () => void },
): Promise<RecoveredDatabase> {
  const foreign = parseForeign(settings.backup.archive ?? '');
  if (foreign !== undefined) return recoverForeign(settings, foreign, found, options.signal);
  return withArchive(settings, options.masterKey, options, async ({ chains, recover, find }) => {
    const { event, transaction } = found;
    let cluster: RecoveredCluster;
    if (event !== undefined && transaction !== undefined)
      cluster = await recoverBefore(
        { event, transaction, time: found.at },
        { chains, recover, find: (one) => find(one, event) },
      );
    else {
      const chain = chains.find(({ listing }) => listing.name === found.chain);
      const base = chain?.bases.find((one) => one.base === found.base);
      if (chain === undefined || base === undefined)
        throw new IdkitError('IDKIT_DAMAGED', `the archive no longer contains the chain ${found.chain}`);
      cluster = await recover(chain, base, { kind: 'time', time: found.at * 1000 });
    }
    return openIn(cluster, settings.address);
  });
}

/** Finds a moment in the archive of another program. It shows the end of the archive only when it is restored. */
async function findForeignMoment(
  settings: ArchiveSettings,
  foreign: ForeignArchive,
  moment: Moment,
  signal: AbortSignal,
): Promise<FoundMoment> {
  const place = { chain: labelOf(foreign), base: 0, generation: 0, position: 0, bytes: EXTRA_BYTES };
  if ('at' in moment) {
    await openForeign(foreign, moment.at);
    return { ...place, at: moment.at };
  }
  const newest = { ...place, at: (await listForeign(foreign)).at(-1)?.endedAt ?? 0 };
  const copy = await recoverForeign(settings, foreign, newest, signal, { kind: 'newest' });
  const event = await findEvent(copy, settings.service, moment.before).finally(() => copy.close());
  if (event === undefined)
    throw new IdkitError(
      'IDKIT_NOT_FOUND',
      `the newest moment of ${labelOf(foreign)} has no event ${moment.before}`,
    );
  await openForeign(foreign, event.time);
  return { ...place, at: event.time, event: moment.before, transaction: event.transaction };
}

async function recoverForeign(
  { address }: ArchiveSettings,
  foreign: ForeignArchive,
  { at, transaction }: FoundMoment,
  signal: AbortSignal,
  to: RecoveryTarget = transaction === undefined
    ? { kind: 'time', time: at * 1000 }
    : { kind: 'before transaction', id: transaction },
): Promise<RecoveredDatabase> {
  const place = await mkdtemp(join(tmpdir(), 'idkit-moment-'));
  const remove = () => rm(place, { recursive: true, force: true, maxRetries: 3 });
  try {
    const cluster = await recoverCluster(place, await openForeign(foreign, at, to), to, { signal });
    return openIn({ ...cluster, close: async () => cluster.close().finally(remove) }, address);
  } catch (error) {
    await remove();
    throw error;
  }
}

async function withArchive<T>(
  { backup, dir, address, service, ...settings }: ArchiveSettings,
  masterKey: Secret | undefined,
  { signal, onFile }: { signal: AbortSignal; onFile?: () => void },
  work: (archive: Archive) => Promise<T>,
): Promise<T> {
  if (backup.archive === null)
    throw new IdkitError('IDKIT_SETTING', 'restore --at needs an archive, but backup.archive is not set', {
      hints: ['set backup.archive in idkit.yaml to the place of the archive'],
    });
  const keys = deriveArchiveKeys(masterKey ?? checkMasterKey(settings.masterKey));
  const target = await openTarget(absoluteLocation(backup.archive, dir));
  try {
    return await work({
      target,
      chains: await findChains(target, keys),
      async recover(chain, base, to) {
        const place = await mkdtemp(join(tmpdir(), 'idkit-moment-'));
        const remove = () => rm(place, { recursive: true, force: true, maxRetries: 3 });
        try {
          const watching = { signal, ...(onFile === undefined ? {} : { onFile }) };
          const cluster = await recoverChain(chain, { target, keys, dir: place, base, to, ...watching });
          return { ...cluster, close: async () => cluster.close().finally(remove) };
        } catch (error) {
          await remove();
          throw error;
        }
      },
      find: (cluster, event) => findEvent(openIn(cluster, address), service, event),
    });
  } finally {
    await target.close();
  }
}

function describe(
  { listing }: RestorableChain,
  { base, generation, first }: BaseEnd,
  facts: { at: number; bytes: number },
): FoundMoment {
  return { chain: listing.name, base, generation, position: first.position, ...facts };
}

function sizeOf({ listing }: RestorableChain, base: BaseEnd): number {
  return parseArchives(listing, base).reduce((sum, { bytes }) => sum + bytes, EXTRA_BYTES);
}

/** @throws IDKIT_NO_SPACE if the disk on which the cluster would be recovered cannot hold a copy of it */
async function checkRoom(bytes: number): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), 'idkit-moment-'));
  try {
    const { disk, free } = await scratchRoom(place);
    if (free >= bytes) return;
    throw new IdkitError(
      'IDKIT_NO_SPACE',
      `the copy of the database cluster needs ${bytes} bytes in ${disk}, but ${free} are free`,
      {
        hints: [
          'set TMPDIR to a directory on another disk, with a short path that the user postgres may enter',
        ],
      },
    );
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

function openIn(cluster: RecoveredCluster, { user, database }: PostgresAddress): RecoveredDatabase {
  const [role, name] = [user, database].map(encodeURIComponent);
  const location = `postgres://${role}@/${name}?host=${encodeURIComponent(cluster.socketDirectory)}`;
  return { address: parsePostgresUrl(location), location, close: () => cluster.close() };
}

/** Finds an event and the transaction that wrote its row. */
async function findEvent(
  { address }: RecoveredDatabase,
  service: Settings['service'],
  id: string,
): Promise<FoundEvent | undefined> {
  const context = openContext({ address, password: undefined, programs: openLocalPrograms(), service });
  const [row] = await context.psql.query(
    address.database,
    service === 'keycloak'
      ? `SELECT json_build_object('time', admin_event_time, 'transaction', xmin::text)
          FROM admin_event_entity WHERE id = ${literal(id)};`
      : `SELECT json_build_object('time', time, 'transaction', xmin::text)
          FROM admin_event WHERE doc::json->>'id' = ${literal(id)};`,
  );
  return row === undefined
    ? undefined
    : { time: Number(row['time']), transaction: String(row['transaction']) };
}
