import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { IdkitError, type Secret } from '../core/index.ts';
import type { PostgresContext } from './context.ts';
import { type ExistingDatabase, findDatabases, queryBeside, renderComment } from './databases.ts';
import { passwordStatements } from './password.ts';
import type { QueryOptions } from './psql.ts';
import { identifier, literal } from './quote.ts';

/** Timeout in seconds for all sessions to leave a database. */
const CLEAR_SECONDS = 60;
const BETWEEN_ATTEMPTS = 200;
/** Time in seconds to wait for a server that is starting, so that a short restart does not make a swap fail. */
const PATIENCE = 15;

/**
 * Replaces the live database with the staged one. It first refuses new connections and ends existing ones. Then one
 * transaction renames both databases and, if needed, changes the role's password. An interrupted call can be repeated.
 * After a finished swap, a call does nothing.
 */
export async function swapDatabases(
  context: PostgresContext,
  names: SwapNames,
  id: string,
  { password, closed }: { password: Secret | undefined; closed: boolean },
): Promise<{ replaced: boolean }> {
  const databases = await findDatabases(context, Object.values(names), { patience: PATIENCE });
  const live = databases.get(names.live);
  if (!databases.has(names.staged)) {
    if (databases.has(names.previous) || live?.restored === id) return { replaced: false };
    throw new IdkitError('IDKIT_FAILED', `the loaded database ${names.staged} does not exist`);
  }
  if (live !== undefined && databases.has(names.previous))
    throw new IdkitError(
      'IDKIT_FAILED',
      `the live database cannot be renamed to ${names.previous}, because a database of that name exists already`,
    );
  await renameAlone(context, [names.live, names.staged], databases, [
    ...markStatements(names.staged, databases.get(names.staged), {
      closed,
      restored: live === undefined ? id : undefined,
    }),
    ...(live === undefined ? [] : [rename(names.live, names.previous)]),
    rename(names.staged, names.live),
    open(names.live),
    ...passwordStatements(context, password),
  ]);
  return { replaced: true };
}

/** Puts the previous database back. Does nothing if there was no swap. An interrupted call can be repeated. */
export async function swapDatabasesBack(
  context: PostgresContext,
  names: SwapNames,
  id: string,
  password: Secret | undefined,
): Promise<void> {
  const databases = await findDatabases(context, Object.values(names), { patience: PATIENCE });
  const live = databases.get(names.live);
  if (databases.has(names.previous)) {
    await renameAlone(context, [names.live, names.previous], databases, [
      ...(live === undefined ? [] : [rename(names.live, names.staged)]),
      rename(names.previous, names.live),
      open(names.live),
      ...passwordStatements(context, password),
    ]);
  } else if (live?.restored === id) {
    await renameAlone(context, [names.live], databases, [
      rename(names.live, names.staged),
      ...passwordStatements(context, password),
    ]);
  } else if (live?.allowsConnections === false) {
    // The swap was interrupted after connections were refused, before the renames.
    await queryBeside(context, open(names.live), { patience: PATIENCE });
  }
}

/** Drops the staged database and, with `previous`, also the previous one. An interrupted call can be repeated. */
export async function discardDatabases(
  context: PostgresContext,
  names: SwapNames,
  options: { previous: boolean },
): Promise<void> {
  const databases = await findDatabases(context, Object.values(names), { patience: PATIENCE });
  if (databases.has(names.staged)) await drop(context, names.staged);
  if (!options.previous) return;
  if (databases.has(names.previous)) await drop(context, names.previous);
  const live = databases.get(names.live);
  if (live?.restored !== undefined) await queryBeside(context, comment(names.live, live.comment));
}

/** Returns the size in bytes of the staged database. */
export async function stagedBytes(context: PostgresContext, names: SwapNames): Promise<number> {
  const [row] = await queryBeside(
    context,
    `SELECT json_build_object('bytes', pg_database_size(oid)) FROM pg_database WHERE datname = ${literal(names.staged)};`,
  );
  return Number(row?.['bytes'] ?? 0);
}

/**
 * Refuses and ends connections to a database, and then drops it. A plain DROP DATABASE makes the server end its own
 * autovacuum. DROP DATABASE … WITH (FORCE) does so only if a superuser runs it.
 */
export async function drop(context: PostgresContext, name: string): Promise<void> {
  await onceAlone(context, [name], `DROP DATABASE IF EXISTS ${identifier(name)};`, {
    seconds: CLEAR_SECONDS,
    patience: PATIENCE,
  });
}

/**
 * Runs renames when no session is connected to any of the databases. Until then it refuses connections, so that clients
 * cannot reconnect. If the renames fail, it allows connections again.
 */
async function renameAlone(
  context: PostgresContext,
  names: readonly string[],
  databases: ReadonlyMap<string, ExistingDatabase>,
  statements: readonly string[],
): Promise<void> {
  const there = names.filter((name) => databases.has(name));
  const renames = ['BEGIN;', "SET LOCAL synchronous_commit = 'on';", ...statements, 'COMMIT;'].join('\n');
  try {
    await onceAlone(context, there, renames, { patience: PATIENCE });
  } catch (error) {
    const [live] = names;
    // The renames may have been committed although the response was lost. A resume or a rollback finds out whether they
    // were.
    if (live !== undefined && databases.get(live)?.allowsConnections === true)
      await queryBeside(context, open(live)).catch(() => undefined);
    throw error;
  }
}

