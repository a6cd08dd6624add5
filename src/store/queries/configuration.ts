import { type Kysely, type Compilable as Query, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import { type Compilable, compiler, slot } from './define.ts';

/** The columns of all tables whose records `apply` can create, replace and remove. */
export const COLUMNS = {
  realm: ['id', 'name', 'doc', 'sealed'],
  client: ['id', 'realm_id', 'client_id', 'doc', 'sealed'],
  client_scope: ['id', 'realm_id', 'name', 'doc'],
  role: ['id', 'realm_id', 'client_uuid', 'name', 'doc'],
  realm_group: ['id', 'realm_id', 'parent_id', 'name', 'doc'],
  component: ['id', 'realm_id', 'doc', 'sealed'],
  account: [
    'id',
    'realm_id',
    'username',
    'email',
    'first_name',
    'last_name',
    'enabled',
    'email_verified',
    'service_account_client',
    'doc',
  ],
  credential: ['id', 'user_id', 'priority', 'secret_data', 'doc', 'sealed'],
} as const;

/** The number up to which `realm.size` counts. */
const MANY = 500;

export type RecordTable = keyof typeof COLUMNS;

/**
 * Returns the queries of `apply`. Each record table has queries to insert, update, delete and find a record by its id.
 */
export function configurationQueries(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
): Record<string, Compilable> {
  const queries: Record<string, Compilable> = {};
  const field = (...path: readonly string[]) =>
    dialect === 'sqlite'
      ? sql<number | string | null>`json_extract(doc, ${sql.lit(`$.settings.${path.join('.')}`)})`
      : sql<number | string | null>`doc::json #>> ${sql.lit(`{settings,${path.join(',')}}`)}`;
  const any = compiler<Record<string, Record<string, unknown>>>(dialect);
  for (const [table, columns] of Object.entries<readonly string[]>(COLUMNS)) {
    const values = Object.fromEntries(columns.map((column) => [column, slot(column)]));
    const { id: _, ...rest } = values;
    queries[`${table}.insert`] = any.insertInto(table).values(values);
    queries[`${table}.update`] = any.updateTable(table).set(rest).where('id', '=', slot('id'));
    queries[`${table}.delete`] = any.deleteFrom(table).where('id', '=', slot('id'));
    queries[`${table}.byId`] = any.selectFrom(table).selectAll().where('id', '=', slot('id'));
    if (columns.includes('realm_id') && table !== 'account')
      queries[`${table}.byRealm`] = any
        .selectFrom(table)
        .selectAll()
        .where('realm_id', '=', slot('realm_id'));
  }
  return {
    ...queries,
    'realm.names': db.selectFrom('realm').select('name').orderBy('name'),
    /** Counts the roles and groups of a realm, each up to a limit. */
    'realm.size': db.selectNoFrom((eb) => [
      eb.selectFrom(some(db, 'role')).select(eb.fn.countAll<number>().as('n')).as('roles'),
      eb.selectFrom(some(db, 'realm_group')).select(eb.fn.countAll<number>().as('n')).as('groups'),
    ]),
    'realm.idByName': db.selectFrom('realm').select('id').where('name', '=', slot('name')),
    'realm.byName': db.selectFrom('realm').selectAll().where('name', '=', slot('name')),
    'realm.exists': db.selectFrom('realm').select('id').where('id', '=', slot('id')),
    /** How long each realm keeps its events, in seconds. */
    'realm.retention': db
      .selectFrom('realm')
      .select([
        'id',
        field('eventsExpiration').as('events_kept'),
        field('attributes', 'adminEventsExpiration').as('admin_events_kept'),
      ])
      .where((eb) =>
        eb.or([eb('doc', 'like', '%eventsExpiration":%'), eb('doc', 'like', '%adminEventsExpiration":%')]),
      )
      .orderBy('id'),
    /** The realm's clients with session lifetimes of their own, and maybe others. */
    'client.withLifetimes': db
      .selectFrom('client')
      .select('doc')
      .where('realm_id', '=', slot('realm_id'))
      .where((eb) =>
        eb.or([eb('doc', 'like', '%session.idle.timeout%'), eb('doc', 'like', '%session.max.lifespan%')]),
      ),
    'client.byName': db
      .selectFrom('client')
      .selectAll()
      .where('realm_id', '=', slot('realm_id'))
      .where('client_id', '=', slot('client_id')),
    'client.ids': db
      .selectFrom('client')
      .select(['id', 'client_id'])
      .where('realm_id', '=', slot('realm_id'))
      .orderBy('client_id'),
    'client_scope.byName': db
      .selectFrom('client_scope')
      .select('id')
      .where('realm_id', '=', slot('realm_id'))
      .where('name', '=', slot('name')),
    'role.byName': db
      .selectFrom('role')
      .select('id')
      .where('realm_id', '=', slot('realm_id'))
      .where(sql`coalesce(client_uuid, '')`, '=', slot('owner', 'string'))
      .where('name', '=', slot('name')),
    'role.ofClient': db.selectFrom('role').select('id').where('client_uuid', '=', slot('client_uuid')),
    'realm_group.byName': db
      .selectFrom('realm_group')
      .select('id')
      .where('realm_id', '=', slot('realm_id'))
      .where(sql`coalesce(parent_id, '')`, '=', slot('owner', 'string'))
      .where('name', '=', slot('name')),
    'realm_group.children': db.selectFrom('realm_group').select('id').where('parent_id', '=', slot('id')),
    'client.naming': db
      .selectFrom('client')
      .select(['id', 'doc'])
      .where('realm_id', '=', slot('realm_id'))
      .where('doc', 'like', slot('pattern')),
    'role.including': including(db, dialect, 'role', 'compositeIds'),
    'realm_group.including': including(db, dialect, 'realm_group', 'roleIds'),
    'client.including': including(db, dialect, 'client', 'scopeRoleIds'),
    'client_scope.including': including(db, dialect, 'client_scope', 'scopeRoleIds'),
    'role.setDoc': setDoc(db, 'role'),
    'realm_group.setDoc': setDoc(db, 'realm_group'),
    'client.setDoc': setDoc(db, 'client'),
    'client_scope.setDoc': setDoc(db, 'client_scope'),
    'meta.list': db.selectFrom('meta').selectAll().orderBy('name'),
    'meta.put': db
      .insertInto('meta')
      .values({ name: slot('name'), value: slot('value') })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: slot('value') })),
    'meta.delete': db.deleteFrom('meta').where('name', '=', slot('name')),
  };
}

