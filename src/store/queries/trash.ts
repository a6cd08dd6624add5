import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import { COLUMNS } from './configuration.ts';
import { type Compilable, slot, slots } from './define.ts';

const ENTRY = [
  'id',
  'realm_id',
  'kind',
  'record_id',
  'name',
  'state',
  'deleted_at',
  'expires_at',
  'owner_id',
  'doc',
] as const;

/** The columns of the tables that have no id. The columns of `KEYS` identify a row. */
const LINKS = {
  user_role: ['user_id', 'role_id'],
  user_group: ['user_id', 'group_id'],
  user_consent: ['user_id', 'client_uuid', 'scope_ids', 'created_date', 'last_updated_date'],
} as const;

/** The name of the record that a link refers to, so that a restore can report a link that it dropped. */
const NAMES = {
  user_role: sql`(select role.name from role where role.id = user_role.role_id)`,
  user_group: sql`(select realm_group.name from realm_group where realm_group.id = user_group.group_id)`,
  user_consent: sql`(select client.client_id from client where client.id = user_consent.client_uuid)`,
};

/** The condition that the record that a link refers to exists. `part` has the columns of the link. */
const EXISTS = {
  user_role: sql`exists (select 1 from role where role.id = part.role_id)`,
  user_group: sql`exists (select 1 from realm_group where realm_group.id = part.group_id)`,
  user_consent: sql`exists (select 1 from client where client.id = part.client_uuid)`,
};

const INTEGERS: ReadonlySet<string> = new Set([
  'enabled',
  'email_verified',
  'priority',
  'created_date',
  'last_updated_date',
]);

const TABLES: Readonly<Record<string, readonly string[]>> = { ...COLUMNS, ...LINKS };
const LINK_TABLES = ['user_role', 'user_group', 'user_consent'] as const;

