import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { IdkitError, type Secret } from '../core/index.ts';
import type { PostgresContext } from './context.ts';
import { type ExistingDatabase, findDatabases, queryBeside, renderComment } from './databases.ts';
import type { QueryOptions } from './psql.ts';
import { identifier, literal } from './quote.ts';
import { scramVerifier } from './scram.ts';

/** Seconds in which everybody must be out of a database. */
const CLEAR_SECONDS = 60;
/** Milliseconds between two attempts. */
const BETWEEN_ATTEMPTS = 200;
/** Seconds to wait for a server that is just starting, where the old state depends on it. */
const PATIENCE = 15;

/**
 * Puts the side database in the live one's place: connections refused and ended first, then both renames, and the
 * role's password where it changes, in one transaction. A call that was cut off anywhere may be repeated; one after
 * a finished swap does nothing.
 */
export async function swapIn(
  context: PostgresContext,
  names: SwapNames,
  id: string,
  { password, closed }: { password: Secret | undefined; closed: boolean },
): Promise<{ replaced: boolean }> {
  const found = await findDatabases(context, Object.values(names), { patience: PATIENCE });
  const live = found.get(names.live);
  if (!found.has(names.side)) {
    if (found.has(names.old) || live?.restored === id) return { replaced: false };
    throw new IdkitError('IDKIT_FAILED', `there is no loaded database ${names.side} to put in place`);
  }
  if (live !== undefined && found.has(names.old))
    throw new IdkitError('IDKIT_FAILED', `a database ${names.old} is in the way`);
  await renameAlone(context, [names.live, names.side], found, [
    ...describe(names.side, found.get(names.side), { closed, restored: live === undefined ? id : undefined }),
    ...(live === undefined ? [] : [rename(names.live, names.old)]),
    rename(names.side, names.live),
    open(names.live),
    ...passwordStatements(context, password),
  ]);
  return { replaced: true };
}

/** Brings the old database back. Harmless where nothing was swapped; may be repeated. */
export async function swapBack(
  context: PostgresContext,
  names: SwapNames,
  id: string,
  password: Secret | undefined,
): Promise<void> {
  const found = await findDatabases(context, Object.values(names), { patience: PATIENCE });
  const live = found.get(names.live);
  if (found.has(names.old)) {
    await renameAlone(context, [names.live, names.old], found, [
      ...(live === undefined ? [] : [rename(names.live, names.side)]),
      rename(names.old, names.live),
      open(names.live),
      ...passwordStatements(context, password),
    ]);
  } else if (live?.restored === id) {
    await renameAlone(context, [names.live], found, [
      rename(names.live, names.side),
      ...passwordStatements(context, password),
    ]);
  } else if (live?.allowsConnections === false) {
    // Cut off after connections were refused, before the renames.
    await queryBeside(context, open(names.live), { patience: PATIENCE });
  }
}

/** Removes the side database and, with `old`, what a swap kept aside. May be repeated. */
export async function discard(
  context: PostgresContext,
  names: SwapNames,
  options: { old: boolean },
): Promise<void> {
  const found = await findDatabases(context, Object.values(names), { patience: PATIENCE });
  if (found.has(names.side)) await drop(context, names.side);
  if (!options.old) return;
  if (found.has(names.old)) await drop(context, names.old);
  const live = found.get(names.live);
  if (live?.restored !== undefined) await queryBeside(context, comment(names.live, live.comment));
}

/** Bytes that `discard` without `old` frees. */
export async function sideBytes(context: PostgresContext, names: SwapNames): Promise<number> {
  const [row] = await queryBeside(
    context,
    `SELECT json_build_object('bytes', pg_database_size(oid)) FROM pg_database WHERE datname = ${literal(names.side)};`,
  );
  return Number(row?.['bytes'] ?? 0);
}

/**
 * Drops a database once nobody is connected to it; connections are refused and ended first. The server ends its own
 * autovacuum for a plain DROP DATABASE, and for one WITH (FORCE) only if a superuser runs it.
 */
export async function drop(context: PostgresContext, name: string): Promise<void> {
  await onceAlone(context, [name], `DROP DATABASE IF EXISTS ${identifier(name)};`, {
    seconds: CLEAR_SECONDS,
    patience: PATIENCE,
  });
}

/**
 * Runs renames once nobody is connected to any of the databases. Connections are refused meanwhile, so that clients
 * that come back at once change nothing; where the renames fail they are let in again.
 */
async function renameAlone(
  context: PostgresContext,
  names: readonly string[],
  found: ReadonlyMap<string, ExistingDatabase>,
  statements: readonly string[],
): Promise<void> {
  const there = names.filter((name) => found.has(name));
  const renames = ['BEGIN;', "SET LOCAL synchronous_commit = 'on';", ...statements, 'COMMIT;'].join('\n');
  try {
    await onceAlone(context, there, renames, { patience: PATIENCE });
  } catch (error) {
    const [live] = names;
    // Cut off in the answer: what came of it is asked for by whoever goes on or back.
    if (live !== undefined && found.get(live)?.allowsConnections === true)
      await queryBeside(context, open(live)).catch(() => undefined);
    throw error;
  }
}

