import type { Client } from 'pg';
import { type Clock, IdkitError, type Random, type Secret, uuid } from '../../core/index.ts';
import { connectionsTo, type Lane, patienceOf } from '../../postgres/driver.ts';
import { mapFault, oneRow, type PostgresLocation } from '../../postgres/index.ts';
import { SCHEMA_VERSION } from '../migrations/index.ts';
import { type Keyring, openKeyring } from '../sealing/keyring.ts';
import { ChangeFeed } from './change-feed.ts';
import { PostgresStore } from './postgres-store.ts';
import { resealAll } from './reseal.ts';
import { checkServer, migrate, readKeyState, readSchemaVersion } from './schema-state.ts';
import { SharedClock } from './shared-clock.ts';

export interface PostgresOptions {
  location: PostgresLocation;
  masterKey: Secret;
  masterKeyOld?: Secret | undefined;
  /**
   * The clock that decides what has expired. Default: `machineClock`, which a store for writing corrects to the
   * server's clock.
   */
  clock: Clock | undefined;
  machineClock: Clock;
  random: Random;
  mode: 'write' | 'read';
}

/**
 * Opens a store on the server that accepts writes: checks the server, migrates the schema, checks the master key and
 * finishes an interrupted rotation. See `openStore`.
 */
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
          const state = await migrate(client, connections.place, keyring, random, {
            isService: holdsLock,
          });
          if (state === 'rotating') await resealAll(client, keyring, random);
        } else if (version < SCHEMA_VERSION) throw unprepared(connections.place, version);
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
    const store = new PostgresStore({ connections, sealing: { keyring, random }, clock, feed });
    if (mode === 'write') await store.readFinishedMigrations();
    return store;
  } catch (error) {
    await connections.close();
    throw mapFault(error, connections.place);
  }
}

/** Encrypts every secret of a database with the keyring's current key. See `rotateMasterKey`. */
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

function unprepared(place: string, version: number): IdkitError {
  return version === 0
    ? new IdkitError('IDKIT_NOT_FOUND', `the database at ${place} is empty`)
    : new IdkitError(
        'IDKIT_VERSION',
        `the database at ${place} has schema ${version}, which is older than schema ${SCHEMA_VERSION} of this idkit`,
        { hints: ['start the service once to migrate it: idkit serve'] },
      );
}

/** Maximum number of connections of one store. With more, statements would only wait for each other's row locks. */
const LARGEST = 16;
/** Minimum number of connections for requests. With fewer, one long write would delay every refresh. */
const SMALLEST = 2;
/** One store uses at most one fifth of the server's connections. */
const PART = 5;

/** Numbers of connections for the work of administrators if the store has at least `ENOUGH` connections. */
const MANY = { reads: 4, changes: 4 };
const FEW = { reads: 2, changes: 1 };
const ENOUGH = 12;

/**
 * Returns the number of connections for this store, depending on the limits of the server, the database and the user.
 */
export async function readPoolSizes(client: Pick<Client, 'query'>): Promise<Record<Lane, number>> {
  const result = await client.query<{ connections: number }>(`
    SELECT least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
      (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
      (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)
    ) AS connections`);
  const all = Math.min(LARGEST, Math.floor(oneRow(result).connections / PART));
  const administrative = all < ENOUGH ? FEW : MANY;
  const rest = all - administrative.reads - administrative.changes;
  return { ...administrative, requests: Math.max(SMALLEST, rest) };
}
