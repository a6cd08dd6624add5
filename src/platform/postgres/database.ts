import type { DumpReport } from '../../backupset/index.ts';
import type { Secret } from '../../core/index.ts';
import {
  type ConnectionOptions,
  checkConstraints,
  checkServerFits,
  createSide,
  discard,
  dumpPostgres,
  emptyLive,
  findDatabases,
  findTraits,
  handOver,
  hasServiceTables,
  loadGuarded,
  makeRoles,
  openContext,
  queryBeside,
  readServer,
  readServiceFacts,
  reopen,
  SERVICE_SCHEMAS,
  setPassword,
  sideBytes,
  swapBack,
  swapIn,
  swapNames,
} from '../../pgtools/index.ts';
import type { DatabaseHalf, SideDatabase, SwapOptions } from '../contract.ts';
import { checkDumpFits, checkSeals } from './check-dump.ts';
import type { Gate } from './gate.ts';
import { checkUnused } from './gate.ts';

/** Bytes of a dump in which idkit's own comments lie. */
const HEAD_BYTES = 64 * 1024;
/** Seconds that counting the users of a large database may take. */
const COUNT_SECONDS = 600;
/** Seconds that statistics of a loaded database may take. */
const ANALYZE_SECONDS = 3600;
/** Seconds to wait for a server that is just starting, where the old state depends on it. */
const PATIENCE = 15;

/** What the database half of a platform on Postgres is made from. */
export interface PostgresDatabaseOptions extends ConnectionOptions {
  /** For people and for journals: the address as the settings have it, which holds no password. */
  location: string;
  /** The programs run where the server asks nobody for a password, so that one it took tells nothing of the role's. */
  asksNoPassword?: boolean;
  masterKey: Secret | undefined;
  masterKeyOld: Secret | undefined;
  /** Keeps services out of the live database; absent where none but the platform's own can reach it. */
  gate?: Gate;
}

/** What needs the store itself, and cannot be done through psql. */
export type StoreWork = 'readSnapshot' | 'listUnenforced' | 'recoverAdministrator' | 'changeMasterKey';

/** The part of `DatabaseHalf` that goes through psql and pg_dump alone. */
export interface PostgresDatabase extends Omit<DatabaseHalf, StoreWork> {
  /** A service has made its tables there. */
  hasTables(): Promise<boolean>;
  /** Of what is live, as a dump's `schemaVersion`; 0 without a database or tables. */
  readSchemaVersion(): Promise<number>;
  /** No idkit service is at work on it, on whatever machine. @throws IDKIT_SERVICE_RUNNING */
  checkUnused(): Promise<void>;
}

