import { hostname } from 'node:os';
import { parsePostgresUrl } from '../../config/index.ts';
import { type Clock, IdkitError, type Random, type Secret, uuid } from '../../core/index.ts';
import { type Keyring, openKeyring } from '../sealing/keyring.ts';
import { ChangeFeed } from './change-feed.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';
import { mapFault } from './faults.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { readPoolSizes } from './pool-size.ts';
import { PostgresStore } from './postgres-store.ts';
import { resealAll } from './reseal.ts';
import { checkServer, migrate, readKeyState, readSchemaVersion } from './schema-state.ts';
import { SharedClock } from './shared-clock.ts';

/** Milliseconds for which an opening waits for its server, where the address has no `connect_timeout`. */
const PATIENCE_MS = 5_000;

/** Where a Postgres database is. */
export interface PostgresLocation {
  /** As `parsePostgresUrl` takes it. */
  url: string;
  /** Goes before one in the address and before the password file. */
  password?: Secret | undefined;
  /** What the server's administrator sees; default: `idkit HOST PID`. */
  applicationName?: string | undefined;
  /** True where the caller holds the lock of services by itself (`lockPostgres`), or opens for reading. */
  withoutLock?: boolean;
}

export interface PostgresOptions {
  location: PostgresLocation;
  masterKey: Secret;
  masterKeyOld?: Secret | undefined;
  /** Absent: the machine's, corrected to the server's in a store for writing. */
  clock: Clock | undefined;
  machineClock: Clock;
  random: Random;
  mode: 'write' | 'read';
}

/** Opens connections to a location. Nothing is asked yet. @throws IDKIT_SETTING */
export function connectionsTo(
  { url, password, applicationName }: PostgresLocation,
  options: ConnectionsOptions,
): Connections {
  const name = (applicationName ?? defaultName()).slice(0, 63);
  return new Connections({ address: parsePostgresUrl(url), password, applicationName: name }, options);
}

/** Finds the server that takes writes, checks it, migrates, proves the key, finishes a rotation. See `openStore`. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const { random, mode, machineClock } = options;
  const keyring = openKeyring(options.masterKey, options.masterKeyOld);
  const holdsLock = mode === 'write' && options.location.withoutLock !== true;
  const connections = connectionsTo(options.location, { holdsLock });
  try {
    connections.sizes = await connections.use(
      async (client) => {
        await checkServer(client, connections.place);
        const version = await readSchemaVersion(client, connections.place);
        if (version > 0) await readKeyState(client, keyring);
        if (mode === 'write') {
          const state = await migrate(client, connections.place, keyring, random);
          if (state === 'rotating') await resealAll(client, keyring, random);
        } else if (version < MIGRATIONS.length) throw unprepared(connections.place, version);
        return readPoolSizes(client);
      },
      { patience: patienceOf(connections) },
    );
    const shared = new SharedClock(machineClock);
    const feed =
      mode === 'write'
        ? await ChangeFeed.open({ connections, origin: uuid(random), clock: shared })
        : undefined;
    const clock = options.clock ?? (feed === undefined ? machineClock : shared);
    return new PostgresStore({ connections, sealing: { keyring, random }, clock, feed });
  } catch (error) {
    await connections.close();
    throw mapFault(error, connections.place);
  }
}

/** Seals every secret of a database with the keyring's current key. See `rotateMasterKey`. */
export async function rotateMasterKeyIn(
  location: PostgresLocation,
  keyring: Keyring,
  random: Random,
): Promise<{ records: number }> {
  const connections = connectionsTo(location, { holdsLock: false });
  try {
    return await connections.use(
      async (client) => {
        await checkServer(client, connections.place);
        if ((await readSchemaVersion(client, connections.place)) === 0)
          throw unprepared(connections.place, 0);
        await migrate(client, connections.place, keyring, random);
        return resealAll(client, keyring, random);
      },
      { patience: patienceOf(connections) },
    );
  } catch (error) {
    throw mapFault(error, connections.place);
  } finally {
    await connections.close();
  }
}

function patienceOf({ address }: Connections): number {
  return address.connectTimeout === undefined ? PATIENCE_MS : address.connectTimeout * 1000;
}

function unprepared(place: string, version: number): IdkitError {
  return version === 0
    ? new IdkitError('IDKIT_NOT_FOUND', `the database at ${place} is empty`)
    : new IdkitError(
        'IDKIT_VERSION',
        `the database at ${place} has schema ${version}, older than this idkit's ${MIGRATIONS.length}`,
        { hints: ['start the service once: idkit serve'] },
      );
}

function defaultName(): string {
  return `idkit ${hostname()} ${process.pid}`;
}
