import { type Kysely, type RawBuilder, sql } from 'kysely';
import { LONGEST_OWNER } from '../migrations/0009-required-actions.ts';
import { idBytesSql } from '../records/id-bytes.ts';
import type { Tables } from '../schema.ts';
import { type Compilable, slot } from './define.ts';

/** The kinds of counts that one check compares, by the name of the check. */
export const KINDS_OF_CHECK = {
  users: ['users'],
  sessions: ['sessions', 'offlineSessions'],
  families: ['families', 'clientSessions', 'clientOfflineSessions'],
  logins: ['logins'],
  actions: ['actions'],
} as const;

/** The kinds that the figures add up over all realms. */
const TOTALS = ['users', 'sessions', 'offlineSessions', 'families', 'logins'];

type Sql = RawBuilder<unknown>;

/**
 * Queries of the kept counts (migrations/0006-counts.ts). On Postgres, a count is the sum of its row in `record_count`
 * and of the changes that have not been added to it. Each query reads all of them in one snapshot, so that the sum is
 * correct at any time.
 */
export function countQueries(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Record<string, Compilable> {
  const query = (text: Sql): Compilable => ({ compile: () => text.compile(db) });
  const sum = dialect === 'sqlite' ? sql`sum(amount)` : sql`sum(amount)::bigint`;
  const kept = (where: Sql, clientsToo = false) => keptRows(dialect, where, clientsToo);
  const totals = (more: Sql) =>
    query(sql`
select kind, ${sum} as amount from (${kept(sql`kind in (${sql.join(TOTALS.map((kind) => sql.lit(kind)))})`)}${familyChanges(dialect)}${more}) as kept group by kind`);
  const ofClient = (more: Sql) =>
    query(sql`
select kind, ${sum} as amount from (${kept(ofClients(sql`owner = ${hex(dialect, oneClient())}`))}${sessionChanges(dialect, sql`client_uuid = ${oneClient()}`)}${more}) as kept group by kind`);
  const ofRealm = (more: Sql) =>
    query(sql`
select kind, owner, ${sum} as amount from (${kept(ofClients(sql`owner in (${clientsOfRealm(dialect, 'text')})`))}${sessionChanges(dialect, sql`client_uuid in (${clientsOfRealm(dialect, 'bytes')})`)}${more}) as kept group by kind, owner`);
  return {
    'count.checks': db.selectFrom('count_check').selectAll(),
    'count.ofOwner': query(sql`
select coalesce(${sum}, 0) as amount from (${kept(sql`kind = ${slot('kind', 'string')} and owner = ${slot('owner', 'string')}`)}) as kept`),
    'count.totals': totals(sql``),
    'count.totalsAndUnmoved': totals(unmovedSessions()),
    'count.realms': db.selectFrom('realm').select((eb) => eb.fn.countAll<number>().as('realms')),
    'count.ofClient': ofClient(sql``),
    'count.ofClientAndUnmoved': ofClient(
      unmovedSessionsOf(dialect, sql`client_uuid = ${slot('client', 'string')}`),
    ),
    'count.ofClients': ofRealm(sql``),
    'count.ofClientsAndUnmoved': ofRealm(
      unmovedSessionsOf(dialect, sql`client_uuid in (${clientsOfRealm(dialect, 'id')})`),
    ),
    'count.driftOfUsers': query(drift(dialect, 'users', countedUsers())),
    'count.driftOfSessions': query(
      drift(
        dialect,
        'sessions',
        sql`
select case offline when 0 then 'sessions' else 'offlineSessions' end as kind, '' as owner, count(*) as amount
from user_session group by offline`,
      ),
    ),
    'count.driftOfFamilies': query(drift(dialect, 'families', countedFamilies(dialect))),
    'count.driftOfLogins': query(
      drift(
        dialect,
        'logins',
        sql`
select 'logins' as kind, '' as owner, count(*) as amount from authentication_session`,
      ),
    ),
    'count.driftOfActions': query(drift(dialect, 'actions', countedActions(dialect))),
    /** Selects the required actions of a realm's users, as JSON after the realm. */
    'count.ofActions': query(sql`
select substr(owner, length(${actionsOwner(dialect)}) + 1) as actions, ${sum} as amount
from (${kept(sql`kind = 'actions' and owner > ${actionsOwner(dialect)} || '[' and owner < ${actionsOwner(dialect)} || '\\'`)}) as kept
group by owner`),
    /** Fails to store a row if another check of the kind has ended since `generation` was read. */
    'count.claim': db
      .insertInto('count_check')
      .values({
        kind: slot('kind'),
        generation: 1,
        checked_at: slot('now', 'count_check.checked_at'),
        drift: 0,
      })
      .onConflict((conflict) =>
        conflict
          .column('kind')
          .doUpdateSet({
            generation: sql<number>`count_check.generation + 1`,
            checked_at: slot('now', 'count_check.checked_at'),
            drift: sql<number>`count_check.drift + ${slot('drift', 'count_check.drift')}`,
          })
          .where('count_check.generation', '=', slot('generation')),
      ),
    'count.correct': query(
      dialect === 'sqlite'
        ? sql`
insert into record_count (kind, owner, amount) values (${slot('kind', 'string')}, ${slot('owner', 'string')}, ${slot('amount', 'number')})
on conflict (kind, owner) do update set amount = amount + excluded.amount`
        : sql`
insert into count_change (kind, owner, amount) values (${slot('kind', 'string')}, ${slot('owner', 'string')}, ${slot('amount', 'number')})`,
    ),
    'count.removeZeros': db.deleteFrom('record_count').where('amount', '=', 0),
  };
}

/** The Postgres statements that add the changes to `record_count`. The caller holds the lock `counts`. */
export function countPostgresQueries(db: Kysely<Tables>): Record<string, Compilable> {
  const query = (text: Sql): Compilable => ({ compile: () => text.compile(db) });
  return {
    'count.fold': query(sql`
with taken as (
  delete from count_change where ctid = any(array(select ctid from count_change limit ${slot('limit', 'number')}))
  returning kind, owner, amount
), change as (
  select kind, owner, sum(amount)::bigint as amount from taken group by kind, owner having sum(amount) <> 0
), added as (${addChanges()})
select count(*) as folded from taken`),
    // The number of token families that a pair of session and client had before and after the taken changes follows from
    // their present number and from the changes: before all changes, it was `now - pending`.
    'count.foldSessions': query(sql`${foldSessions()}
select count(*) as folded from taken`),
    /** Also returns the sums of those changes that are not after a key. */
    'count.foldSessionsUpTo': query(sql`${foldSessions()}
select 'folded' as kind, '' as owner, count(*) as amount from taken
union all select 'families', '', coalesce(sum(taken), 0)::bigint from pair where ${PAIR} <= ${key('last')}
union all select ${clientKind()}, ${hex('postgres', sql`client_uuid`)}, sum(${GAINED})::bigint
from pair where ${PAIR} <= ${key('last')} group by client_uuid, offline`),
    /** Selects the key of the token family that is `rows` after the first one after a key. */
    'count.endOfRange': query(sql`
select ${hex('postgres', sql`client_uuid`)} as client, offline, ${hex('postgres', sql`session_id`)} as session
from token_family where ${PAIR} > ${key('after')} order by client_uuid, offline, session_id
offset ${slot('rows', 'number')} limit 1`),
    'count.range': query(countedRange(sql`${PAIR} > ${key('after')} and ${PAIR} <= ${key('last')}`)),
    'count.lastRange': query(countedRange(sql`${PAIR} > ${key('after')}`)),
    'count.keptFamilies': query(keptRows('postgres', sql`kind in (${kindsOf('families')})`)),
  };
}

/** Takes changes of sessions and adds them to `record_count`. */
function foldSessions(): Sql {
  return sql`
with taken as (
  delete from session_client_change
  where ctid = any(array(select ctid from session_client_change limit ${slot('limit', 'number')}))
  returning client_uuid, offline, session_id, amount
), part as (
  select client_uuid, offline, session_id, sum(amount) as taken from taken group by client_uuid, offline, session_id
), waiting as (
  select client_uuid, offline, session_id, sum(amount) as pending
  from session_client_change join part using (client_uuid, offline, session_id)
  group by client_uuid, offline, session_id
), pair as materialized (
  select client_uuid, offline, session_id, pending, taken,
    ${presentFamilies(sql`greatest(pending, pending - taken, 0)`)} as now
  from (select * from part join waiting using (client_uuid, offline, session_id)) as pair
), change as (
  select ${clientKind()} as kind, ${hex('postgres', sql`client_uuid`)} as owner,
    sum(${GAINED})::bigint as amount
  from pair group by client_uuid, offline having sum(${GAINED}) <> 0
  union all select 'families', '', sum(amount) from taken having sum(amount) <> 0
), added as (${addChanges()})`;
}

/** The key of a pair of session and client, in the order of an index. */
const PAIR = sql`(client_uuid, offline, session_id)`;

/** The sessions that a client gained through the taken changes of a pair: -1, 0 or 1. */
const GAINED = sql`(now > pending - taken)::int - (now > pending)::int`;

/** A key as three arguments. The ids are their bytes in hex. */
function key(name: string): Sql {
  return sql`(decode(${slot(`${name}_client`, 'string')}, 'hex'), ${slot(`${name}_offline`, 'number')}, decode(${slot(`${name}_session`, 'string')}, 'hex'))`;
}

/** Counts the token families and the clients' sessions in a range of keys without the changes that are not folded. */
function countedRange(where: Sql): Sql {
  return sql`
with present as (
  select client_uuid, offline, session_id, count(*) as now from token_family where ${where}
  group by client_uuid, offline, session_id
), waiting as (
  select client_uuid, offline, session_id, sum(amount) as pending from session_client_change where ${where}
  group by client_uuid, offline, session_id
), pair as (
  select client_uuid, offline, coalesce(now, 0) - coalesce(pending, 0) as families
  from present full join waiting using (client_uuid, offline, session_id)
)
select 'families' as kind, '' as owner, coalesce(sum(families), 0)::bigint as amount from pair
union all
select ${clientKind()}, ${hex('postgres', sql`client_uuid`)}, count(*)
from pair where families > 0 group by client_uuid, offline`;
}

function addChanges(): Sql {
  return sql`
  insert into record_count (kind, owner, amount) select kind, owner, amount from change
  on conflict (kind, owner) do update set amount = record_count.amount + excluded.amount returning 1
`;
}

/** Selects the rows of the kept counts. */
function keptRows(dialect: 'sqlite' | 'postgres', where: Sql, clientsToo = false): Sql {
  const own = sql`select kind, owner, amount from record_count where ${where}`;
  if (dialect === 'sqlite') return own;
  const changes = sql`${own} union all select kind, owner, amount from count_change where ${where}`;
  return clientsToo ? sql`${changes}${familyChanges(dialect)}${sessionChanges(dialect, sql`true`)}` : changes;
}

/** Selects the token families that were added or removed and are not part of `record_count`. */
function familyChanges(dialect: 'sqlite' | 'postgres'): Sql {
  if (dialect === 'sqlite') return sql``;
  return sql` union all select 'families', '', sum(amount) from session_client_change having count(*) > 0`;
}

/** Selects the sessions that a client gained or lost through the changes that are not part of `record_count`. */
function sessionChanges(dialect: 'sqlite' | 'postgres', where: Sql): Sql {
  if (dialect === 'sqlite') return sql``;
  return sql` union all select ${clientKind()}, ${hex(dialect, sql`client_uuid`)}, (now > 0)::int - (now > pending)::int from (
  select client_uuid, offline, pending, ${presentFamilies(sql`greatest(pending, 0)`)} as now from (
    select client_uuid, offline, session_id, sum(amount) as pending from session_client_change
    where ${where} group by client_uuid, offline, session_id
  ) as pair
) as pair`;
}

/** Counts the sessions and token families that the background migration `session rows` has not moved yet. */
function unmovedSessions(): Sql {
  return sql` union all select case offline when 0 then 'sessions' else 'offlineSessions' end, '', count(*)
from user_session_0 group by offline
union all select 'families', '', count(*) from token_family_0`;
}

function unmovedSessionsOf(dialect: 'sqlite' | 'postgres', where: Sql): Sql {
  const owner = hex(dialect, sql.raw(idBytesSql('client_uuid', dialect)));
  return sql` union all select ${clientKind()}, ${owner}, count(distinct session_id)
from token_family_0 where ${where} group by client_uuid, offline`;
}

/** Counts the token families of a pair of session and client, at most one more than `most`. */
function presentFamilies(most: Sql): Sql {
  return sql`(select count(*) from (
      select 1 from token_family as family where family.client_uuid = pair.client_uuid
        and family.offline = pair.offline and family.session_id = pair.session_id limit ${most} + 1) as present)`;
}

function clientKind(): Sql {
  return sql`case offline when 0 then 'clientSessions' else 'clientOfflineSessions' end`;
}

function ofClients(owner: Sql): Sql {
  return sql`kind in ('clientSessions', 'clientOfflineSessions') and ${owner}`;
}

/** The owner of a client's counts, which are the bytes of its id in hex. */
function hex(dialect: 'sqlite' | 'postgres', bytes: Sql): Sql {
  return dialect === 'sqlite' ? sql`lower(hex(${bytes}))` : sql`encode(${bytes}, 'hex')`;
}

function oneClient(): Sql {
  return sql`${slot('client_uuid', 'token_family.client_uuid')}`;
}

function clientsOfRealm(dialect: 'sqlite' | 'postgres', form: 'id' | 'text' | 'bytes'): Sql {
  const bytes = sql.raw(idBytesSql('client.id', dialect));
  const id = { id: sql`id`, text: hex(dialect, bytes), bytes }[form];
  return sql`select ${id} from client where realm_id = ${slot('realm_id', 'client.realm_id')}`;
}

/** Counts the users. Subtracts the service accounts, because both counts are read from indexes. */
function countedUsers(): Sql {
  return sql`
select 'users' as kind, realm_id as owner, count(*) as amount from account group by realm_id
union all
select 'users', coalesce(realm_id, ''), -count(*) from account where service_account_client is not null
group by coalesce(realm_id, '')`;
}

/** The beginning of the owner of a realm's required actions. The JSON of the actions follows it. */
function actionsOwner(dialect: 'sqlite' | 'postgres'): Sql {
  const realm = slot('realm_id', 'account.realm_id');
  return dialect === 'sqlite' ? sql`json_quote(${realm})` : sql`to_json(${realm}::text)::text`;
}

/** Counts the enabled users by their required actions, as the triggers do. */
function countedActions(dialect: 'sqlite' | 'postgres'): Sql {
  const owner =
    dialect === 'sqlite'
      ? sql`json_quote(realm_id) || coalesce(json_extract(doc, '$.requiredActions'), '[]')`
      : sql`to_json(realm_id)::text || coalesce(regexp_replace(doc, '\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\\\u0001', 'g')::json ->> 'requiredActions', '[]')`;
  return sql`
select 'actions' as kind, owner, count(*) as amount from (
  select ${owner} as owner from account where enabled = 1 and doc like '%"requiredActions":["%'
) as account where octet_length(owner) <= ${sql.lit(LONGEST_OWNER)} group by owner`;
}

function countedFamilies(dialect: 'sqlite' | 'postgres'): Sql {
  return sql`
select 'families' as kind, '' as owner, count(*) as amount from token_family
union all
select ${clientKind()}, ${hex(dialect, sql`client_uuid`)}, count(*) from (
  select distinct client_uuid, offline, session_id from token_family
) as pair group by client_uuid, offline`;
}

function kindsOf(check: keyof typeof KINDS_OF_CHECK): Sql {
  return sql.join(KINDS_OF_CHECK[check].map((kind) => sql.lit(kind)));
}

/** Selects the difference between the counted rows and the kept counts, for each count that differs. */
function drift(dialect: 'sqlite' | 'postgres', check: keyof typeof KINDS_OF_CHECK, counted: Sql): Sql {
  const kept = keptRows(dialect, sql`kind in (${kindsOf(check)})`, check === 'families');
  const amount = dialect === 'sqlite' ? sql`sum(amount)` : sql`sum(amount)::bigint`;
  return sql`
select kind, owner, ${amount} as drift from (
  select kind, owner, amount from (${counted}) as counted
  union all select kind, owner, -amount from (${kept}) as kept
) as difference group by kind, owner having sum(amount) <> 0`;
}