/** Runs statements that the server accepts only if no session is connected to these databases. */
async function onceAlone(
  context: PostgresContext,
  names: readonly string[],
  sql: string,
  options: QueryOptions,
): Promise<void> {
  const until = performance.now() + CLEAR_SECONDS * 1000;
  for (;;) {
    for (const name of names) await clear(context, name);
    try {
      await queryBeside(context, sql, options);
      return;
    } catch (error) {
      // 55006: a session had connected before connections were refused, and has not ended yet.
      const inUse = error instanceof IdkitError && /\b55006\b/.test(error.message);
      if (!inUse) throw error;
      if (performance.now() >= until) throw await stillInUse(context, names, error);
      await wait(BETWEEN_ATTEMPTS);
    }
  }
}

/** Refuses new connections and ends those sessions that this role may end. */
async function clear(context: PostgresContext, name: string): Promise<void> {
  await queryBeside(
    context,
    `ALTER DATABASE ${identifier(name)} WITH ALLOW_CONNECTIONS false;
     DO $$ DECLARE found record; BEGIN
       FOR found IN SELECT pid FROM pg_stat_activity WHERE datname = ${literal(name)} LOOP
         BEGIN PERFORM pg_terminate_backend(found.pid);
         EXCEPTION WHEN insufficient_privilege THEN NULL; END;
       END LOOP; END $$;`,
    { patience: PATIENCE },
  );
}

async function stillInUse(
  context: PostgresContext,
  names: readonly string[],
  cause: IdkitError,
): Promise<IdkitError> {
  const rows = await queryBeside(
    context,
    `SELECT json_build_object('user', usename, 'program', application_name, 'address', host(client_addr), 'pid', pid)
       FROM pg_stat_activity WHERE datname IN (${names.map(literal).join(', ')});`,
  );
  const sessions = rows.map(
    (row) =>
      `${row['user']} (${row['program'] ?? ''}, process ${row['pid']}${row['address'] ? ` from ${row['address']}` : ''})`,
  );
  return new IdkitError(
    'IDKIT_FAILED',
    `the database ${names[0]} is still in use after ${CLEAR_SECONDS} s${sessions.length === 0 ? `: ${cause.message}` : ` by ${sessions.join(', ')}`}`,
    {
      cause,
      hints: [
        'end these connections; to end them, a role needs pg_signal_backend, and only a superuser can end those of a superuser',
        'a prepared transaction also keeps a database in use: SELECT * FROM pg_prepared_xacts',
      ],
    },
  );
}

function rename(from: string, to: string): string {
  return `ALTER DATABASE ${identifier(from)} RENAME TO ${identifier(to)};`;
}

function comment(name: string, text: string | undefined): string {
  return `COMMENT ON DATABASE ${identifier(name)} IS ${text === undefined ? 'NULL' : literal(text)};`;
}

/** Returns statements that write the state of the restore into the database's comment, before the original comment. */
function markStatements(
  name: string,
  { comment: own }: Pick<ExistingDatabase, 'comment'> = {},
  mark: { closed: boolean; restored?: string | undefined },
): readonly string[] {
  if (!mark.closed && mark.restored === undefined) return [];
  const text = renderComment({
    ...(mark.closed ? { closed: true } : {}),
    ...(mark.restored === undefined ? {} : { restored: mark.restored }),
    ...(own === undefined ? {} : { comment: own }),
  });
  return [comment(name, text)];
}

/** Removes the mark that keeps services out of the database. */
export async function reopen(context: PostgresContext, live: string): Promise<void> {
  const database = (await findDatabases(context, [live], { patience: PATIENCE })).get(live);
  if (database?.closed !== true) return;
  const { closed: _, ...rest } = database;
  await queryBeside(context, comment(live, renderComment(rest)), { patience: PATIENCE });
}

/**
 * Replaces the live database with the empty staged one, and drops the previous one. The live name always exists. After
 * an interruption the next attempt drops the previous database.
 */
export async function replaceLive(
  context: PostgresContext,
  names: SwapNames,
  options: { closed: boolean },
): Promise<void> {
  const databases = await findDatabases(context, Object.values(names), { patience: PATIENCE });
  await renameAlone(context, [names.live, names.staged], databases, [
    ...markStatements(names.staged, databases.get(names.staged), options),
    ...(databases.has(names.live) ? [rename(names.live, names.previous)] : []),
    rename(names.staged, names.live),
    open(names.live),
  ]);
  if (databases.has(names.live)) await drop(context, names.previous);
}

function open(name: string): string {
  return `ALTER DATABASE ${identifier(name)} WITH ALLOW_CONNECTIONS true;`;
}

/** Maximum length of a name in bytes. Postgres truncates longer names without an error. */
const LONGEST = 63;
/** Number of hash digits that replace the end of a long name. */
const DIGITS = 8;

/** The names of the databases of one restore. */
export interface SwapNames {
  live: string;
  /** The loaded database, before the swap renames it. */
  staged: string;
  /** The database that was live before the swap, which the restore keeps. */
  previous: string;
}

/** Returns the names of the databases of restore `id`. */
export function swapNames(live: string, id: string): SwapNames {
  if (!/^[A-Za-z0-9._-]+$/.test(id))
    throw new IdkitError(
      'IDKIT_USAGE',
      `a restore id may contain only letters, digits, dots and dashes: "${id}"`,
    );
  return { live, staged: join(live, `_restore_${id}`), previous: join(live, `_pre_${id}`) };
}

/**
 * Returns a name of at most 63 bytes that ends with `end`. If `name` is too long, it is shortened and followed by its
 * hash.
 */
function join(name: string, end: string): string {
  if (Buffer.byteLength(name + end) <= LONGEST) return name + end;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, DIGITS);
  const room = LONGEST - Buffer.byteLength(end) - DIGITS - 1;
  let head = '';
  for (const character of name) {
    if (Buffer.byteLength(head + character) > room) break;
    head += character;
  }
  return `${head}_${hash}${end}`;
}
