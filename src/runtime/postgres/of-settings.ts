import { parsePostgresUrl, type Settings } from '../../config/index.ts';
import { IdkitError, type Random, type Secret } from '../../core/index.ts';
import type { PostgresLocation } from '../../postgres/index.ts';
import type { DatabaseHalf, GateSign } from '../contract.ts';
import { openStoreWork, type StoreWork } from '../embedded/store-work.ts';
import { guardVersion } from '../keycloak/guard-version.ts';
import { KEYCLOAK_STORE_WORK } from '../keycloak/store-work.ts';
import { openContext, openPostgresDatabase, type PostgresDatabase } from './database.ts';
import { lockAlone, makeGate } from './gate.ts';
import { openLocalPrograms } from './local-programs.ts';
import type { PostgresPrograms } from './programs.ts';
import type { ScratchPlace } from './scratch-cluster.ts';
import { openScratchDatabase } from './scratch-database.ts';
import type { ScratchAdministrator } from './scratch-role.ts';

/** How the database of a platform is reached. */
export interface PostgresAccess {
  programs: PostgresPrograms;
  /** This process can connect to it by itself; false for one in a container, whose port is not published. */
  reachable: boolean;
  /** Tried where the server refuses the password of the settings: what it was before, or is to be. */
  otherPasswords?: readonly Secret[];
  /** Is given what tells whether `keepServicesOut` holds. */
  sign?: GateSign;
  /** Of a server that is there for a test alone. */
  administrator?: ScratchAdministrator | undefined;
}

/** A `postgres://` database as the settings of a platform name it. */
export function openPostgresOf(settings: Settings, access: PostgresAccess): DatabaseHalf {
  const { database } = settings;
  if (database.kind !== 'postgres')
    throw new IdkitError('IDKIT_BUG', 'a database of another kind was opened as Postgres');
  const { service, databasePassword: password, masterKey, masterKeyOld } = settings;
  const { programs, otherPasswords = [] } = access;
  const address = parsePostgresUrl(database.url);
  // The public image trusts whoever is in the container.
  const asksNoPassword = !access.reachable;
  const common = { address, location: database.url, password, otherPasswords, programs, asksNoPassword };
  const { administrator } = access;
  const location: PostgresLocation = { url: database.url, password, withoutLock: true };
  const gate = makeGate(location, otherPasswords);
  const postgres = openPostgresDatabase({
    ...common,
    service,
    masterKey,
    masterKeyOld,
    gate,
    ...(administrator === undefined ? {} : { administrator }),
  });
  if (service === 'keycloak') {
    const database = { ...postgres, ...KEYCLOAK_STORE_WORK };
    return guardVersion(database, () => postgres.readSchemaVersion());
  }
  if (!access.reachable) return { ...postgres, ...withoutStore('the database is in a container') };
  if (access.sign !== undefined) access.sign.isShut = () => gate.isShut;
  return {
    ...postgres,
    ...openStoreWork(settings, placeOf(location, postgres)),
    // Nobody stops these services for a restore: one that runs, on whatever machine, is told before anything is done.
    async checkDump(dump, options) {
      if (options?.asks !== false) await postgres.checkUnused();
      await postgres.checkDump(dump, options);
    },
    async keepServicesOut() {
      await gate.shut();
      return { release: () => gate.open() };
    },
  };
}

/** A database of its own on the server of the platform's. See `openScratch`. */
export async function openScratchBeside(settings: Settings, random: Random): Promise<ScratchPlace> {
  const { database, databasePassword: password, service, masterKey, masterKeyOld } = settings;
  if (database.kind !== 'postgres') throw new IdkitError('IDKIT_BUG', 'a server was looked for in a file');
  const address = parsePostgresUrl(database.url);
  const common = { address, location: database.url, password, programs: openLocalPrograms() };
  const context = openContext({ ...common, service, masterKey, masterKeyOld });
  return openScratchDatabase(context, database.url, random);
}

function placeOf(location: PostgresLocation, postgres: PostgresDatabase) {
  return {
    location,
    exists: () => postgres.hasTables(),
    async alone<T>(_command: string, work: () => Promise<T>): Promise<T> {
      const lock = await lockAlone(location);
      try {
        return await work();
      } finally {
        await lock.release();
      }
    },
  };
}

/** What only idkit's own store can do, where it cannot be opened from here. */
function withoutStore(why: string): StoreWork {
  const refuse = async (): Promise<never> => {
    throw new IdkitError('IDKIT_UNREACHABLE', `idkit's store cannot be opened from here: ${why}`, {
      hints: ['start the service: what it knows is asked over its administrative API'],
    });
  };
  return {
    readSnapshot: refuse,
    listUnenforced: async () => [],
    recoverAdministrator: refuse,
    changeMasterKey: refuse,
  };
}
