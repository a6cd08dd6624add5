import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { IdkitError, type Secret } from '../core/index.ts';
import type { PostgresContext } from './context.ts';
import { type ExistingDatabase, findDatabases, queryBeside, renderComment } from './databases.ts';
import { passwordStatements } from './password.ts';
import type { QueryOptions } from './psql.ts';
import { identifier, literal } from './quote.ts';

/** Seconds until every session must have left a database. */
const CLEAR_SECONDS = 60;
/** Milliseconds between two attempts. */
const BETWEEN_ATTEMPTS = 200;
/** Seconds to wait for a server that is starting, when the previous database depends on it. */
const PATIENCE = 15;

/**
 * Puts the staged database in the place of the live one. It first refuses and ends connections. Then one transaction
 * does both renames and changes the role's password if needed. A call that was interrupted may be repeated, and a
 * call after a finished swap does nothing.
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
    throw new IdkitError('IDKIT_FAILED', `there is no loaded database ${names.staged} to put in place`);
  }
  if (live !== undefined && databases.has(names.previous))
    throw new IdkitError(
      'IDKIT_FAILED',
      `a database ${names.previous} exists already, so the live one cannot take that name`,
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

/** Puts the previous database back. Does nothing if there was no swap. May be repeated. */
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

/** Removes the staged database and, with `previous`, the previous one. May be repeated. */
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

/** Returns the number of bytes that `discardDatabases` without `previous` frees. */
export async function stagedBytes(context: PostgresContext, names: SwapNames): Promise<number> {
  const [row] = await queryBeside(
    context,
    `SELECT json_build_object('bytes', pg_database_size(oid)) FROM pg_database WHERE datname = ${literal(names.staged)};`,
  );
  return Number(row?.['bytes'] ?? 0);
}

/**
 * Drops a database after it has refused and ended connections. For a plain DROP DATABASE, the server ends its own
 * autovacuum. For DROP DATABASE … WITH (FORCE), it does so only if a superuser runs the statement.
 */
export async function drop(context: PostgresContext, name: string): Promise<void> {
  await onceAlone(context, [name], `DROP DATABASE IF EXISTS ${identifier(name)};`, {
    seconds: CLEAR_SECONDS,
    patience: PATIENCE,
  });
}

/**
 * Runs renames once no session is connected to any of the databases. Connections are refused in the meantime, so that
 * clients that reconnect change nothing. If the renames fail, connections are allowed again.
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
    // The response may have been lost. The caller finds out what happened when it resumes or rolls back.
    if (live !== undefined && databases.get(live)?.allowsConnections === true)
      await queryBeside(context, open(live)).catch(() => undefined);
    throw error;
  }
}

/** Runs statements that the server rejects while a session is connected to one of the databases. */
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
        'end these connections; a role that is not a superuser needs GRANT pg_signal_backend and cannot end those of a superuser',
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

/** Marks the database with the state of the restore, before its own comment. */
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

/** Removes the mark that keeps services out. */
export async function reopen(context: PostgresContext, live: string): Promise<void> {
  const database = (await findDatabases(context, [live], { patience: PATIENCE })).get(live);
  if (database?.closed !== true) return;
  const { closed: _, ...rest } = database;
  await queryBeside(context, comment(live, renderComment(rest)), { patience: PATIENCE });
}

/**
 * Puts the empty staged database in the place of the live one and drops the live one. One of them has the name at all
 * times. After an interruption the next attempt drops the previous one.
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

/** Bytes that Postgres keeps of a name; it truncates a longer one with no more than a notice. */
const LONGEST = 63;
/** Hex digits that replace the end of a long name. */
const DIGITS = 8;

/** The databases of one restore. */
export interface SwapNames {
  live: string;
  /** The loaded database before the swap. */
  staged: string;
  /** The previous database, which the restore keeps. */
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

/** Returns a name of at most 63 bytes that ends with `end`. A long name keeps its beginning and a hash of the whole. */
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
