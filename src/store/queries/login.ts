import { type Kysely, sql } from 'kysely';
import { TAKEN, type Tables, UNUSED } from '../schema.ts';
import { type Compilable, slot, slots } from './define.ts';

/** The columns of an authentication session. Those that the steps of a login do not change come first. */
const AUTHENTICATION_SESSION = [
  'id',
  'realm_id',
  'client_uuid',
  'user_id',
  'browser_hash',
  'expires_at',
  'doc',
] as const;

const CODE = [
  'hash',
  'realm_id',
  'client_uuid',
  'user_id',
  'session_id',
  'family_id',
  'issued_at',
  'expires_at',
  'doc',
] as const;

const CONSENT = ['user_id', 'client_uuid', 'scope_ids', 'created_date', 'last_updated_date'] as const;

/** A limit that no result reaches, because SQLite accepts an offset only together with a limit. */
const EVERY_ROW = 2_147_483_647;

/**
 * A pattern for logins whose password was verified but whose second factor was not. Text from a request cannot match
 * it, because JSON escapes its quotation marks with backslashes.
 */
const PROVED_PASSWORD = '%"passwordUser":%';

/** Queries of browser logins. */
export function loginQueries(db: Kysely<Tables>): Record<string, Compilable> {
  const current = db.deleteFrom('authentication_session').where('id', '=', slot('id'));
  return {
    'authentication.find': db
      .selectFrom('authentication_session')
      .selectAll()
      .where('id', '=', slot('id'))
      .where('expires_at', '>', slot('now')),
    'authentication.insert': db
      .insertInto('authentication_session')
      .values({ ...slots(AUTHENTICATION_SESSION), revision: 1 })
      .onConflict((conflict) => conflict.doNothing()),
    'authentication.update': db
      .updateTable('authentication_session')
      .set({ ...slots(AUTHENTICATION_SESSION), revision: sql<number>`revision + 1` })
      .where('id', '=', slot('id'))
      .where('revision', '=', slot('revision'))
      .where('expires_at', '>', slot('now')),
    'authentication.delete': current,
    /** Removes the session, but only if the caller knows its current revision. */
    'authentication.take': current
      .where('revision', '=', slot('revision'))
      .where('expires_at', '>', slot('now')),
    'authentication.deleteOfUser': db
      .deleteFrom('authentication_session')
      .where('user_id', '=', slot('user_id')),
    /**
     * Removes from a realm all sessions without a user except the newest `most`. Keeps sessions with a verified
     * password.
     */
    'authentication.bound': db.deleteFrom('authentication_session').where('id', 'in', (eb) =>
      eb
        .selectFrom((inner) =>
          inner
            .selectFrom('authentication_session')
            .select(['id', 'doc'])
            .where('realm_id', '=', slot('realm_id'))
            .where('user_id', 'is', null)
            .orderBy('expires_at', 'desc')
            .orderBy('id')
            .limit(EVERY_ROW)
            .offset(slot('most'))
            .as('oldest'),
        )
        .select('oldest.id')
        .where('oldest.doc', 'not like', PROVED_PASSWORD),
    ),
    'authentication.deleteUnproved': current
      .where('user_id', 'is', null)
      .where('doc', 'not like', PROVED_PASSWORD),
    'code.insert': db.insertInto('authorization_code').values({ ...slots(CODE), state: UNUSED }),
    'code.find': db.selectFrom('authorization_code').selectAll().where('hash', '=', slot('hash')),
    'code.take': db
      .updateTable('authorization_code')
      .set({ state: TAKEN, doc: '{"notes":{}}' })
      .where('hash', '=', slot('hash')),
    'code.deleteUnused': db
      .deleteFrom('authorization_code')
      .where('user_id', '=', slot('user_id'))
      .where('state', '=', UNUSED),
    'consent.put': db
      .insertInto('user_consent')
      .values(slots(CONSENT))
      .onConflict((conflict) =>
        conflict.columns(['user_id', 'client_uuid']).doUpdateSet({
          scope_ids: slot('scope_ids'),
          last_updated_date: slot('last_updated_date'),
        }),
      ),
    'consent.find': db
      .selectFrom('user_consent')
      .selectAll()
      .where('user_id', '=', slot('user_id'))
      .where('client_uuid', '=', slot('client_uuid')),
    'consent.ofUser': db
      .selectFrom('user_consent')
      .selectAll()
      .where('user_id', '=', slot('user_id'))
      .orderBy('created_date')
      .orderBy('client_uuid'),
    'consent.delete': db
      .deleteFrom('user_consent')
      .where('user_id', '=', slot('user_id'))
      .where('client_uuid', '=', slot('client_uuid')),
    'family.ofClientInSession': db
      .selectFrom('token_family')
      .select(['id', 'session_id', 'offline', 'last_refresh_at'])
      .where('client_uuid', '=', slot('client_uuid'))
      .where('session_id', '=', slot('session_id')),
    'family.ofClientAndUser': db
      .selectFrom('token_family')
      .select(['token_family.id', 'session_id', 'token_family.offline', 'last_refresh_at'])
      .innerJoin('user_session', (join) =>
        join
          .onRef('user_session.id', '=', 'token_family.session_id')
          .onRef('user_session.offline', '=', 'token_family.offline'),
      )
      .where('user_session.user_id', '=', slot('user_id'))
      .where('token_family.client_uuid', '=', slot('client_uuid')),
    'family.notes': db
      .selectFrom('token_family')
      .select('notes')
      .where('client_uuid', '=', slot('client_uuid'))
      .where('offline', '=', slot('offline'))
      .where('session_id', '=', slot('session_id'))
      .where('started_at', '<=', slot('started_by'))
      .orderBy('started_at', 'desc')
      .limit(1),
    'family.ofSession': db
      .selectFrom('token_family')
      .select('id')
      .where('session_id', '=', slot('session_id'))
      .where('offline', '=', slot('offline'))
      .limit(1),
    'session.row': db
      .selectFrom('user_session')
      .selectAll()
      .where('id', '=', slot('id'))
      .where('offline', '=', slot('offline')),
    'session.setDoc': db
      .updateTable('user_session')
      .set({ doc: slot('doc') })
      .where('id', '=', slot('id'))
      .where('offline', '=', slot('offline')),
  };
}