/** Queries that copy removed rows into the bin, and back. */
export function trashQueries(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Record<string, Compilable> {
  const raw = (text: RawBuilder<unknown>): Compilable => ({ compile: () => text.compile(db) });
  const entry = () => slot('trash', 'string');
  const among = (name: string, type: string) =>
    dialect === 'sqlite'
      ? sql`in (select value from json_each(${slot(name, `${type}[]`)}))`
      : sql`= any(${slot(name, `${type}[]`)}::text[])`;
  const range = (column = sql.ref('id')) =>
    sql`${column} >= ${slot('from', 'string')} and ${column} < ${slot('until', 'string')}`;

  /** Copies the rows of a table that match the condition. Rows that are there already stay. */
  const copy = (table: string, condition: RawBuilder<unknown>): Compilable => {
    const columns = TABLES[table]!.filter((column) => column !== 'sealed');
    const isLink = table in LINKS;
    const key = isLink ? sql`user_id || ' ' || ${sql.ref(TABLES[table]![1]!)}` : sql.ref('id');
    const pairs = columns.map((column) => sql`${sql.lit(column)}, ${sql.ref(`${table}.${column}`)}`);
    if (isLink) pairs.push(sql`'name', ${NAMES[table as keyof typeof NAMES]}`);
    const object =
      dialect === 'sqlite'
        ? sql`json_object(${sql.join(pairs)})`
        : sql`json_build_object(${sql.join(pairs)})::text`;
    const sealed = TABLES[table]!.includes('sealed') ? sql.ref(`${table}.sealed`) : sql`null`;
    const prefix = dialect === 'sqlite' ? entry() : sql`${entry()}::text`;
    return raw(sql`
insert into trash_part (id, doc, sealed)
select ${prefix} || ${sql.lit(`/${table}/`)} || ${key}, ${object}, ${sealed}
from ${sql.table(table)} where ${condition}
on conflict (id) do nothing`);
  };

  /** The columns of the parts in the range, as a table `part`. */
  const parts = (table: string): RawBuilder<unknown> => {
    const columns = TABLES[table]!;
    const fields = columns.map((column) => {
      if (column === 'sealed') return sql`sealed`;
      const value =
        dialect === 'sqlite'
          ? sql`json_extract(doc, ${sql.lit(`$.${column}`)})`
          : INTEGERS.has(column)
            ? sql`(doc::json ->> ${sql.lit(column)})::bigint`
            : sql`doc::json ->> ${sql.lit(column)}`;
      return sql`${value} as ${sql.ref(column)}`;
    });
    return sql`(select id as part_id, ${sql.join(fields)} from trash_part where ${range()}) as part`;
  };
  const named = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));

  const queries: Record<string, Compilable> = {};
  for (const [table, columns] of Object.entries<readonly string[]>(COLUMNS)) {
    queries[`trash.return.${table}`] = raw(sql`
insert into ${sql.table(table)} (${named(columns)})
select ${sql.join(columns.map((column) => sql.ref(`part.${column}`)))} from ${parts(table)}`);
    /** Finds a part whose id belongs to another record now. */
    queries[`trash.taken.${table}`] = raw(sql`
select ${sql.table(table)}.id from trash_part as part
join ${sql.table(table)} on ${sql.table(table)}.id = substr(part.id, length(${dialect === 'sqlite' ? slot('from', 'string') : sql`${slot('from', 'string')}::text`}) + 1)
where ${range(sql.ref('part.id'))} limit 1`);
  }
  for (const table of LINK_TABLES) {
    const columns = LINKS[table];
    const withName = table === 'user_consent' ? columns : [...columns, 'username'];
    const values = withName.map((column) =>
      sql.ref(column === 'username' ? 'account.username' : `part.${column}`),
    );
    queries[`trash.return.${table}`] = raw(sql`
insert into ${sql.table(table)} (${named(withName)})
select ${sql.join(values)} from ${parts(table)} join account on account.id = part.user_id
where ${EXISTS[table]}
on conflict (${named(columns.slice(0, 2))}) do nothing`);
    /** Returns the first parts whose user, role, group or client does not exist. */
    queries[`trash.lost.${table}`] = raw(sql`
select trash_part.id, trash_part.doc from ${parts(table)} join trash_part on trash_part.id = part.part_id
where not (exists (select 1 from account where account.id = part.user_id) and ${EXISTS[table]})
order by trash_part.id limit ${slot('limit', 'number')}`);
  }

  const users = among('user_ids', 'account.id');
  const realm = sql`realm_id = ${slot('realm_id', 'account.realm_id')}`;
  const client = sql`client_uuid = ${slot('client_uuid', 'user_consent.client_uuid')}`;
  const role = sql`role_id = ${slot('role_id', 'user_role.role_id')}`;
  const group = sql`group_id = ${slot('group_id', 'user_group.group_id')}`;
  const find = sql.raw(dialect === 'sqlite' ? 'instr' : 'strpos');
  const text = slot('search', 'string');
  const hasName = sql<boolean>`(${find}(name, ${dialect === 'sqlite' ? text : sql`${text}::text`}) > 0)`;
  const limit = sql`limit ${slot('limit', 'number')}`;
  return {
    ...queries,
    'keep.realm': copy('realm', sql`id = ${slot('id', 'realm.id')}`),
    'keep.client': copy('client', sql`id = ${slot('id', 'client.id')}`),
    'keep.realm_group': copy('realm_group', sql`id = ${slot('id', 'realm_group.id')}`),
    'keep.clientsOfRealm': copy('client', realm),
    'keep.scopesOfRealm': copy('client_scope', realm),
    'keep.rolesOfRealm': copy('role', realm),
    'keep.groupsOfRealm': copy('realm_group', realm),
    'keep.componentsOfRealm': copy('component', realm),
    'keep.rolesOfClient': copy('role', sql`client_uuid = ${slot('client_uuid', 'role.client_uuid')}`),
    'keep.accounts': copy('account', sql`id ${users}`),
    'keep.credentials': copy('credential', sql`user_id ${users}`),
    'keep.rolesOfUsers': copy('user_role', sql`user_id ${users}`),
    'keep.groupsOfUsers': copy('user_group', sql`user_id ${users}`),
    'keep.consentsOfUsers': copy('user_consent', sql`user_id ${users}`),
    'keep.usersOfRole': copy('user_role', sql`${role} and user_id ${users}`),
    'keep.members': copy('user_group', sql`${group} and user_id ${users}`),
    'keep.consentsOfClient': copy('user_consent', sql`${client} and user_id ${users}`),
    'keep.firstUsersOfRole': raw(sql`select user_id from user_role where ${role} order by user_id ${limit}`),
    'keep.firstMembers': raw(sql`select user_id from user_group where ${group} order by user_id ${limit}`),
    'keep.firstConsents': raw(
      sql`select user_id from user_consent where ${client} order by user_id ${limit}`,
    ),
    'keep.dropUsersOfRole': raw(sql`delete from user_role where ${role} and user_id ${users}`),
    'keep.dropMembers': raw(sql`delete from user_group where ${group} and user_id ${users}`),
    'keep.dropConsents': raw(sql`delete from user_consent where ${client} and user_id ${users}`),
    'keep.usersOfRealm': raw(sql`select id from account where ${realm} order by id`),
    'trash.insert': db.insertInto('trash').values(slots(ENTRY)),
    'trash.byId': db.selectFrom('trash').selectAll().where('id', '=', slot('id')),
    'trash.ofRecord': db
      .selectFrom('trash')
      .selectAll()
      .where('record_id', '=', slot('record_id'))
      .where('kind', '=', slot('kind')),
    'trash.ownedBy': db.selectFrom('trash').selectAll().where('owner_id', '=', slot('owner_id')),
    /** The entries of one realm, the newest first. */
    'trash.list': db
      .selectFrom('trash')
      .selectAll()
      .where('realm_id', '=', slot('realm_id'))
      .where(sql<boolean>`kind ${among('kinds', 'trash.kind')}`)
      .where(hasName)
      .where('owner_id', 'is', null)
      .where('state', '<>', sql.lit(3))
      .orderBy('deleted_at', 'desc')
      .orderBy('id')
      .limit(slot('max', 'number'))
      .offset(slot('first', 'number')),
    'trash.realms': db
      .selectFrom('trash')
      .selectAll()
      .where('kind', '=', 'realm')
      .where(hasName)
      .where('state', '<>', sql.lit(3))
      .orderBy('deleted_at', 'desc')
      .orderBy('id')
      .limit(slot('max', 'number'))
      .offset(slot('first', 'number')),
    'trash.update': db
      .updateTable('trash')
      .set({
        state: slot('state'),
        deleted_at: slot('deleted_at'),
        expires_at: slot('expires_at'),
        owner_id: slot('owner_id'),
        doc: slot('doc'),
      })
      .where('id', '=', slot('id')),
    'trash.setState': db
      .updateTable('trash')
      .set({ state: slot('state') })
      .where('id', '=', slot('id')),
    'trash.erase': db
      .updateTable('trash')
      .set({ state: sql.lit(3), expires_at: sql.lit(0) })
      .where('id', '=', slot('id')),
    'trash.delete': db.deleteFrom('trash').where('id', '=', slot('id')),
    /** Makes the entries of a realm itself, and of its records, unusable. */
    'trash.eraseOfRealm': db
      .updateTable('trash')
      .set({ state: sql.lit(3), expires_at: sql.lit(0) })
      .where('realm_id', '=', slot('realm_id')),
    'trash.expired': db
      .selectFrom('trash')
      .selectAll()
      .where('expires_at', '<=', slot('now', 'number'))
      .where('state', 'in', [sql.lit(1), sql.lit(3)])
      .orderBy('expires_at')
      .limit(slot('limit', 'number')),
    'trash_part.insert': db.insertInto('trash_part').values(slots(['id', 'doc', 'sealed'])),
    'trash_part.inRange': raw(
      sql`select id, doc, sealed from trash_part where ${range()} order by id ${limit}`,
    ),
    'trash_part.boundary': raw(
      sql`select id from trash_part where ${range()} order by id limit 1 offset ${slot('limit', 'number')}`,
    ),
    'trash_part.first': raw(sql`select id from trash_part where ${range()} order by id limit 1`),
    'trash_part.deleteRange': raw(sql`delete from trash_part where ${range()}`),
    /** Removes what other entries of the realm contain about a user. */
    'trash_part.forgetUser': raw(sql`
delete from trash_part where id in (
  select part.id from trash
  join trash_part as part on ${sql.join(
    LINK_TABLES.map((table) => {
      const start = sql`trash.id || ${sql.lit(`/${table}/`)} || ${dialect === 'sqlite' ? slot('user_id', 'account.id') : sql`${slot('user_id', 'account.id')}::text`}`;
      return sql`(part.id >= ${start} || ' ' and part.id < ${start} || '!')`;
    }),
    sql` or `,
  )}
  where trash.realm_id = ${slot('realm_id', 'trash.realm_id')})`),
  };
}
