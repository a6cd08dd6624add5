import { type Kysely, type Compilable as Query, type RawBuilder, sql } from 'kysely';
import type { AdminEventQuery, EventQuery } from '../contract/index.ts';
import type { Tables } from '../schema.ts';
import { ADMIN_EVENT, EVENT, MOVED } from './events.ts';

// Each search uses one index, whose columns are the most selective filter and then the time. If the index has another
// column in between, for example the type between the client and the time, the search reads the newest events of each
// value of that column, and merges them. So a filter that matches nothing is as fast as any other.

type Dialect = 'sqlite' | 'postgres';
type Table = 'event' | 'admin_event';
type Condition = RawBuilder<unknown>;

/** The columns and values that a search filters by. */
export interface EventFilters {
  table: Table;
  realmId: string;
  /** The values that a column may have. */
  columns: Readonly<Record<string, readonly string[]>>;
  /** A path in which `*` matches any text. */
  path?: string;
  /** Conditions on the time and the place of the page. */
  range: { from?: number; to?: number; before?: { time: number; seq: number } };
  first: number;
  max: number;
}

/** The order of columns between `realm_id` and `time` in each index. The most selective index comes first. */
const INDEXES: Readonly<Record<Table, readonly (readonly string[])[]>> = {
  event: [['user_id'], ['ip_address'], ['client_id', 'type'], ['type']],
  admin_event: [
    ['auth_user_id'],
    ['auth_ip_address'],
    ['auth_realm_id', 'auth_client_id'],
    ['resource_type', 'operation_type'],
  ],
};

/** Columns whose indexes start with the column itself, because its values are unique in all realms. */
const WITHOUT_REALM: ReadonlySet<string> = new Set(['user_id', 'auth_user_id']);

/** Columns of which the indexes of Postgres contain only the first characters: see `INDEX_EVENTS`. */
const SHORTENED: ReadonlySet<string> = new Set([
  'user_id',
  'ip_address',
  'client_id',
  'resource_path',
  'auth_realm_id',
  'auth_client_id',
  'auth_user_id',
  'auth_ip_address',
]);
const SHORTENED_TO = 100;

export function eventFilters(query: EventQuery): EventFilters {
  return filters('event', query, {
    type: query.types,
    client_id: query.clientId,
    user_id: query.userId,
    ip_address: query.ipAddress,
  });
}

export function adminEventFilters(query: AdminEventQuery): EventFilters {
  const { resourcePath: path } = query;
  const columns = {
    operation_type: query.operationTypes,
    resource_type: query.resourceTypes,
    auth_realm_id: query.authRealmId,
    auth_client_id: query.authClientId,
    auth_user_id: query.authUserId,
    auth_ip_address: query.authIpAddress,
    // A path without a wildcard is a filter like the others.
    ...(path === undefined || path.includes('*') ? {} : { resource_path: path }),
  };
  return { ...filters('admin_event', query, columns), ...(path?.includes('*') ? { path } : {}) };
}

function filters(
  table: Table,
  { realmId, from, to, before, first, max }: EventQuery | AdminEventQuery,
  values: Readonly<Record<string, string | readonly string[] | undefined>>,
): EventFilters {
  const columns: Record<string, readonly string[]> = {};
  for (const [column, value] of Object.entries(values)) {
    const list = typeof value === 'string' ? [value] : (value ?? []);
    if (list.length > 0) columns[column] = [...new Set(list)];
  }
  const range = {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(before === undefined ? {} : { before }),
  };
  return { table, realmId, columns, range, first, max };
}

/** An index that a search can use: the columns that the search filters by, and those whose values it must enumerate. */
export interface EventIndex {
  columns: readonly string[];
  given: readonly string[];
}

/**
 * Returns the indexes whose first column the search filters by. If there are none, returns the first one that contains
 * a column of the filters. The search can enumerate the values of a first column only for administrators, whose events
 * never lack one and have few of them.
 */
