import type { Compilable } from 'kysely';
import type { UserQuery } from '../contract/index.ts';
import { USER_SEARCH } from '../migrations/user-search.ts';
import type { RowOf } from '../queries/compiled/types.ts';
import type { FoundUser, SearchWay } from '../queries/index.ts';
import type { Answer } from '../schema.ts';
import { SqlLogin } from './login.ts';

/** Number of users that a search compares first. If its words are common, these already contain the page. */
const NEAR = 1_000;
/** Maximum number of users that a search compares in order before it uses the search index. */
const FAR = 30_000;
/** If at least one of this many users matches, the words are so common that all users are compared. */
const COMMON = 20;
/** If fewer than one of this many users match, the words are rare, and the search index is faster than the order. */
const RARE = 60;

/** The pages of one search. */
export interface Listing {
  /** Number of users that all pages together skip or return. */
  users: number;
  /** The way that all further pages take. Default: each page may take another. */
  way?: SearchWay;
}

/** Chooses the way of each search of users (see `SearchWay`). */
export abstract class SqlUserSearch extends SqlLogin {
  /** Reports whether the search index of users exists and contains all of them. */
  protected hasSearchIndex(): Answer<boolean> {
    return this.isMigrated(USER_SEARCH.name);
  }

  /** Returns a page of the users that match, sorted by username. */
  protected async searchUsers(query: UserQuery): Promise<RowOf<'user.find'>[]> {
    const { compiler, userSearch } = await import('../queries/index.ts');
    const listing = { users: (query.first ?? 0) + (query.max ?? Number.POSITIVE_INFINITY) };
    return this.#search(
      query,
      (way) => userSearch(compiler(this.dialect), this.dialect, query, way),
      listing,
    );
  }

  /** Reads users for a list, sorted by username. */
  protected async readListedUsers(ids: readonly string[], withOtp: boolean): Promise<RowOf<'user.listed'>[]> {
    const { compiler, listedUsers } = await import('../queries/index.ts');
    return this.search(listedUsers(compiler(this.dialect), this.dialect, ids, withOtp));
  }

  /** Finds a page of the users that match, sorted by username. All pages of a listing take the same way. */
  protected async findUsers(query: UserQuery, listing: Listing): Promise<FoundUser[]> {
    const { compiler, foundUsers } = await import('../queries/index.ts');
    return this.#search(
      query,
      (way) => foundUsers(compiler(this.dialect), this.dialect, query, way),
      listing,
    );
  }

  async #search<R>(
    query: UserQuery,
    build: (way: SearchWay) => Compilable<R>,
    listing: Listing,
  ): Promise<R[]> {
    const find = (way: SearchWay) => this.search(build(way));
    if (listing.way !== undefined) return find(listing.way);
    const { planSearch, isNarrowed } = await import('../queries/search-plan.ts');
    const always = (way: SearchWay) => {
      listing.way = way;
      return find(way);
    };
    const { isExact, usesIndex } = planSearch(query);
    if (isExact) return always({ by: 'exact' });
    if (!usesIndex || !(await this.hasSearchIndex())) return always({ by: 'all' });
    const { max } = query;
    if (listing.users <= NEAR) {
      const page = await find({ by: 'order', users: NEAR });
      if (page.length === max) return page;
    }
    if (!isNarrowed(query, this.dialect)) return always({ by: 'order' });
    const { users, matches } = await this.#sample(query);
    if (users < NEAR) return always({ by: 'order' });
    const isRare = matches * RARE <= users;
    const needed = Math.ceil((listing.users * users * 3) / matches);
    if (!isRare && listing.users <= NEAR && needed <= FAR) {
      const page = await find({ by: 'order', users: needed });
      if (page.length === max) return page;
    }
    if (matches * COMMON > users) return always({ by: 'all' });
    // All pages of a long list together compare every user once in order, but each page by the index all that match.
    return always({ by: isRare || listing.users <= NEAR ? 'index' : 'order' });
  }

  protected async countMatchingUsers(query: UserQuery): Promise<number> {
    const { planSearch } = await import('../queries/search-plan.ts');
    const { selectsAll, isExact, usesIndex } = planSearch(query);
    const kept = selectsAll ? await this.keptUsers(query.realmId) : undefined;
    if (kept !== undefined) return kept;
    const { compiler, userCount } = await import('../queries/index.ts');
    const count = async (way: SearchWay) => {
      const [row] = await this.search(userCount(compiler(this.dialect), this.dialect, query, way));
      return row?.users ?? 0;
    };
    if (isExact) return count({ by: 'exact' });
    if (!usesIndex || !(await this.hasSearchIndex())) return count({ by: 'all' });
    const { users, matches } = await this.#sample(query);
    if (users < NEAR) return matches;
    return count({ by: matches * COMMON > users ? 'all' : 'index' });
  }

  async #sample(query: UserQuery): Promise<{ users: number; matches: number }> {
    const { compiler, userSample } = await import('../queries/index.ts');
    const [row] = await this.search(userSample(compiler(this.dialect), this.dialect, query, NEAR));
    return row ?? { users: 0, matches: 0 };
  }
}
