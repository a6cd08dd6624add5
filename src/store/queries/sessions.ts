import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { ClientUuid } from '../../model/index.ts';
import { idBytesSql } from '../records/id-bytes.ts';
import type { Tables } from '../schema.ts';
import { type Compilable, slot, slots } from './define.ts';

const FAMILY = [
  'session_id',
  'id',
  'offline',
  'client_uuid',
  'current_hash',
  'parent_hash',
  'parent_uses',
  'scope',
  'started_at',
  'last_refresh_at',
  'notes',
] as const;

/**
 * `repeats` after a rotation: if the generation that ends was repeated, the row of repeated generations continues,
 * otherwise it ends.
 */
export const REPEATS_AFTER_ROTATION = 'case when repeats % 2 = 1 then repeats - 1 end';

const SESSION = [
  'id',
  'offline',
  'user_id',
  'started_at',
  'last_access_at',
  'remember_me',
  'look_again',
  'doc',
] as const;

function lastRefresh(eb: ExpressionBuilder<Tables, 'user_session'>) {
  return eb
    .selectFrom('token_family')
    .select((inner) => inner.fn.max('last_refresh_at').as('at'))
    .whereRef('token_family.session_id', '=', 'user_session.id')
    .whereRef('token_family.offline', '=', 'user_session.offline');
}

