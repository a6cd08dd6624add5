import { DatabaseSync } from 'node:sqlite';
import { ID_COLUMNS } from '../schema.ts';
import { migrate } from '../sqlite/schema-state.ts';
import { createSearchIndex } from '../sqlite/search-index.ts';
import { type Compilable, Slot } from './define.ts';

// Derives the types of a query: those of its slots from the syntax tree, and those of its rows from the columns that
// SQLite reports. The generator of compiled/types.ts uses them.

/** Types of result columns that are computed and so do not belong to a table. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  actions: 'string',
  admin_events_kept: 'number | string | null',
  amount: 'number',
  client_uuids: 'string',
  common: 'number',
  drift: 'number',
  due_kind: "'sessions' | 'logins' | 'codes' | 'claims' | 'revocations'",
  events_kept: 'number | string | null',
  first_id: 'string | null',
  group_ids: 'string',
  groups: 'number',
  kind: 'string',
  last_id: 'string | null',
  last_refresh_at: "Tables['token_family']['last_refresh_at'] | null",
  links: 'number',
  offlineSessions: 'number',
  openLogins: 'number',
  owner: 'string',
  otp_docs: 'string',
  oldest: 'number | null',
  event_kind: "'events' | 'adminEvents'",
  overdue: 'number | null',
  realms: 'number',
  records: 'number',
  role_ids: 'string',
  roles: 'number',
  session_refresh_at: "Tables['token_family']['last_refresh_at']",
  rows: 'number',
  sessions: 'number',
  tokenFamilies: 'number',
  users: 'number',
};

const database = new DatabaseSync(':memory:');
migrate(database);
createSearchIndex(database);

/** The columns of each table, and whether they can be null. */
const CATALOG: ReadonlyMap<string, ReadonlyMap<string, { nullable: boolean }>> = new Map(
  database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
    .all()
    .map(({ name }) => [String(name), columnsOf(String(name))]),
);

function columnsOf(table: string): ReadonlyMap<string, { nullable: boolean }> {
  const rows = database.prepare('SELECT name, "notnull", pk FROM pragma_table_info(?)').all(table);
  return new Map(
    rows.map((row) => [String(row['name']), { nullable: Number(row['notnull']) + Number(row['pk']) === 0 }]),
  );
}

/** A property of a generated object type. `table` is set if the table has a column with the same name and type. */
interface Property {
  name: string;
  table?: string;
  type: string;
}

/** Returns the type of a query's slots as TypeScript source. */
export function slotsType(query: Compilable): string {
  const slotTypes = new Map<string, Set<string>>();
  const from = new Map<string, string>();
  const add = ({ name, type }: Slot, known?: ColumnUse) => {
    const text = type === undefined ? known && typeOfUse(known) : namedType(type);
    if (text === undefined) throw new Error(`the slot ${name} has no column: give it a type`);
    slotTypes.set(name, (slotTypes.get(name) ?? new Set()).add(text));
    if (known?.column === name) from.set(name, known.table);
  };
  visit(query.compile().query, [], add);
  return objectType(
    [...slotTypes].map(([name, types]) => {
      const table = from.get(name);
      const own = table === undefined ? undefined : columnType(table, name);
      const type = [...types].join(' & ');
      return { name, type, ...(table !== undefined && type === own ? { table } : {}) };
    }),
  );
}

/**
 * Returns the type of a query's rows as TypeScript source.
 *
 * @param sql the query's text for SQLite
 */
export function rowType(name: string, sql: string): string {
  const columns = database.prepare(sql).columns();
  if (columns.length === 0) return 'never';
  return objectType(
    columns.map(({ name: key, table, column }) => {
      if (table !== null && column !== null) {
        const type = columnType(table, column);
        return key === column ? { name: key, type, table } : { name: key, type };
      }
      const type = EXPRESSIONS[key];
      if (type === undefined)
        throw new Error(
          `the column ${key} of ${name} does not belong to a table: add its type to EXPRESSIONS`,
        );
      return { name: key, type };
    }),
  );
}

/** Returns the names of the result columns that contain ids as bytes. */
export function idsOfRow(sql: string): string[] {
  return database
    .prepare(sql)
    .columns()
    .flatMap(({ name, table, column }) => (ID_COLUMNS.has(`${table}.${column}`) ? [name] : []));
}

/** Returns the names of those columns that contain ids as bytes. The types are written as in `Slot`. */
export function namedIds(columns: Readonly<Record<string, string>>): string[] {
  return Object.entries(columns).flatMap(([name, type]) => (ID_COLUMNS.has(type) ? [name] : []));
}

/** Returns a function that reports whether a slot of the query is an id, or an array of ids, that is bound as bytes. */
export function idSlots(query: Compilable): (slot: Slot) => boolean {
  const found = new Set<Slot>();
  visit(query.compile().query, [], (slot, use) => {
    const type =
      slot.type?.replace('[]', '') ?? (use === undefined ? undefined : `${use.table}.${use.column}`);
    if (type !== undefined && ID_COLUMNS.has(type)) found.add(slot);
  });
  return (slot) => found.has(slot);
}