export function usableIndexes({ table, columns }: EventFilters): readonly EventIndex[] {
  const isGiven = (column: string) => columns[column] !== undefined;
  const indexes = table === 'admin_event' ? [...INDEXES.admin_event, ['resource_path']] : INDEXES.event;
  const direct = indexes.filter(([first]) => isGiven(first!));
  const indirect = table === 'event' ? [] : indexes.filter((index) => index.some(isGiven)).slice(0, 1);
  return (direct.length > 0 ? direct : indirect).map((index) => ({
    columns: index,
    given: index.filter(isGiven),
  }));
}

/** Builds the queries of one search. */
export class EventSearch {
  readonly #db: Kysely<Tables>;
  readonly #dialect: Dialect;
  readonly #filters: EventFilters;

  constructor(db: Kysely<Tables>, dialect: Dialect, filters: EventFilters) {
    this.#db = db;
    this.#dialect = dialect;
    this.#filters = filters;
  }

  /**
   * Counts the events that match the given columns of each index, up to `most`. Considers the time only if it follows
   * the given columns in the index, because the count would otherwise read all events of these columns.
   */
  sizes(indexes: readonly EventIndex[], most: number): Query<Record<string, number>> {
    const counts = indexes.map(({ columns, given }, i) => {
      const range = given.length === columns.length ? this.#range() : [];
      const found = sql`select 1 from ${this.#table} where ${all([...this.#inIndex(given), ...range])} limit ${sql.lit(most)}`;
      return sql`(select count(*) from (${found}) as found) as ${sql.ref(`size_${i}`)}`;
    });
    return this.#query(sql`select ${sql.join(counts)}`);
  }

