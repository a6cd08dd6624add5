import { z } from 'zod';
import { withoutClosed } from './databases.ts';
import { identifier, literal } from './quote.ts';

/** No server stores a NUL in a text, so a dump that contains one was tampered with. */
const text = z.string().refine((value) => !value.includes('\0'));
const grant = z.object({
  grantee: text.nullable(),
  privilege: z.enum(['CREATE', 'TEMPORARY', 'CONNECT']),
  grantable: z.boolean(),
});
const setting = z.object({ role: text.nullable(), setting: text });
const schema = z.object({
  name: text,
  owner: text,
  encoding: text,
  collate: text,
  ctype: text,
  provider: text,
  locale: text.nullable(),
  icuRules: text.nullable(),
  connectionLimit: z.number().int(),
  tablespace: text,
  comment: text.nullable(),
  grants: z.array(grant).nullable(),
  settings: z.array(setting).nullable(),
});

/**
 * The properties of a database apart from its contents. A plain pg_dump contains none of them. `provider` is c
 * (libc), i (ICU) or b (builtin); `grants` is null if the defaults apply.
 */
export type DatabaseTraits = z.infer<typeof schema>;

/** The prefix of the line in a dump that contains the properties. psql treats the line as a comment. */
const LINE = '-- idkit database ';
/**
 * Database settings that a dump may contain: time limits, planning, and the format of values. None of them loads code,
 * acts for another role, writes elsewhere or disables checks.
 */
const HARMLESS =
  /^(?:search_path|timezone|datestyle|intervalstyle|\w+_timeout|work_mem|maintenance_work_mem|temp_buffers|hash_mem_multiplier|effective_\w+|\w+_page_cost|cpu_\w+_cost|enable_\w+|jit|(?:from|join)_collapse_limit|geqo\w*|default_statistics_target|plan_cache_mode|max_parallel_\w+|synchronous_commit|default_transaction_(?:isolation|deferrable|read_only)|client_min_messages|lc_\w+|default_text_search_config|default_toast_compression|bytea_output|extra_float_digits)=/i;

/**
 * Returns a query with one row for each database that `condition` finds, where `d` is `pg_database`. Works from
 * version 13 on.
 */
export function traitsQuery(condition: string): string {
  return `SELECT json_build_object(
    'name', d.datname, 'owner', pg_get_userbyid(d.datdba), 'encoding', pg_encoding_to_char(d.encoding),
    'collate', d.datcollate, 'ctype', d.datctype, 'provider', coalesce(to_jsonb(d)->>'datlocprovider', 'c'),
    'locale', coalesce(to_jsonb(d)->>'datlocale', to_jsonb(d)->>'daticulocale'),
    'icuRules', to_jsonb(d)->>'daticurules', 'connectionLimit', d.datconnlimit,
    'tablespace', (SELECT spcname FROM pg_tablespace t WHERE t.oid = d.dattablespace),
    'comment', shobj_description(d.oid, 'pg_database'),
    'grants', (SELECT json_agg(json_build_object(
        'grantee', CASE WHEN a.grantee = 0 THEN NULL ELSE pg_get_userbyid(a.grantee) END,
        'privilege', a.privilege_type, 'grantable', a.is_grantable))
      FROM aclexplode(d.datacl) a),
    'settings', (SELECT json_agg(json_build_object(
        'role', CASE WHEN s.setrole = 0 THEN NULL ELSE pg_get_userbyid(s.setrole) END, 'setting', c))
      FROM pg_db_role_setting s, unnest(s.setconfig) c
      WHERE s.setdatabase = d.oid))
    FROM pg_database d WHERE ${condition};`;
}

/**
 * Parses a row of `traitsQuery`.
 *
 * @throws if the row has an unexpected shape
 */
export function parseTraits(row: unknown): DatabaseTraits {
  const traits = schema.parse(row);
  return { ...traits, comment: withoutClosed(traits.comment ?? '') || null };
}

/** Returns the comments at the start of a dump: SQL statements for a human reader, and one line for idkit. */
export function renderTraits(traits: DatabaseTraits): string {
  const statements = [
    createDatabase(traits.name, traits),
    ...grantStatements(traits.name, traits),
    ...settingStatements(traits.name, traits),
  ];
  return [
    '-- The database itself, which a plain pg_dump leaves out:',
    ...statements.map((statement) => `--   ${statement.replaceAll(/[\r\n]+/g, ' ')}`),
    `${LINE}${JSON.stringify(traits)}`,
    '',
    '',
  ].join('\n');
}