/** A database on a Postgres server: idkit's own or Keycloak's. Opens nothing yet. */
export function openPostgresDatabase(options: PostgresDatabaseOptions): PostgresDatabase {
  const context = openContext(options);
  const { psql, database } = context;
  const { gate } = options;
  const names = (id: string) => swapNames(database, id);
  const targetOf = (id: string, swap: SwapOptions | undefined) =>
    swap?.inPlace === true ? database : names(id).side;
  const schema = SERVICE_SCHEMAS[options.service];
  const ask = (name: string) => (sql: string) => psql.query(name, sql, { seconds: COUNT_SECONDS });
  const readCounts = async (name: string): Promise<SideDatabase> => ({
    ...(await readServiceFacts(schema, ask(name))),
    location: name,
  });
  const exists = async () => (await findDatabases(context, [database])).has(database);
  /** Asks the server anything first, so that it is known which password it takes. */
  const passwordToSet = async (wanted: Secret | undefined): Promise<Secret | undefined> => {
    await queryBeside(context, 'SELECT 1;', { patience: PATIENCE });
    if (context.administrator !== undefined) return undefined;
    if (options.asksNoPassword === true) return wanted;
    return psql.password?.reveal() === wanted?.reveal() ? undefined : wanted;
  };
  /** Another database has the live one's name, and services stay out of it by its comment until they do by its lock. */
  const shutGate = async () => {
    await gate?.shutAgain();
    if (gate?.isWanted === true) await reopen(context, database);
  };
  let promised: DumpReport | undefined;

  return {
    describeDatabase: () => ({
      database: 'postgres',
      databaseLocation: options.location,
      databaseName: database,
    }),
    dumpDatabase: (write, dumpOptions) => dumpPostgres(context, write, dumpOptions),

    async checkDump(dump, swap) {
      checkDumpFits(options, dump, swap);
      if (swap?.asks === false) return;
      promised = dump;
      if (context.administrator !== undefined)
        await makeRoles(context, dump.postgres?.roles ?? [], options.address.user);
      await checkServerFits(context, dump, swap);
    },
    async loadDatabase(sql, { id, signal, onProgress, inPlace }) {
      const { head, whole } = await peek(sql);
      const source = findTraits(head);
      const { major: serverMajor } =
        promised === undefined
          ? await readServer(context)
          : await checkServerFits(context, promised, { inPlace: inPlace === true });
      if (inPlace !== true) await discard(context, names(id), { old: false });
      const { notes, replaced } =
        inPlace === true
          ? await emptyLive(context, names(id), source, { closed: gate?.isWanted === true })
          : { notes: await createSide(context, names(id), source), replaced: false };
      if (replaced) await shutGate();
      const target = targetOf(id, { inPlace: inPlace === true });
      if (context.administrator !== undefined) await handOver(context, target, options.address.user);
      await loadGuarded(context, target, whole, {
        id,
        serverMajor,
        signal,
        ...(onProgress === undefined ? {} : { onProgress }),
      });
      return { location: target, ...(notes.length === 0 ? {} : { notes }) };
    },
    async checkLoaded(id, masterKey, { signal, ...swap } = {}) {
      const target = targetOf(id, swap);
      await checkConstraints(context, target);
      // A loaded database has no statistics yet; without them the service would be slow at first.
      const asked = { ...(signal === undefined ? {} : { signal }), seconds: ANALYZE_SECONDS };
      const [counts] = await Promise.all([readCounts(target), psql.query(target, 'ANALYZE;', asked)]);
      const owner = { ...options, masterKey: masterKey ?? options.masterKey };
      await checkSeals(context, target, owner, counts.schemaVersion);
      return counts;
    },
    async swapDatabase(id, swap) {
      const password = await passwordToSet(options.password);
      await checkUnused(context);
      const inPlace = swap?.inPlace === true;
      if (inPlace) await setPassword(context, password);
      const closed = gate?.isWanted === true;
      const { replaced } = inPlace
        ? { replaced: false }
        : await swapIn(context, names(id), id, { password, closed });
      if (password !== undefined) psql.preferPassword(password);
      if (replaced) await shutGate();
      else if (closed) await reopen(context, database);
    },
    async unswapDatabase(id, { password } = {}) {
      await swapBack(context, names(id), id, await passwordToSet(password));
      if (password !== undefined) psql.preferPassword(password);
    },
    async checkMasterKey() {
      const { schemaVersion } = await readCounts(database);
      if (schemaVersion > 0) await checkSeals(context, database, options, schemaVersion);
    },
    hasTables: async () => (await exists()) && (await hasServiceTables(schema, ask(database))),
    readSchemaVersion: async () =>
      (await exists()) ? (await readServiceFacts(schema, ask(database))).schemaVersion : 0,
    checkUnused: () => checkUnused(context),
    sideBytes: (id) => sideBytes(context, names(id)),
    discardDatabase: (id, what) => discard(context, names(id), what),
    async databaseRoom() {
      const { dataDirectory, startedAt } = await readServer(context);
      const freeBytes =
        dataDirectory === undefined
          ? undefined
          : await options.programs.freeBytes(dataDirectory, { startedAt });
      return { place: psql.location, here: false, freeBytes };
    },
  };
}

/** The beginning of a dump's text, and the whole of it still to be read. */
async function peek(
  sql: AsyncIterable<Uint8Array>,
): Promise<{ head: string; whole: AsyncIterable<Uint8Array> }> {
  const iterator = sql[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let over = false;
  while (bytes < HEAD_BYTES && !over) {
    const { done, value } = await iterator.next();
    over = done === true;
    if (value === undefined) break;
    chunks.push(value);
    bytes += value.length;
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield* chunks;
    if (!over) yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { head: Buffer.concat(chunks).toString('utf8', 0, HEAD_BYTES), whole: whole() };
}
