import { setImmediate } from 'node:timers/promises';
import type { ClientUuid, User } from '../../model/index.ts';
import type {
  ListedUser,
  Range,
  RealmConfiguration,
  SessionWithClients,
  UserListQuery,
  UserSessionQuery,
} from '../contract/index.ts';
import type { RowOf } from '../queries/compiled/types.ts';
import type { FoundUser } from '../queries/index.ts';
import { readRealm, readRole } from '../records/configuration.ts';
import { readListedSession } from '../records/sessions.ts';
import { readListedUser, readUser } from '../records/users.ts';
import { NAME_MEMBERS } from '../verbs/name-members.ts';
import { type Listing, SqlUserSearch } from './user-search.ts';

/** Maximum number of rows in a page. Reading one takes a few milliseconds and little memory. */
const PAGE = 200;
/** Number of characters or bytes after which a page ends. A row can be longer. */
const LONG_PAGE = 1_000_000;
/** Maximum number of rows in the first page of a list whose rows may be long, and by which factor the next one grows. */
const FIRST_PAGE = 10;
const GROWTH = 10;
/** Maximum number of users that a search finds before it reads them. */
const FOUND = 1_000;

/** Number of members that one statement may skip. More are skipped before the users of the page are read. */
const FAR = 1_000;
/**
 * Maximum number of sessions of one user that one statement reads. The index of Postgres does not sort the sessions of a
 * user by id, so every statement reads the keys of all of them.
 */
const SESSIONS_OF_USER = { sqlite: PAGE, postgres: 10 * PAGE } as const;

/** The start of a page: it skips `first` rows, or starts after the last row of the previous page. */
export interface Place<R> extends Range {
  after: R | undefined;
}

/**
 * Implements the lists that are read page by page. Each page starts after the last sort key of the previous one,
 * because skipping a million rows would take as long as reading them.
 */
export abstract class SqlLists extends SqlUserSearch {
  async readRealms(
    names: readonly string[],
    without: readonly string[],
  ): Promise<ReadonlyMap<string, Pick<RealmConfiguration, 'realm' | 'roles'>>> {
    if (names.length === 0) return new Map();
    const { compiler, realmsNamed, rowsById } = await import('../queries/index.ts');
    const db = compiler(this.dialect);
    const rows = await this.search(realmsNamed(db, this.dialect, names, without));
    const realms = rows.map((row) => readRealm(row, this.sealing.keyring));
    const roleIds = realms.map(({ defaultRoleId }) => defaultRoleId);
    const roles = roleIds.length === 0 ? [] : await this.search(rowsById(db, 'role', roleIds));
    const byId = new Map(roles.map((row) => [row.id, readRole(row)]));
    return new Map(
      realms.map((realm) => {
        const role = byId.get(realm.defaultRoleId);
        return [realm.name, { realm, roles: new Map(role?.realmId === realm.id ? [[role.id, role]] : []) }];
      }),
    );
  }

  async *userPages(query: UserListQuery): AsyncIterable<readonly ListedUser[]> {
    const { withOtp = true } = query;
    const { planSearch } = await import('../queries/search-plan.ts');
    if (planSearch(query).selectsAll) return yield* this.#allUsers(query);
    const listing: Listing = { users: query.first + query.max };
    const found = inPages(
      query,
      ({ first, max, after }: Place<FoundUser>) => {
        const place = after === undefined ? { first } : { first: 0, after: after.username };
        return this.findUsers({ ...query, ...place, max }, listing);
      },
      { page: FOUND, start: FOUND },
    );
    for await (const users of found)
      for (let from = 0; from < users.length; ) {
        const page = onePage(users.slice(from, from + PAGE));
        from += page.length;
        const rows = await this.readListedUsers(
          page.map(({ id }) => id),
          withOtp,
        );
        if (rows.length > 0) yield rows.map((row) => readListedUser(row, withOtp));
      }
  }