export function sessionQueries(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
): Record<string, Compilable> {
  const greatest = sql.raw(dialect === 'sqlite' ? 'max' : 'greatest');
  const array =
    dialect === 'sqlite'
      ? sql<string>`json_group_array(distinct hex(client_uuid))`
      : sql<string>`coalesce(json_agg(distinct encode(client_uuid, 'hex')), '[]')`;
  const ofUsers = db
    .selectFrom('user_session')
    .innerJoin('account', 'account.id', 'user_session.user_id')
    .selectAll('user_session')
    .select('account.realm_id');
  const sessions = ofUsers.select((eb) => lastRefresh(eb).as('last_refresh_at'));
  const listed = sessions
    .select('account.username')
    .select((eb) =>
      eb
        .selectFrom('token_family')
        .select(array.as('uuids'))
        .whereRef('token_family.session_id', '=', 'user_session.id')
        .whereRef('token_family.offline', '=', 'user_session.offline')
        .as('client_uuids'),
    );
  const allOfUser = db
    .selectFrom('user_session')
    .select(['user_session.id', 'user_session.offline'])
    .where('user_session.user_id', '=', slot('user_id'))
    .where('user_session.offline', '=', slot('offline'))
    .where('user_session.id', '>', slot('after'));
  // If a user has many sessions, Postgres would otherwise read the sessions of all users in the order of their ids until
  // it has found a page. It does not combine a subquery that has an offset with its parent.
  const ofUser = dialect === 'postgres' ? allOfUser.offset(sql.lit(0)) : allOfUser;
  const idsOfUser = db
    .selectFrom(ofUser.as('user_session'))
    .select('user_session.id')
    .orderBy('user_session.id')
    .limit(slot('max'))
    .offset(slot('first'));
  return {
    'session.insert': db
      .insertInto('user_session')
      .values(slots(SESSION))
      .onConflict((conflict) => conflict.doNothing()),
    // Reads the last refresh from the token families only if the session has not been used in the current second,
    // because there may be many families.
    'session.find': ofUsers
      .select((eb) =>
        lastRefresh(eb).where('user_session.last_access_at', '<', slot('now')).as('last_refresh_at'),
      )
      .where('user_session.id', '=', slot('id'))
      .where('user_session.offline', '=', slot('offline')),
    'session.listed': listed
      .where('user_session.id', '=', slot('id'))
      .where('user_session.offline', '=', slot('offline')),
    'session.ofUser': listed
      .where('user_session.offline', '=', slot('offline'))
      .where('user_session.id', 'in', idsOfUser)
      .orderBy('user_session.id'),
    'session.ofUserAndClient': listed
      .where('user_session.offline', '=', slot('offline'))
      .where(
        'user_session.id',
        'in',
        idsOfUser.where((eb) =>
          eb.exists(
            eb
              .selectFrom('token_family')
              .select('token_family.id')
              .whereRef('token_family.session_id', '=', 'user_session.id')
              .whereRef('token_family.offline', '=', 'user_session.offline')
              .where('token_family.client_uuid', '=', slot('client_uuid')),
          ),
        ),
      )
      .orderBy('user_session.id'),
    'session.clientsOfUser': db
      .selectFrom('user_session')
      .innerJoin('token_family', (join) =>
        join
          .onRef('token_family.session_id', '=', 'user_session.id')
          .onRef('token_family.offline', '=', 'user_session.offline'),
      )
      .select('token_family.client_uuid')
      .distinct()
      .where('user_session.user_id', '=', slot('user_id'))
      .where('user_session.offline', '=', slot('offline')),
    'session.ofClient': listed
      .where('user_session.offline', '=', slot('offline'))
      .where('user_session.id', 'in', (eb) =>
        eb
          .selectFrom('token_family')
          .select('session_id')
          .distinct()
          .where('client_uuid', '=', slot('client_uuid'))
          .where('offline', '=', slot('offline'))
          .where('session_id', '>', slot('after'))
          .orderBy('session_id')
          .limit(slot('max'))
          .offset(slot('first')),
      )
      .orderBy('user_session.id'),
    'session.clients': db
      .selectFrom('token_family')
      .select('client_uuid')
      .distinct()
      .where('session_id', '=', slot('id'))
      .where('offline', '=', slot('offline')),
    'session.countOfClient': db
      .selectFrom('token_family')
      .select(['offline', sql<number>`count(distinct session_id)`.as('sessions')])
      .where('client_uuid', '=', slot('client_uuid'))
      .groupBy('offline'),
    'session.countByClient': db
      .selectFrom('token_family')
      .select(['client_uuid', 'offline', sql<number>`count(distinct session_id)`.as('sessions')])
      .where('client_uuid', 'in', (eb) =>
        eb
          .selectFrom('client')
          .select(sql<ClientUuid>`${sql.raw(idBytesSql('client.id', dialect))}`.as('bytes'))
          .where('realm_id', '=', slot('realm_id')),
      )
      .groupBy(['client_uuid', 'offline']),
    'session.delete': db
      .deleteFrom('user_session')
      .where('id', '=', slot('id'))
      .where('offline', '=', slot('offline')),
    'session.touch': db
      .updateTable('user_session')
      .set({
        last_access_at: sql<number>`${greatest}(last_access_at, ${slot('at', 'user_session.last_access_at')})`,
      })
      .where('id', '=', slot('id'))
      .where('offline', '=', slot('offline')),
    'family.insert': db.insertInto('token_family').values(slots(FAMILY)),
    'family.find': selectFamilies(db)
      .where('token_family.session_id', '=', slot('session_id'))
      .where('token_family.id', '=', slot('id')),
    'family.row': db
      .selectFrom('token_family')
      .selectAll()
      .where('session_id', '=', slot('session_id'))
      .where('id', '=', slot('id')),
    'session.touchOfClient': touchOfClient(db, dialect),
    'family.deleteOfClient': db.deleteFrom('token_family').where('client_uuid', '=', slot('client_uuid')),
    'family.exists': db
      .selectFrom('token_family')
      .select('id')
      .where('client_uuid', '=', slot('client_uuid'))
      .where('offline', '=', slot('offline'))
      .where('session_id', '=', slot('session_id'))
      .where('started_at', '<=', slot('started_by'))
      .limit(1),
    'family.delete': db
      .deleteFrom('token_family')
      .where('session_id', '=', slot('session_id'))
      .where('id', '=', slot('id')),
    /** Rotates the newest token: the presented token becomes the parent of the next one. */
    'family.rotate': db
      .updateTable('token_family')
      .set({
        parent_hash: slot('presented'),
        parent_uses: 1,
        current_hash: slot('next'),
        successor: slot('successor'),
        repeats: sql<number | null>`${sql.raw(REPEATS_AFTER_ROTATION)}`,
        last_refresh_at: sql<number>`${greatest}(last_refresh_at, ${slot('now', 'token_family.last_refresh_at')})`,
      })
      .where('session_id', '=', slot('session_id'))
      .where('id', '=', slot('id'))
      .where('current_hash', '=', slot('presented')),
    /** Rotates a token that was used before but may be used again: the parent of the newest token. */
    'family.rotateAgain': db
      .updateTable('token_family')
      .set({
        parent_uses: sql<number>`parent_uses + 1`,
        current_hash: slot('next'),
        successor: slot('successor'),
        last_refresh_at: sql<number>`${greatest}(last_refresh_at, ${slot('now', 'token_family.last_refresh_at')})`,
      })
      .where('session_id', '=', slot('session_id'))
      .where('id', '=', slot('id'))
      .where('parent_hash', '=', slot('presented'))
      .where('parent_uses', '<=', slot('max_reuse')),
    /** Records that the newest token is issued once more. */
    'family.repeat': db
      .updateTable('token_family')
      .set({ repeats: slot('repeats') })
      .where('session_id', '=', slot('session_id'))
      .where('id', '=', slot('id'))
      .where('parent_hash', '=', slot('presented')),
    /** Refreshes a token family without rotation: any of its tokens is valid. */
    'family.renew': db
      .updateTable('token_family')
      .set({
        current_hash: slot('next'),
        successor: null,
        last_refresh_at: sql<number>`${greatest}(last_refresh_at, ${slot('now', 'token_family.last_refresh_at')})`,
      })
      .where('session_id', '=', slot('session_id'))
      .where('id', '=', slot('id')),
    'revoked.add': db
      .insertInto('revoked_token')
      .values({ jti: slot('jti'), expires_at: slot('expires_at') })
      .onConflict((conflict) =>
        conflict.column('jti').doUpdateSet({
          expires_at: sql<number>`${greatest}(revoked_token.expires_at, excluded.expires_at)`,
        }),
      ),
    'revoked.find': db
      .selectFrom('revoked_token')
      .select('jti')
      .where('jti', '=', slot('jti'))
      .where('expires_at', '>', slot('now')),
    'claim.take': db
      .insertInto('claim')
      .values({ name: slot('name'), expires_at: slot('expires_at') })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({ expires_at: slot('expires_at') })
          .where('claim.expires_at', '<=', slot('now')),
      ),
    'claim.find': db
      .selectFrom('claim')
      .select('name')
      .where('name', '=', slot('name'))
      .where('expires_at', '>', slot('now')),
  };
}

