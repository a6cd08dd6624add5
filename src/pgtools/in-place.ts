import { type PostgresContext, RESTORE_NAME } from './context.ts';
import { findDatabases, queryBeside } from './databases.ts';
import { literal } from './quote.ts';
import { readServer } from './server.ts';
import { createSide } from './side.ts';
import type { SwapNames } from './swap.ts';
import { drop, replaceLive } from './swap.ts';
import type { DatabaseTraits } from './traits.ts';

/** Seconds that emptying may take. */
const EMPTY_SECONDS = 600;

/**
 * Every object of a database that is neither the system's nor an extension's, for a role that may not drop the
 * database itself. Schemas but `public` go as wholes; there each table, view, sequence, function and type.
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
 * Empties the live database for want of room beside it: drops it and puts an empty one with all that it had of its
 * own in its place, or, for a role that may not make or drop databases, drops what is in it. Nothing leads back from here; cut
 * off anywhere, it may be repeated.
 *
 * @returns what could not be given to the new one, for the operator
 */
export async function emptyLive(
  context: PostgresContext,
  names: SwapNames,
  source: DatabaseTraits | undefined,
  options: { closed: boolean },
): Promise<{ notes: readonly string[]; replaced: boolean }> {
  const { live, side, old } = names;
  const found = await findDatabases(context, [live, side, old]);
  const server = await readServer(context);
  if (found.has(live) && !(server.createsDatabases && found.get(live)?.ours === true)) {
    await queryBeside(
      context,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${literal(live)} AND usename = current_user
        AND application_name <> ${literal(RESTORE_NAME)};`,
    );
    await context.psql.query(live, EMPTY, { seconds: EMPTY_SECONDS });
    return { notes: [], replaced: false };
  }
  // The empty one first: with the old one goes what tells how it was made. While that is there, an empty one may be
  // half made, by who was cut off; once it is gone, the empty one is whole.
  if (found.has(live) && found.has(side)) await drop(context, side);
  if (found.has(live) && found.has(old)) await drop(context, old);
  const notes = found.has(live) || !found.has(side) ? await createSide(context, names, source) : [];
  await replaceLive(context, names, options);
  return { notes, replaced: true };
}