  async *#allUsers({
    realmId,
    first,
    max: most,
    withOtp = true,
  }: UserListQuery): AsyncIterable<readonly ListedUser[]> {
    const start = first === 0 ? { username: '' } : await this.#skipUsers(realmId, first);
    if (start === undefined) return;
    const pages = inPages({ first: 0, max: most }, ({ max, after }: Place<RowOf<'user.listed'>>) =>
      this.administrative('user.listed', {
        realm_id: realmId,
        after: after?.username ?? start.username,
        max,
        with_otp: withOtp ? 1 : 0,
      }),
    );
    for await (const rows of pages) yield rows.map((row) => readListedUser(row, withOtp));
  }

  /**
   * Returns a username that exactly `count` users precede or equal, without service accounts. Returns undefined if there
   * are fewer users. Skipping every account reads only an index, so that this skips the accounts, then as many as there
   * were service accounts among them, and so on.
   */
  async #skipUsers(realmId: string, count: number): Promise<{ username: string } | undefined> {
    let place = { username: '' };
    for (let left = count; left > 0; ) {
      const of = { realm_id: realmId, after: place.username };
      const [next] = await this.administrative('account.skip', { ...of, first: left - 1 });
      if (next === undefined) return undefined;
      const between = { ...of, up_to: next.username };
      const [services] = await this.administrative('account.serviceAccountsBetween', between);
      left = services?.users ?? 0;
      place = next;
    }
    return place;
  }

  roleUserPages(roleId: string, range: Range): AsyncIterable<readonly User[]> {
    return this.#usersOf('user.withRole', roleId, range);
  }

  memberPages(groupId: string, range: Range): AsyncIterable<readonly User[]> {
    return this.#usersOf('user.inGroup', groupId, range);
  }

  /**
   * Lists the users of a role or group in the order of an index. If the index is not complete yet, a short list is
   * sorted. For a long one, every user of the realm is checked in order, which needs no sorting.
   */
  async *#usersOf(
    list: 'user.withRole' | 'user.inGroup',
    id: string,
    range: Range,
  ): AsyncIterable<readonly User[]> {
    const isNamed = await this.isMigrated(NAME_MEMBERS);
    let { first } = range;
    let start = '';
    if (isNamed && first > FAR) {
      const [last] = await this.administrative(`${list}.skip`, { id, after: '', first: first - 1 });
      if (last === undefined || last.passed === null) return;
      start = last.passed;
      first = 0;
    }
    let query: typeof list | `${typeof list}.sorted` | `${typeof list}.inOrder` = list;
    if (!isNamed) {
      const [counted] = range.max > PAGE ? await this.administrative(`${list}.isCommon`, { id }) : [];
      query = counted?.common === 1 ? `${list}.inOrder` : `${list}.sorted`;
    }
    const pages = inPages({ ...range, first }, (place: Place<RowOf<'user.find'>>) =>
      this.administrative(query, {
        id,
        first: place.first,
        max: place.max,
        after: place.after?.username ?? start,
      }),
    );
    for await (const rows of pages) yield rows.map(readUser);
  }

  async *userSessionPages({
    userId,
    offline,
    clientUuid,
    caller,
    first: skipped = 0,
    max: most = Number.MAX_SAFE_INTEGER,
  }: UserSessionQuery & Partial<Range>): AsyncIterable<readonly SessionWithClients[]> {
    const pages = inPages(
      { first: skipped, max: most },
      ({ first, max, after }: Place<RowOf<'session.ofUser'>>) => {
        const place = { user_id: userId, offline: Number(offline), first, max, after: after?.id ?? '' };
        if (clientUuid !== undefined)
          return this.administrative('session.ofUserAndClient', { ...place, client_uuid: clientUuid });
        return caller === 'user'
          ? this.long('session.ofUser', place)
          : this.administrative('session.ofUser', place);
      },
      { page: SESSIONS_OF_USER[this.dialect], start: SESSIONS_OF_USER[this.dialect] },
    );
    for await (const rows of pages)
      for (let from = 0; from < rows.length; from += PAGE) {
        if (from > 0) await setImmediate();
        yield rows.slice(from, from + PAGE).map(readListedSession);
      }
  }

  listUserSessions(userId: string, offline: boolean): Promise<readonly SessionWithClients[]> {
    return collect(this.userSessionPages({ userId, offline, caller: 'user' }));
  }

  async *clientSessionPages(
    query: { clientUuid: ClientUuid; offline: boolean } & Range,
  ): AsyncIterable<readonly SessionWithClients[]> {
    // Skipping reads an index from its beginning. A place after the end of the list is known without that.
    if (query.first > FAR) {
      const { offline, online } = await this.countSessionsOfClient(query.clientUuid);
      if (query.first >= (query.offline ? offline : online)) return;
    }
    const of = { client_uuid: query.clientUuid, offline: Number(query.offline) };
    const pages = inPages(
      query,
      ({ first, max, after }: Place<RowOf<'session.ofClient'>>) =>
        this.administrative('session.ofClient', { ...of, first, max, after: after?.id ?? '' }),
      { start: PAGE },
    );
    for await (const rows of pages) yield rows.map(readListedSession);
  }
}

/** Returns the entries of all pages. */
export async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

/** Returns the first users that are together short enough for a page, and at least one. */
function onePage(users: readonly FoundUser[]): readonly FoundUser[] {
  let sum = 0;
  const end = users.findIndex(({ size }, index) => {
    sum += size;
    return sum > LONG_PAGE && index > 0;
  });
  return end < 0 ? users : users.slice(0, end);
}

/**
 * Reads a range page by page. `read` returns the rows of one page. The first page is short, and each page is as long as
 * the rows of the previous one allow.
 */
export async function* inPages<R extends object>(
  range: Range,
  read: (place: Place<R>) => Promise<R[]>,
  { page = PAGE, start = FIRST_PAGE }: { page?: number; start?: number } = {},
): AsyncIterable<R[]> {
  let { first, max: left } = range;
  let after: R | undefined;
  let size = Math.min(start, page);
  while (left > 0) {
    const max = Math.min(size, left);
    const rows = await read({ first, max, after });
    const fitting = Math.floor((rows.length * LONG_PAGE) / (lengthOf(rows) + 1));
    if (rows.length > 0) yield rows;
    if (rows.length < max) return;
    after = rows.at(-1);
    first = 0;
    left -= max;
    size = Math.max(1, Math.min(page, size * GROWTH, fitting));
  }
}

/** Returns the number of characters in the rows. */
function lengthOf(rows: readonly object[]): number {
  const texts = rows.flatMap((row) => Object.values(row));
  return texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
}
