import { IdkitError } from '../../core/index.ts';
import { literal, type PostgresContext } from '../../pgtools/index.ts';
import { discardDerived, postgresSchema } from '../../store/open.ts';

/** Timeout in seconds for writing the usernames of all members. */
const WRITE_SECONDS = 3600;

/** Where the tables of a loaded database are. */
interface Place {
  /** The quoted name of their schema. */
  schema: string;
  /** Whether the role may create temporary tables, and other schemas. */
  temporary: boolean;
  schemas: boolean;
  /** Whether there is a table of background migrations, which the first schemas lack. */
  background: boolean;
}

/**
 * Checks that a loaded database of idkit's own service has everything that the migrations of its schema version create:
 * tables, columns, keys, indexes, functions and triggers. It may have more, such as indexes that an operator added. An
 * index that is built while the service runs must exist if the database says that it is complete.
 *
 * The server itself compares: it runs the migrations for temporary tables, in a transaction that is rolled back, and
 * renders both schemas. So the texts do not depend on the versions of the server and of pg_dump.
 *
 * @throws IDKIT_DAMAGED
 */
export async function checkLoadedSchema(
  context: PostgresContext,
  database: string,
  version: number,
): Promise<void> {
  const place = await findPlace(context, database);
  if (place === undefined) return;
  await compare(context, database, place, postgresSchema(version, []));
  if (!place.background) return;
  const rows = await context.psql.query(
    database,
    `SELECT json_build_object('name', name) FROM ${place.schema}.background_migration WHERE finished = 1;`,
  );
  const finished = rows.map(({ name }) => String(name));
  await compare(context, database, place, postgresSchema(version, finished));
}

/** Discards the kept counts of a loaded database and sets the usernames of members, which follow from other rows. */
export async function discardLoadedDerived(
  context: PostgresContext,
  database: string,
  version: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const place = await findPlace(context, database);
  if (place === undefined) return;
  const sql = `BEGIN; SET LOCAL search_path TO ${place.schema};\n${discardDerived(version, 'postgres')}\nCOMMIT;`;
  await context.psql.query(database, sql, { seconds: WRITE_SECONDS, signal });
}

async function findPlace({ psql }: PostgresContext, database: string): Promise<Place | undefined> {
  const [found] = await psql.query<Place & object>(
    database,
    `SELECT json_build_object('schema', quote_ident(n.nspname),
        'temporary', has_database_privilege(current_database(), 'TEMP'),
        'schemas', has_database_privilege(current_database(), 'CREATE'),
        'background', to_regclass(quote_ident(n.nspname) || '.background_migration') IS NOT NULL)
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = 'idkit_schema' AND c.relkind IN ('r', 'p')
      ORDER BY pg_table_is_visible(c.oid) DESC, n.nspname LIMIT 1;`,
  );
  return found;
}

/** A missing or different object, as `COMPARISON` returns it. */
interface Difference {
  kind: string;
  name: string;
  table: string;
  exists: boolean;
}

async function compare(
  { psql, random }: PostgresContext,
  database: string,
  { schema, temporary, schemas }: Place,
  definitions: string,
): Promise<void> {
  // A role with neither right cannot create anything to compare with. Every owner of a database has both by default.
  if (!temporary && !schemas) return;
  const expected = temporary ? 'pg_temp' : `idkit_expected_${random.bytes(8).toString('hex')}`;
  const sql = `BEGIN;
${temporary ? '' : `CREATE SCHEMA ${expected};`}
SET LOCAL search_path TO ${expected};
${withSchemaOfFunctions(definitions, expected)}
SET LOCAL search_path TO '';
${comparison(schema, temporary ? 'pg_my_temp_schema()' : `'${expected}'::regnamespace`)}
ROLLBACK;`;
  const [difference] = await psql.query<Difference>(database, sql);
  if (difference === undefined) return;
  const { kind, name, table, exists } = difference;
  const what = `the ${kind} ${name}${table === '' ? '' : ` of the table ${table}`}`;
  throw new IdkitError(
    'IDKIT_DAMAGED',
    `the loaded database is damaged: its schema ${exists ? `has ${what} in another form` : `lacks ${what}`}`,
    {
      hints: [
        'the dump was changed or is incomplete: restore another set; idkit backups list shows the sets',
      ],
    },
  );
}

/** Adds the schema to the names of functions, because Postgres does not find a temporary function without it. */
function withSchemaOfFunctions(definitions: string, schema: string): string {
  return definitions.replaceAll(/\b(CREATE|EXECUTE) FUNCTION (\w+)/g, `$1 FUNCTION ${schema}.$2`);
}

/**
 * Returns the query for the first object of the schema `expected` that the schema `loaded` lacks or has in another form.
 * Storage parameters may differ, because an operator can tune them.
 */
function comparison(loaded: string, expected: string): string {
  return `WITH space AS (
  SELECT oid, nspname, oid <> ${expected} AS loaded FROM pg_namespace WHERE oid IN (${expected}, ${literal(loaded)}::regnamespace)
), relation AS (
  SELECT c.oid, c.relname, c.relkind, s.nspname, s.loaded FROM pg_class c JOIN space s ON s.oid = c.relnamespace
), object (loaded, nspname, place, kind, name, "table", definition) AS (
  SELECT loaded, nspname, 1, 'table', relname, '', '' FROM relation WHERE relkind IN ('r', 'p')
  UNION ALL
  SELECT loaded, nspname, 2, 'column', a.attname, relname,
    concat_ws(' ', format_type(a.atttypid, a.atttypmod), nullif(a.attcollation, 0), a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid))
    FROM relation JOIN pg_attribute a ON a.attrelid = relation.oid
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT loaded, nspname, 3, 'constraint', conname, relname, pg_get_constraintdef(c.oid)
    FROM relation JOIN pg_constraint c ON c.conrelid = relation.oid WHERE contype IN ('p', 'u', 'f', 'c')
  UNION ALL
  SELECT loaded, nspname, 4, 'index', own.relname, relation.relname,
    regexp_replace(pg_get_indexdef(i.indexrelid), ' WITH \\([^)]*\\)', '')
    FROM relation JOIN pg_index i ON i.indrelid = relation.oid JOIN pg_class own ON own.oid = i.indexrelid
  UNION ALL
  SELECT loaded, nspname, 5, 'function', proname, '', pg_get_functiondef(p.oid)
    FROM pg_proc p JOIN space s ON s.oid = p.pronamespace WHERE prokind = 'f'
  UNION ALL
  SELECT loaded, nspname, 6, 'trigger', tgname, relname, concat_ws(' ', pg_get_triggerdef(t.oid), nullif(tgenabled, 'O'))
    FROM relation JOIN pg_trigger t ON t.tgrelid = relation.oid WHERE NOT tgisinternal
), plain AS (
  SELECT loaded, place, kind, name::text, "table"::text,
    replace(replace(definition, quote_ident(nspname) || '.', ''), 'pg_temp.', '') AS definition FROM object
)
SELECT json_build_object('kind', kind, 'name', name, 'table', "table", 'exists',
    EXISTS (SELECT FROM plain o WHERE o.loaded AND (o.kind, o.name, o."table") = (e.kind, e.name, e."table")))
  FROM plain e WHERE NOT e.loaded AND NOT EXISTS (SELECT FROM plain o WHERE o.loaded
    AND (o.kind, o.name, o."table", o.definition) = (e.kind, e.name, e."table", e.definition))
  ORDER BY place, "table", name LIMIT 1;`;
}