/** Runs what the server refuses while somebody is connected to one of the databases. */
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
      // 55006: somebody had passed the door just before it was shut, and is not out yet.
      const inUse = error instanceof IdkitError && /\b55006\b/.test(error.message);
      if (!inUse) throw error;
      if (performance.now() >= until) throw await stillThere(context, names, error);
      await wait(BETWEEN_ATTEMPTS);
    }
  }
}

/** Lets nobody in and sends everybody out whom this role may send out. */
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

async function stillThere(
  context: PostgresContext,
  names: readonly string[],
  cause: IdkitError,
): Promise<IdkitError> {
  const rows = await queryBeside(
    context,
    `SELECT json_build_object('user', usename, 'program', application_name, 'address', host(client_addr), 'pid', pid)
       FROM pg_stat_activity WHERE datname IN (${names.map(literal).join(', ')});`,
  );
  const told = rows.map(
    (row) =>
      `${row['user']} (${row['program'] ?? ''}, process ${row['pid']}${row['address'] ? ` from ${row['address']}` : ''})`,
  );
  return new IdkitError(
    'IDKIT_FAILED',
    `the database ${names[0]} is still in use after ${CLEAR_SECONDS} s${told.length === 0 ? `: ${cause.message}` : ` by ${told.join(', ')}`}`,
    {
      cause,
      hints: [
        'end these connections; a role that is not a superuser cannot end those of one (GRANT pg_signal_backend)',
        'a prepared transaction keeps a database too: SELECT * FROM pg_prepared_xacts',
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

/** What the database in place says of the restore, beside its own comment. */
function describe(
  name: string,
  { comment: own }: Pick<ExistingDatabase, 'comment'> = {},
  told: { closed: boolean; restored?: string | undefined },
): readonly string[] {
  if (!told.closed && told.restored === undefined) return [];
  const text = renderComment({
    ...(told.closed ? { closed: true } : {}),
    ...(told.restored === undefined ? {} : { restored: told.restored }),
    ...(own === undefined ? {} : { comment: own }),
  });
  return [comment(name, text)];
}

/** Lets services in again, as far as the comment keeps them out. */
export async function reopen(context: PostgresContext, live: string): Promise<void> {
  const found = (await findDatabases(context, [live], { patience: PATIENCE })).get(live);
  if (found?.closed !== true) return;
  const { closed: _, ...rest } = found;
  await queryBeside(context, comment(live, renderComment(rest)), { patience: PATIENCE });
}

/**
 * Puts the empty side database in the live one's place and drops the live one, without a moment in which there is none:
 * where it is cut off, the old one goes with the next attempt.
 */
export async function replaceLive(
  context: PostgresContext,
  names: SwapNames,
  options: { closed: boolean },
): Promise<void> {
  const found = await findDatabases(context, Object.values(names), { patience: PATIENCE });
  await renameAlone(context, [names.live, names.side], found, [
    ...describe(names.side, found.get(names.side), options),
    ...(found.has(names.live) ? [rename(names.live, names.old)] : []),
    rename(names.side, names.live),
    open(names.live),
  ]);
  if (found.has(names.live)) await drop(context, names.old);
}

function open(name: string): string {
  return `ALTER DATABASE ${identifier(name)} WITH ALLOW_CONNECTIONS true;`;
}

/** Gives the role another password, by itself. */
export async function setPassword(context: PostgresContext, password: Secret | undefined): Promise<void> {
  const [statement] = passwordStatements(context, password);
  if (statement !== undefined) await queryBeside(context, statement);
}

/** What the server is told is what it stores of the password, not the password. */
function passwordStatements({ random }: PostgresContext, password: Secret | undefined): readonly string[] {
  return password === undefined
    ? []
    : [`ALTER ROLE CURRENT_USER PASSWORD ${literal(scramVerifier(password, random))};`];
}

/** Bytes that Postgres keeps of a name; it cuts a longer one off with no more than a notice. */
const LONGEST = 63;
/** Hex digits that stand for the cut-off part of a long name. */
const DIGITS = 8;

/** The databases of one restore. */
export interface SwapNames {
  live: string;
  /** The loaded database, waiting. */
  side: string;
  /** The old database, kept aside. */
  old: string;
}

/** What the databases of restore `id` are called. */
export function swapNames(live: string, id: string): SwapNames {
  if (!/^[A-Za-z0-9._-]+$/.test(id))
    throw new IdkitError('IDKIT_USAGE', `a restore id holds letters, digits, dots and dashes only: "${id}"`);
  return { live, side: join(live, `_restore_${id}`), old: join(live, `_pre_${id}`) };
}

/** A name of at most 63 bytes that ends with `end`; a long one keeps its beginning and a hash of the whole. */
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
