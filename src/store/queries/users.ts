import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import { type Compilable, slot } from './define.ts';

/** Selects users with their roles and groups as JSON arrays. */
export function selectUsers(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres') {
  const array = (column: string): RawBuilder<string> =>
    dialect === 'sqlite'
      ? sql`json_group_array(${sql.ref(column)})`
      : sql`coalesce(json_agg(${sql.ref(column)} order by ${sql.ref(column)}), '[]')`;
  return db
    .selectFrom('account')
    .selectAll('account')
    .select((eb) => [
      eb
        .selectFrom('user_role')
        .select(array('role_id').as('ids'))
        .whereRef('user_role.user_id', '=', 'account.id')
        .as('role_ids'),
      eb
        .selectFrom('user_group')
        .select(array('group_id').as('ids'))
        .whereRef('user_group.user_id', '=', 'account.id')
        .as('group_ids'),
    ]);
}

/**
 * Selects the columns of users that a list shows. `otp_docs` is a JSON array with the documents of their one-time
 * passwords. It can contain other credentials with such a text, so its reader checks the type.
 *
 * @param withOtp 1, or 0 for an empty array. Reading the credentials takes longer than reading the users
 */
export function selectListedUsers(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  withOtp: RawBuilder<number>,
) {
  const docs: RawBuilder<string> =
    dialect === 'sqlite' ? sql`json_group_array(doc)` : sql`coalesce(json_agg(doc), '[]')`;
  return db
    .selectFrom('account')
    .select(['account.id', 'account.username', 'account.email', 'account.email_verified', 'account.enabled'])
    .select('account.doc')
    .select((eb) =>
      eb
        .selectFrom('credential')
        .select(docs.as('docs'))
        .where(withOtp, '=', sql.lit(1))
        .whereRef('credential.user_id', '=', 'account.id')
        .where('credential.doc', 'like', '%"type":"otp"%')
        .as('otp_docs'),
    );
}

/** Returns an expression for a user's required actions as JSON text. */
function requiredActions(dialect: 'sqlite' | 'postgres'): RawBuilder<string> {
  return dialect === 'sqlite'
    ? sql`json_extract(doc, '$.requiredActions')`
    : sql`doc::jsonb ->> 'requiredActions'`;
}

