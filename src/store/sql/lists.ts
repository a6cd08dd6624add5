import type { AdminEvent, User, UserEvent } from '../../model/index.ts';
import type { AdminEventQuery, EventQuery, Range, SessionWithClients, UserQuery } from '../contract/index.ts';
import { readDocument, toListed, toUser } from '../records/read-rows.ts';
import type { Row } from '../schema.ts';
import { SqlLogin } from './login.ts';

/** Rows of one page at most: a few milliseconds of work, and little memory. */
const PAGE = 200;

/** Where a page begins: after so many, or after the last row of the page before. */
interface Place extends Range {
  after: Row | undefined;
}

/** Lists that are read page by page, by the key of their order: to leave out a million rows costs as much as to read them. */
export abstract class SqlLists extends SqlLogin {
  async *userPages(query: UserQuery & Range): AsyncIterable<readonly User[]> {
    const { compiler, userSearch } = await import('../queries/index.ts');
    const pages = inPages(query, ({ first, max, after }) => {
      const place = after === undefined ? { first } : { first: 0, after: String(after['username']) };
      return this.search(userSearch(compiler(this.dialect), this.dialect, { ...query, ...place, max }));
    });
    for await (const rows of pages) yield rows.map(toUser);
  }

  roleUserPages(roleId: string, range: Range): AsyncIterable<readonly User[]> {
    return this.#usersOf('role', roleId, range);
  }

  memberPages(groupId: string, range: Range): AsyncIterable<readonly User[]> {
    return this.#usersOf('group', groupId, range);
  }

  /** What most users have is looked for user by user, in order; what few have is sorted. */
  async *#usersOf(what: 'role' | 'group', id: string, range: Range): AsyncIterable<readonly User[]> {
    let query = what === 'role' ? 'user.withRole' : 'user.inGroup';
    if (range.max > PAGE) {
      const [counted] = await this.administrative(`${query}.isCommon`, { id });
      if (counted?.['common'] === 1) query += '.inOrder';
    }
    const pages = inPages(range, ({ first, max, after }) =>
      this.administrative(query, { id, first, max, after: String(after?.['username'] ?? '') }),
    );
    for await (const rows of pages) yield rows.map(toUser);
  }

  async *clientSessionPages(
    query: { clientUuid: string; offline: boolean } & Range,
  ): AsyncIterable<readonly SessionWithClients[]> {
    const of = { client_uuid: query.clientUuid, offline: Number(query.offline) };
    const pages = inPages(query, ({ first, max, after }) =>
      this.administrative('session.ofClient', { ...of, first, max, after: String(after?.['id'] ?? '') }),
    );
    for await (const rows of pages) yield rows.map(toListed);
  }

  async *eventPages(query: EventQuery): AsyncIterable<readonly UserEvent[]> {
    const { compiler, eventSearch } = await import('../queries/index.ts');
    const pages = inPages(query, (place) =>
      this.search(eventSearch(compiler(this.dialect), { ...query, ...newestFirst(place) })),
    );
    for await (const rows of pages) yield rows.map(readDocument<UserEvent>);
  }

  async *adminEventPages(query: AdminEventQuery): AsyncIterable<readonly AdminEvent[]> {
    const { adminEventSearch, compiler } = await import('../queries/index.ts');
    const pages = inPages(query, (place) =>
      this.search(adminEventSearch(compiler(this.dialect), { ...query, ...newestFirst(place) })),
    );
    for await (const rows of pages) yield rows.map(readDocument<AdminEvent>);
  }

  async findOtpOwners(userIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (userIds.length === 0) return new Set();
    const { compiler, credentialsOf } = await import('../queries/index.ts');
    const rows = await this.search(credentialsOf(compiler(this.dialect), userIds));
    const owners = rows.filter((row) => readDocument<{ type: string }>(row).type === 'otp');
    return new Set(owners.map((row) => String(row['user_id'])));
  }
}

function newestFirst({ first, max, after }: Place) {
  const before =
    after === undefined ? {} : { before: { time: Number(after['time']), seq: Number(after['seq']) } };
  return { first, max, ...before };
}

async function* inPages(range: Range, read: (place: Place) => Promise<Row[]>): AsyncIterable<Row[]> {
  let { first, max: left } = range;
  let after: Row | undefined;
  while (left > 0) {
    const max = Math.min(PAGE, left);
    const rows = await read({ first, max, after });
    if (rows.length > 0) yield rows;
    if (rows.length < max) return;
    after = rows.at(-1);
    first = 0;
    left -= max;
  }
}