/** Selects token families with their sessions, and for each session the latest use of any of its families. */
export function selectFamilies(db: Kysely<Tables>) {
  return db
    .selectFrom('token_family')
    .innerJoin('user_session', (join) =>
      join
        .onRef('user_session.id', '=', 'token_family.session_id')
        .onRef('user_session.offline', '=', 'token_family.offline'),
    )
    .innerJoin('account', 'account.id', 'user_session.user_id')
    .selectAll('token_family')
    .select([
      'account.realm_id',
      'user_session.user_id',
      'user_session.started_at as session_started_at',
      'user_session.last_access_at',
      'user_session.remember_me',
      'user_session.doc',
    ])
    .select((eb) =>
      eb
        .selectFrom('token_family as other')
        .select((inner) => inner.fn.max('other.last_refresh_at').as('at'))
        .whereRef('other.session_id', '=', 'token_family.session_id')
        .whereRef('other.offline', '=', 'token_family.offline')
        .as('session_refresh_at'),
    );
}

/** Copies the last use of a client's token families to their sessions, in the tables of this or of an older version. */
export function touchOfClient(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  version: '' | '_0' = '',
): Compilable {
  const [session, family] = [sql.table(`user_session${version}`), sql.table(`token_family${version}`)];
  const client = sql`client_uuid = ${slot('client_uuid', `token_family${version}.client_uuid`)}`;
  const greatest = sql.raw(dialect === 'sqlite' ? 'max' : 'greatest');
  return {
    compile: () =>
      sql`
update ${session} set last_access_at = ${greatest}(last_access_at, (
  select max(last_refresh_at) from ${family} where session_id = ${session}.id and offline = ${session}.offline and ${client}
))
where (id, offline) in (select session_id, offline from ${family} where ${client})`.compile(db),
  };
}