/** Reads the properties from the start of a dump. Returns undefined if idkit did not write the dump. */
export function findTraits(head: string): DatabaseTraits | undefined {
  const line = head.split('\n').find((one) => one.startsWith(LINE));
  if (line === undefined) return undefined;
  try {
    const traits = schema.safeParse(JSON.parse(line.slice(LINE.length))).data;
    if (traits === undefined) return undefined;
    return { ...traits, settings: traits.settings?.filter((one) => HARMLESS.test(one.setting)) ?? null };
  } catch {
    // The line was edited, so it is ignored.
    return undefined;
  }
}

/**
 * Returns the statement that creates the database from template0, whose contents never change because it accepts no
 * connections.
 */
export function createDatabase(
  name: string,
  traits: Omit<DatabaseTraits, 'owner'> & { owner?: string },
): string {
  const parts = [
    `CREATE DATABASE ${identifier(name)} TEMPLATE template0`,
    ...(traits.owner === undefined ? [] : [`OWNER ${identifier(traits.owner)}`]),
    `ENCODING ${literal(traits.encoding)}`,
    `LC_COLLATE ${literal(traits.collate)} LC_CTYPE ${literal(traits.ctype)}`,
  ];
  if (traits.provider === 'i' && traits.locale !== null)
    parts.push(`LOCALE_PROVIDER icu ICU_LOCALE ${literal(traits.locale)}`);
  if (traits.provider === 'b' && traits.locale !== null)
    parts.push(`LOCALE_PROVIDER builtin BUILTIN_LOCALE ${literal(traits.locale)}`);
  if (traits.icuRules !== null) parts.push(`ICU_RULES ${literal(traits.icuRules)}`);
  if (traits.tablespace !== 'pg_default') parts.push(`TABLESPACE ${identifier(traits.tablespace)}`);
  if (traits.connectionLimit >= 0) parts.push(`CONNECTION LIMIT ${traits.connectionLimit}`);
  return `${parts.join(' ')};`;
}

/** Returns the statements that grant the rights on the database. Returns none if the defaults apply. */
export function grantStatements(name: string, { grants }: DatabaseTraits): readonly string[] {
  if (grants === null) return [];
  const on = `ON DATABASE ${identifier(name)}`;
  return [
    `REVOKE ALL ${on} FROM PUBLIC;`,
    ...grants.map(({ grantee, privilege, grantable }) => {
      const to = grantee === null ? 'PUBLIC' : identifier(grantee);
      return `GRANT ${privilege} ${on} TO ${to}${grantable ? ' WITH GRANT OPTION' : ''};`;
    }),
  ];
}

/** Returns the statements that set the database's settings, the settings of roles in it, and its comment. */
export function settingStatements(name: string, { settings, comment }: DatabaseTraits): readonly string[] {
  const statements = (settings ?? []).flatMap(({ role, setting: text }) => {
    const at = text.indexOf('=');
    if (at < 0) return [];
    const of = role === null ? 'ALTER DATABASE' : `ALTER ROLE ${identifier(role)} IN DATABASE`;
    const [key, value] = [text.slice(0, at), text.slice(at + 1)];
    return [`${of} ${identifier(name)} SET ${settingName(key)} TO ${settingValue(key, value)};`];
  });
  return comment === null
    ? statements
    : [...statements, `COMMENT ON DATABASE ${identifier(name)} IS ${literal(comment)};`];
}

/** Settings whose value is a list of names. The server stores the list as one text and quotes a name only if needed. */
const LISTS = [
  'local_preload_libraries',
  'search_path',
  'session_preload_libraries',
  'shared_preload_libraries',
  'temp_tablespaces',
  'unix_socket_directories',
];

function settingName(key: string): string {
  return key.split('.').map(identifier).join('.');
}

function settingValue(key: string, value: string): string {
  if (!LISTS.includes(key.toLowerCase())) return literal(value);
  const names = value.match(/"(?:[^"]|"")*"|[^,\s]+/g) ?? [];
  if (names.length === 0) return "''";
  return names
    .map((name) => literal(name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name))
    .join(', ');
}
