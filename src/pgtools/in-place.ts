import { type PostgresContext, RESTORE_NAME } from './context.ts';
import { findDatabases, queryBeside } from './databases.ts';
import { literal } from './quote.ts';
import { readServer } from './server.ts';
import { createStaged } from './staged.ts';
import type { SwapNames } from './swap.ts';
import { drop, replaceLive } from './swap.ts';
import type { DatabaseTraits } from './traits.ts';

/** Timeout in seconds for dropping the contents of the database. */
const EMPTY_SECONDS = 600;

/**
 * Empties the database for a role that may not drop it: drops every object that belongs neither to the system nor to an
 * extension. Drops schemas other than `public` as a whole; in `public`, drops each table, view, sequence, function and
 * type.
 */
const EMPTY = `DO $$ DECLARE found record; BEGIN
  FOR found IN SELECT nspname FROM pg_namespace
      WHERE nspname !~ '^pg_' AND nspname NOT IN ('information_schema', 'public') LOOP
    EXECUTE format('DROP SCHEMA %I CASCADE', found.nspname);
  END LOOP;
  FOR found IN SELECT c.relname, c.relkind FROM pg_class c
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
      ORDER BY c.relkind = 'S' LOOP
    EXECUTE format('DROP %s IF EXISTS public.%I CASCADE', CASE found.relkind WHEN 'v' THEN 'VIEW'
      WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, found.relname);
  END LOOP;
  FOR found IN SELECT p.oid::regprocedure AS name FROM pg_proc p
      WHERE p.pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') LOOP
    EXECUTE format('DROP ROUTINE IF EXISTS %s CASCADE', found.name);
  END LOOP;
  FOR found IN SELECT t.oid::regtype AS name FROM pg_type t
      WHERE t.typnamespace = 'public'::regnamespace AND t.typtype IN ('e', 'd', 'c', 'r') AND t.typelem = 0
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype IN ('e', 'i')) LOOP
    EXECUTE format('DROP TYPE IF EXISTS %s CASCADE', found.name);
  END LOOP; END $$;`;

/**
 * Empties the live database, for a server without room for a second one. It replaces the database with an empty one
 * with the same properties, or drops its contents if the role may not create or drop databases. This cannot be undone.
 * An interrupted call can be repeated.
 *
 * @returns notes for the operator about properties that could not be copied to the new database
 */
export async function emptyLive(
  context: PostgresContext,
  names: SwapNames,
  source: DatabaseTraits | undefined,
  options: { closed: boolean },
): Promise<{ notes: readonly string[]; replaced: boolean }> {
  const { live, staged, previous } = names;
  const databases = await findDatabases(context, [live, staged, previous]);
  const server = await readServer(context);
  if (databases.has(live) && !(server.createsDatabases && databases.get(live)?.ours === true)) {
    await queryBeside(
      context,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${literal(live)} AND usename = current_user
        AND application_name <> ${literal(RESTORE_NAME)};`,
    );
    await context.psql.query(live, EMPTY, { seconds: EMPTY_SECONDS });
    return { notes: [], replaced: false };
  }
  // The empty database is created first, because its properties are read from the live one. If the live one still
  // exists, an interrupted call may have left an incomplete empty database. If the live one is gone, the empty one is
  // complete.
  if (databases.has(live) && databases.has(staged)) await drop(context, staged);
  if (databases.has(live) && databases.has(previous)) await drop(context, previous);
  const notes =
    databases.has(live) || !databases.has(staged) ? await createStaged(context, names, source) : [];
  await replaceLive(context, names, options);
  return { notes, replaced: true };
}