/** Returns an object type as TypeScript source. The types of the columns are written as in `Slot`. */
export function namedRowType(columns: Readonly<Record<string, string>>): string {
  return objectType(Object.entries(columns).map(([name, type]) => ({ name, type: namedType(type) })));
}

/** Returns the type of the whole table if all of its columns are present, otherwise a `Pick` of them. */
function objectType(properties: readonly Property[]): string {
  const parts: string[] = [];
  for (const [table, columns] of Map.groupBy(properties, ({ table: own }) => own ?? '')) {
    if (table === '') continue;
    const names = columns.map(({ name }) => name);
    const whole = names.length === CATALOG.get(table)?.size;
    parts.push(
      whole
        ? `Tables['${table}']`
        : `Pick<Tables['${table}'], ${names.map((name) => `'${name}'`).join(' | ')}>`,
    );
  }
  const rest = properties.filter(({ table }) => table === undefined);
  if (rest.length > 0) parts.push(`{ ${rest.map(({ name, type }) => `${name}: ${type}`).join('; ')} }`);
  return parts.length === 0 ? 'Record<never, never>' : parts.join(' & ');
}

function columnType(table: string, column: string): string {
  return `Tables['${table}']['${column}']`;
}

function namedType(type: string): string {
  const [, table, column, list] = /^(?:(\w+)\.)?(\w+)(\[\])?$/.exec(type) ?? [];
  if (column === undefined) throw new Error(`${type} is not the type of a slot`);
  if (table !== undefined && !CATALOG.get(table)?.has(column))
    throw new Error(`the column ${type} does not exist`);
  const text = table === undefined ? column : columnType(table, column);
  return list === undefined ? text : `readonly ${text}[]`;
}

/** The column that a slot is compared with or written to. */
interface ColumnUse {
  table: string;
  column: string;
  written: boolean;
}

/** Returns the type of a slot's column. Values for comparisons cannot be null. */
function typeOfUse({ table, column, written }: ColumnUse): string {
  if (table === '') return column;
  const type = columnType(table, column);
  return !written && CATALOG.get(table)?.get(column)?.nullable ? `NonNullable<${type}>` : type;
}

/** A node of Kysely's syntax tree, treated as plain data. */
type Node = Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !(value instanceof Slot);
}

function child(node: unknown, ...path: readonly string[]): unknown {
  return path.reduce((at, name) => (isNode(at) ? at[name] : undefined), node);
}

/**
 * Calls `add` with each slot below `node`.
 *
 * @param scopes the tables of each enclosing query, innermost first
 */
function visit(
  node: unknown,
  scopes: readonly (readonly string[])[],
  add: (slot: Slot, use?: ColumnUse) => void,
) {
  if (Array.isArray(node)) {
    for (const one of node) visit(one, scopes, add);
    return;
  }
  if (node instanceof Slot) add(node);
  if (!isNode(node)) return;
  const inner = /^(Select|Insert|Update|Delete)QueryNode$/.test(String(node['kind']))
    ? [tablesOf(node), ...scopes]
    : scopes;
  const give = (value: unknown, column: unknown, written: boolean) => {
    const target = child(value, 'value');
    const slot = value instanceof Slot ? value : target;
    if (!(slot instanceof Slot)) return visit(value, inner, add);
    add(slot, slot.type === undefined ? columnUse(column, inner, written) : undefined);
  };
  switch (node['kind']) {
    case 'BinaryOperationNode':
      visit(node['leftOperand'], inner, add);
      give(node['rightOperand'], node['leftOperand'], false);
      return;
    case 'ColumnUpdateNode':
      give(node['value'], node['column'], true);
      return;
    case 'InsertQueryNode': {
      const [list] = [child(node, 'values', 'values')].flat();
      const values = [child(list, 'values')].flat();
      for (const [index, column] of [node['columns']].flat().entries()) give(values[index], column, true);
      visit(node['onConflict'], inner, add);
      return;
    }
    case 'LimitNode':
    case 'OffsetNode': {
      const slot = child(node, String(node['kind']) === 'LimitNode' ? 'limit' : 'offset', 'value');
      if (slot instanceof Slot) add(slot, { table: '', column: 'number', written: false });
      return;
    }
    default:
      visit(Object.values(node), inner, add);
  }
}

function columnUse(
  node: unknown,
  scopes: readonly (readonly string[])[],
  written: boolean,
): ColumnUse | undefined {
  const column = child(node, 'column', 'column', 'name') ?? child(node, 'column', 'name');
  if (typeof column !== 'string') return undefined;
  const named = child(node, 'table', 'table', 'identifier', 'name');
  const candidates = typeof named === 'string' ? [named] : scopes.flat();
  const table = candidates.find((name) => CATALOG.get(name)?.has(column));
  return table === undefined ? undefined : { table, column, written };
}

/** Returns the tables that a query itself reads or writes, without those of its subqueries. */
function tablesOf(query: Node): readonly string[] {
  const joined = [query['joins']].flat().map((join) => child(join, 'table'));
  const froms = [child(query, 'from', 'froms')].flat();
  return [query['into'], query['table'], ...froms, ...joined]
    .map(
      (node) =>
        child(node, 'table', 'identifier', 'name') ?? child(node, 'node', 'table', 'identifier', 'name'),
    )
    .filter((name) => typeof name === 'string');
}