  /** Selects the values of a column that the index has under the given columns, at most `most`. */
  values(column: string, given: readonly string[], most: number): Query<{ value: string }> {
    const next = (after: Condition | undefined) =>
      sql`select min(${this.#indexed(column)}) from ${this.#table} where ${all([...this.#inIndex(given), ...(after === undefined ? [] : [after])])}`;
    return this.#query(sql`
with recursive found (value) as (
  ${next(undefined)} union all
  select (${next(sql`${this.#indexed(column)} > found.value`)}) from found where found.value is not null
)
select value from found where value is not null limit ${sql.lit(most)}`);
  }

  /** Counts the events whose path starts with the text before the first wildcard, up to `most`. */
  paths(most: number): Query<{ size: number }> {
    const found = sql`select 1 from ${this.#table} where ${all([this.#ofRealm(), ...this.#prefix()])} limit ${sql.lit(most)}`;
    return this.#query(sql`select count(*) as size from (${found}) as found`);
  }

  /**
   * Selects a page.
   *
   * @param branches for each part of the index, the value of each of its columns
   * @param byPath whether to use the index of paths
   */
  page(
    branches: readonly Readonly<Record<string, string>>[],
    byPath = false,
  ): Query<{ doc: string; time: number; seq: number }> {
    const { first, max } = this.#filters;
    const table = this.#table;
    const order = sql`order by time desc, seq desc`;
    const parts = branches.map((branch) => {
      const columns = Object.keys(branch);
      const fixed = columns.map((column) => this.#equals(column, branch[column]!));
      const rest = Object.entries(this.#filters.columns)
        .filter(([column]) => branch[column] === undefined)
        .map(([column, values]) => sql`${sql.ref(column)} in (${sql.join(values)})`);
      const realm = columns.some((column) => WITHOUT_REALM.has(column))
        ? this.#afterwards()
        : this.#ofRealm();
      const like = [...(byPath ? this.#prefix() : []), ...this.#like()];
      return sql`select time, seq from ${table} where ${all([realm, ...fixed, ...rest, ...like, ...this.#range()])}`;
    });
    const one = sql`${parts[0]!} ${order} limit ${max} offset ${first}`;
    const merged = () => {
      const newest = parts.map((part) => sql`select * from (${part} ${order} limit ${first + max}) as part`);
      return sql`select time, seq from (${sql.join(newest, sql` union all `)}) as found ${order} limit ${max} offset ${first}`;
    };
    const place =
      this.#dialect === 'postgres'
        ? sql` and event.realm_id = ${this.#filters.realmId} and event.time = page.time`
        : sql``;
    return this.#query(sql`
select event.doc, event.time, event.seq from (${parts.length === 1 ? one : merged()}) as page
join ${table} as event on event.seq = page.seq${place}
order by event.time desc, event.seq desc`);
  }

  /** Selects a page from tables whose indexes are not built yet. */
  slowPage(): Query<{ doc: string; time: number; seq: number }> {
    const { first, max, columns } = this.#filters;
    const name = this.#filters.table;
    const names = sql.raw((name === 'event' ? EVENT : ADMIN_EVENT).join(', '));
    const from =
      this.#dialect === 'sqlite'
        ? sql`(select ${names}, seq from ${sql.ref(name)} union all select ${names}, seq - ${sql.lit(MOVED)} from ${sql.ref(`${name}_0`)}) as event`
        : this.#table;
    const equal = Object.entries(columns).map(
      ([column, values]) => sql`${sql.ref(column)} in (${sql.join(values)})`,
    );
    return this.#query(sql`
select doc, time, seq from ${from} where ${all([this.#ofRealm(), ...equal, ...this.#like(), ...this.#range()])}
order by time desc, seq desc limit ${max} offset ${first}`);
  }

  get #table(): RawBuilder<unknown> {
    return sql.ref(this.#filters.table);
  }

  #query<R>(text: RawBuilder<unknown>): Query<R> {
    return { compile: () => text.compile(this.#db) } as Query<R>;
  }

  /** Returns the column as the index contains it. */
  #indexed(column: string): RawBuilder<unknown> {
    return this.#dialect === 'postgres' && SHORTENED.has(column)
      ? sql`"left"(${sql.ref(column)}, ${sql.lit(SHORTENED_TO)})`
      : sql.ref(column);
  }

  #equals(column: string, value: string): Condition {
    const characters = [...value];
    // A search that does not filter by the column enumerates the values in the index.
    const isShortened =
      this.#dialect === 'postgres' &&
      SHORTENED.has(column) &&
      characters.length >= SHORTENED_TO &&
      this.#filters.columns[column] !== undefined;
    if (!isShortened) return sql`${this.#indexed(column)} = ${value}`;
    const start = characters.slice(0, SHORTENED_TO).join('');
    return sql`${this.#indexed(column)} = ${start} and ${sql.ref(column)} = ${value}`;
  }

  /** Conditions on the realm and the given columns of an index. */
  #inIndex(given: readonly string[]): readonly Condition[] {
    const { columns } = this.#filters;
    const realm = given.some((column) => WITHOUT_REALM.has(column)) ? this.#afterwards() : this.#ofRealm();
    const conditions = given.map((column) => {
      const each = (columns[column] ?? []).map((value) => this.#equals(column, value));
      return sql`(${sql.join(each, sql` or `)})`;
    });
    return [realm, ...conditions];
  }

  #ofRealm(): Condition {
    return sql`realm_id = ${this.#filters.realmId}`;
  }

  /** A condition on the realm for which SQLite uses no index. */
  #afterwards(): Condition {
    return this.#dialect === 'sqlite' ? sql`+realm_id = ${this.#filters.realmId}` : this.#ofRealm();
  }

  #range(): readonly Condition[] {
    const { from, to, before } = this.#filters.range;
    return [
      ...(from === undefined ? [] : [sql`time >= ${from}`]),
      ...(to === undefined ? [] : [sql`time <= ${to}`]),
      // The rows that follow the last row of the previous page.
      ...(before === undefined
        ? []
        : [sql`time <= ${before.time}`, sql`(time < ${before.time} or seq < ${before.seq})`]),
    ];
  }

  #like(): readonly Condition[] {
    const { path } = this.#filters;
    if (path === undefined) return [];
    if (this.#dialect === 'sqlite') return [sql`resource_path glob ${path.replace(/[[?]/g, '[$&]')}`];
    const pattern = path.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%');
    return [sql`resource_path like ${pattern} escape '\\'`];
  }

  #prefix(): readonly Condition[] {
    const prefix = [...(this.#filters.path ?? '').split('*', 1)[0]!].slice(0, SHORTENED_TO).join('');
    const column = this.#indexed('resource_path');
    return [sql`${column} >= ${prefix}`, sql`${column} < ${`${prefix}\u{10ffff}`}`];
  }
}

function all(conditions: readonly Condition[]): RawBuilder<boolean> {
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}