/** Reads realms by name. On SQLite, it leaves out settings that idkit only keeps and that the caller does not need. */
export function realmsNamed(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  names: readonly string[],
  without: readonly string[],
): Query<Tables['realm']> {
  const paths = without.map((name) => sql`, ${`$.settings.kept.${JSON.stringify(name)}`}`);
  const doc = sql<string>`json_remove(doc${sql.join(paths, sql``)})`;
  return db
    .selectFrom('realm')
    .select(['id', 'name', dialect === 'sqlite' ? doc.as('doc') : 'doc', 'sealed'])
    .where('name', 'in', names);
}

/** Reads the rows of a table with these ids. */
export function rowsById<T extends 'role' | 'client'>(
  db: Kysely<Tables>,
  table: T,
  ids: readonly string[],
): Query<Tables[T]> {
  return db.selectFrom<'role' | 'client'>(table).selectAll().where('id', 'in', ids) as unknown as Query<
    Tables[T]
  >;
}

function some(db: Kysely<Tables>, table: 'role' | 'realm_group') {
  return db
    .selectFrom(table)
    .select('id')
    .where('realm_id', '=', slot('realm_id'))
    .limit(sql.lit(MANY))
    .as('some');
}

type Documents = 'role' | 'realm_group' | 'client' | 'client_scope';

/**
 * Finds records of the realm whose list contains any of the ids. Most lists are empty. Those at the end of a document are
 * recognised without parsing it: only the document itself can end with `}` after the list. Postgres cannot parse a
 * document with NUL, so it searches the text, and also finds records with such an id outside the list.
 */
function including(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  table: Documents,
  list: 'compositeIds' | 'roleIds' | 'scopeRoleIds',
): Compilable {
  const ids = slot('ids', 'string');
  const empty = sql.lit(`"${list}":[]}`);
  const contains =
    dialect === 'sqlite'
      ? sql<boolean>`substr(doc, ${sql.lit(-(list.length + 6))}) <> ${empty}
          and exists (select 1 from json_each(doc, ${sql.lit(`$.${list}`)}) as one
            where one.value in (select value from json_each(${ids})))`
      : sql<boolean>`right(doc, ${sql.lit(list.length + 6)}) <> ${empty}
          and doc like any (array(
            select '%' || regexp_replace(to_json(one)::text, '([\\\\%_])', '\\\\\\1', 'g') || '%'
            from json_array_elements_text(${ids}::json) as one))`;
  return db.selectFrom(table).select(['id', 'doc']).where('realm_id', '=', slot('realm_id')).where(contains);
}

function setDoc(db: Kysely<Tables>, table: Documents): Compilable {
  return db
    .updateTable(table)
    .set({ doc: slot('doc') })
    .where('id', '=', slot('id'));
}
