import { type Kysely, sql } from 'kysely';
import { FIRST_KEY } from '../migrations/user-search.ts';
import type { Tables } from '../schema.ts';
import { type Compilable, slot } from './define.ts';

/** Queries that fill the search index of SQLite with existing users. Postgres builds its indexes itself. */
export function searchIndexQueries(db: Kysely<Tables>): Record<string, Compilable> {
  return {
    'search_user.next': db
      .selectFrom('account')
      .select('id')
      .where('id', '>', slot('after'))
      .orderBy('id')
      .limit(slot('limit')),
    'search_realm.fill': {
      compile: () =>
        sql`insert into search_realm (realm_id) select id from realm
where not exists (select 1 from search_realm where realm_id = realm.id)`.compile(db),
    },
    // A user who was changed meanwhile has been added by the triggers.
    'search_user.fill': {
      compile: () =>
        sql`insert into search_user (key, realm, id, username, email, first_name, last_name)
select ${sql.raw(FIRST_KEY)} + row_number() over (partition by realm.number order by account.id),
  realm.number, account.id, account.username, account.email, account.first_name, account.last_name
from account join search_realm as realm on realm.realm_id = account.realm_id
where account.id > ${slot('after', 'account.id')} and account.id <= ${slot('last', 'account.id')}
  and account.service_account_client is null
  and not exists (select 1 from search_user as other where other.realm = realm.number and other.username = account.username)`.compile(
          db,
        ),
    },
  };
}
