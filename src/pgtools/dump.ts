import { IdkitError, releaseMemory } from '../core/index.ts';
import type { PostgresContext } from './context.ts';
import { explainEnd } from './faults.ts';
import type { ProgramEnd } from './programs/programs.ts';
import { readServer } from './server.ts';
import { type RealmCount, readServiceFacts, SERVICE_SCHEMAS } from './service-tables.ts';
import { parseTraits, renderTraits, traitsQuery } from './traits.ts';

/** The last line of pg_dump's output; only `\unrestrict` may follow. */
const END = '-- PostgreSQL database dump complete';
/** The last line is within this many bytes of the end of the output. */
const TAIL_BYTES = 400;

/** Timeout in seconds for counting the users of a large database. */
const COUNT_SECONDS = 600;

/** Exports the snapshot that pg_dump dumps. The transaction keeps it alive. */
const SNAPSHOT = `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
  SELECT json_build_object('snapshot', pg_export_snapshot(), 'bytes', pg_database_size(current_database()),
    'rows', (SELECT sum(greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 0)) FROM pg_class c
      WHERE c.relkind = 'r' AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)));`;

/** Rows are lines. Counting the lines of every eighth chunk is enough for an estimate. */
const COUNTED_CHUNK = 8;

/** A summary of a dump. */
export interface PostgresDump {
  kind: 'postgres';
  /** The server's version. */
  version: string;
  schemaVersion: number;
  databaseBytes: number;
  /** The realms with their numbers of users, counted in the dump's own snapshot. */
  realms: readonly RealmCount[];
}

/**
 * Writes a plain pg_dump, preceded by comments with the database properties that pg_dump omits. The returned counts and
 * the schema version come from the same snapshot.
 *
 * @throws IDKIT_UNREACHABLE (also if a table stays locked, or if the server sends nothing for too long),
 *   IDKIT_CREDENTIALS, IDKIT_VERSION; errors of `write` unchanged. No session remains on the server after an error.
 */
export async function dumpPostgres(
  context: PostgresContext,
  write: (chunk: Uint8Array) => Promise<void>,
  options: { signal: AbortSignal; onProgress?: (bytes: number, total?: number) => void },
): Promise<PostgresDump> {
  const { psql, database, random } = context;
  const { signal } = options;
  const applicationName = `idkit-backup-${random.bytes(6).toString('hex')}`;
  const server = await readServer(context, { signal, database });
  const session = await psql.openSession(database, {
    signal,
    applicationName,
    seconds: COUNT_SECONDS,
    lockSeconds: context.lockWaitSeconds,
  });
  let failed = true;
  try {
    const [moment = {}] = await session.ask(SNAPSHOT);
    const facts = await readServiceFacts(SERVICE_SCHEMAS[context.service], (sql) => session.ask(sql));
    const [traits] = await session.ask(traitsQuery('d.datname = current_database()'));
    // The server's estimate. It is 0 for a database that was never analyzed.
    const rows = Number(moment['rows'] ?? 0);
    let bytes = 0;
    let lines = 0;
    let chunks = 0;
    const counted = async (chunk: Uint8Array) => {
      if (chunks % COUNTED_CHUNK === 0) lines += countLines(chunk) * COUNTED_CHUNK;
      chunks += 1;
      await write(chunk);
      bytes += chunk.length;
      const isKnown = rows > 0 && lines > 0;
      options.onProgress?.(bytes, isKnown ? Math.round(bytes * Math.max(1, rows / lines)) : undefined);
    };
    await counted(Buffer.from(renderTraits(parseTraits(traits))));
    await runPgDump(context, counted, {
      signal,
      applicationName,
      serverMajor: server.major,
      snapshot: String(moment['snapshot']),
    });
    failed = false;
    return {
      kind: 'postgres',
      version: server.versionText,
      schemaVersion: facts.schemaVersion,
      databaseBytes: Number(moment['bytes']),
      realms: facts.realms,
    };
  } finally {
    // Ends the dump's processes on the server. On its own, a process would notice that its client has left only when it
    // next sends something.
    if (failed) await context.endBackends(applicationName);
    await session.close();
  }
}

function countLines(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  return lines;
}

async function runPgDump(
  context: PostgresContext,
  write: (chunk: Uint8Array) => Promise<void>,
  options: { signal: AbortSignal; applicationName: string; serverMajor: number; snapshot: string },
): Promise<void> {
  const { psql, database, programs, lockWaitSeconds, stallSeconds } = context;
  const { signal, applicationName, snapshot } = options;
  const program = await programs.find('pg_dump', options.serverMajor);
  const { args, target } = psql.connect(database, applicationName);
  const run = await program.start(
    [
      '--format=plain',
      '--encoding=UTF8',
      // Omits replication and security labels, which are not contents of the database.
      '--no-subscriptions',
      '--no-publications',
      '--no-security-labels',
      `--lock-wait-timeout=${lockWaitSeconds}s`,
      `--snapshot=${snapshot}`,
      ...args,
    ],
    target,
  );
  run.stdin.end();
  let stalled = false;
  const stop = () => run.kill();
  const watch = setTimeout(() => {
    stalled = true;
    stop();
  }, stallSeconds * 1000);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  let tail = Buffer.alloc(0);
  let end: ProgramEnd | undefined;
  try {
    for await (const chunk of run.stdout as AsyncIterable<Buffer>) {
      await write(chunk);
      tail = Buffer.concat([tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
      releaseMemory(chunk);
      watch.refresh();
    }
    end = await run.ended;
  } finally {
    clearTimeout(watch);
    signal.removeEventListener('abort', stop);
    if (end === undefined) {
      stop();
      await run.ended;
    }
  }
  signal.throwIfAborted();
  if (end.unreached !== undefined) throw end.unreached;
  if (stalled)
    throw new IdkitError(
      'IDKIT_UNREACHABLE',
      `the database ${database} at ${psql.location} sent nothing for ${stallSeconds} s`,
    );
  if (end.code !== 0) throw explainEnd('pg_dump', end, { database, location: psql.location });
  if (!tail.toString('latin1').includes(`\n${END}\n`))
    throw new IdkitError('IDKIT_FAILED', 'pg_dump ended successfully but wrote no end line');
}