export function userQueries(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Record<string, Compilable> {
  const users = selectUsers(db, dialect);
  return {
    'user.find': users.where('account.id', '=', slot('id')).where('account.realm_id', '=', slot('realm_id')),
    'user.byUsername': users
      .where('account.realm_id', '=', slot('realm_id'))
      .where('account.username', '=', slot('username')),
    'user.byEmail': users
      .where('account.realm_id', '=', slot('realm_id'))
      .where('account.email', '=', slot('email'))
      .orderBy('account.id')
      .limit(1),
    'user.ofClient': users.where('account.service_account_client', '=', slot('client_uuid')).limit(1),
    'user.listed': selectListedUsers(db, dialect, sql`${slot('with_otp', 'account.enabled')}`)
      .where('account.realm_id', '=', slot('realm_id'))
      .where('account.service_account_client', 'is', null)
      .where('account.username', '>', slot('after'))
      .orderBy('account.username')
      .limit(slot('max')),
    'user.requiredActions': db
      .selectFrom('account')
      .select([requiredActions(dialect).as('actions'), (eb) => eb.fn.countAll<string>().as('users')])
      .where('realm_id', '=', slot('realm_id'))
      .where('enabled', '=', 1)
      // Most users have no required action. A search of the text skips them, which is faster than reading their JSON.
      .where('doc', 'like', '%"requiredActions":["%')
      .groupBy(requiredActions(dialect)),
    /** Reads only the index `account_unverified`. */
    'user.unverified': db
      .selectFrom('account')
      .select((eb) => eb.fn.countAll<string>().as('users'))
      .where('realm_id', '=', slot('realm_id'))
      .where('email_verified', '=', sql.lit(0))
      .where('enabled', '=', sql.lit(1))
      .where('service_account_client', 'is', null),
    // Reads only an index, which is as fast as skipping rows can be.
    'account.skip': db
      .selectFrom('account')
      .select('username')
      .where('realm_id', '=', slot('realm_id'))
      .where('username', '>', slot('after'))
      .orderBy('username')
      .limit(1)
      .offset(slot('first')),
    'account.serviceAccountsBetween': db
      .selectFrom('account')
      .select((eb) => eb.fn.countAll<number>().as('users'))
      .where('service_account_client', 'is not', null)
      // The expression makes the database use the index of service accounts instead of the index of all accounts.
      .where(sql`coalesce(${sql.ref('realm_id')}, '')`, '=', slot('realm_id', 'account.realm_id'))
      .where(sql`coalesce(${sql.ref('username')}, '')`, '>', slot('after', 'account.username'))
      .where(sql`coalesce(${sql.ref('username')}, '')`, '<=', slot('up_to', 'account.username')),
    'account.byUsername': db
      .selectFrom('account')
      .select('id')
      .where('realm_id', '=', slot('realm_id'))
      .where('username', '=', slot('username')),
    'account.byEmail': db
      .selectFrom('account')
      .select('id')
      .where('realm_id', '=', slot('realm_id'))
      .where('email', '=', slot('email'))
      .where('id', '<>', slot('id'))
      .limit(1),
    'account.deleteOfClient': db
      .deleteFrom('account')
      .where('service_account_client', '=', slot('client_uuid')),
    'credential.ofUser': db
      .selectFrom('credential')
      .selectAll()
      .where('user_id', '=', slot('user_id'))
      .orderBy('priority')
      .orderBy('id'),
    'credential.ofSome': credentialsOfSome(db, dialect),
    'credential.rehash': db
      .updateTable('credential')
      .set({
        priority: slot('priority'),
        secret_data: slot('secret_data'),
        doc: slot('doc'),
        sealed: slot('sealed'),
      })
      .where('id', '=', slot('id'))
      .where('secret_data', '=', slot('previous')),
    'failures.find': db
      .selectFrom('login_failures')
      .selectAll()
      .where('realm_id', '=', slot('realm_id'))
      .where('user_id', '=', slot('user_id')),
    'failures.insert': db
      .insertInto('login_failures')
      .values({
        realm_id: slot('realm_id'),
        user_id: slot('user_id'),
        revision: slot('next'),
        doc: slot('doc'),
      })
      .onConflict((conflict) => conflict.doNothing()),
    'failures.update': db
      .updateTable('login_failures')
      .set({ revision: slot('next'), doc: slot('doc') })
      .where('realm_id', '=', slot('realm_id'))
      .where('user_id', '=', slot('user_id'))
      .where('revision', '=', slot('revision')),
    'failures.delete': db
      .deleteFrom('login_failures')
      .where('realm_id', '=', slot('realm_id'))
      .where('user_id', '=', slot('user_id')),
  };
}

/** Maximum number of users to read to find one with a password. Most users have a password. */
const SOME = 8;
const MOST_CREDENTIALS = 64;

/**
 * Selects the credentials of a few users from a given id on, followed by those of the users with the lowest ids, because
 * the given id may be greater than the id of every user.
 */
function credentialsOfSome(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Compilable {
  const first = db
    .selectFrom('account')
    .select('id')
    .where('realm_id', '=', slot('realm_id'))
    .orderBy('id')
    .limit(SOME);
  const next = first.where('id', '>=', slot('place'));
  const some = db
    .selectFrom(next.as('next'))
    .select(['next.id', sql<number>`0`.as('part')])
    .unionAll(db.selectFrom(first.as('first')).select(['first.id', sql<number>`1`.as('part')]));
  const users = db.selectFrom(some.as('some'));
  // Postgres does not know that these are only a few users. Without a limit for each user, it would read all
  // credentials.
  const theirs =
    dialect === 'sqlite'
      ? users.innerJoin('credential', 'credential.user_id', 'some.id')
      : users.innerJoinLateral(
          (eb) =>
            eb
              .selectFrom('credential')
              .selectAll()
              .whereRef('credential.user_id', '=', 'some.id')
              .limit(MOST_CREDENTIALS)
              .as('credential'),
          (join) => join.onTrue(),
        );
  return theirs.selectAll('credential').orderBy('some.part').orderBy('some.id');
}
