import type { Compilable } from 'kysely';
import type { UserQuery } from '../contract/index.ts';
import { USER_SEARCH } from '../migrations/user-search.ts';
import type { RowOf } from '../queries/compiled/types.ts';
import type { SearchWay } from '../queries/index.ts';
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

/** Chooses the way of each search of users (see `SearchWay`). */
export abstract class SqlUserSearch extends SqlLogin {
  /** Reports whether the search index of users exists and contains all of them. */
  protected hasSearchIndex(): Answer<boolean> {
    return this.isMigrated(USER_SEARCH.name);
  }

  /** Returns a page of the users that match, sorted by username. */
  protected async searchUsers(query: UserQuery): Promise<RowOf<'user.find'>[]> {
    const { compiler, userSearch } = await import('../queries/index.ts');
    return this.#search(query, (way) => userSearch(compiler(this.dialect), this.dialect, query, way));
  }

  /** As `searchUsers`, with the columns that a list shows. */
  protected async searchListedUsers(query: UserQuery): Promise<RowOf<'user.listed'>[]> {
    const { compiler, listedSearch } = await import('../queries/index.ts');
    return this.#search(query, (way) => listedSearch(compiler(this.dialect), this.dialect, query, way));
  }

  async #search<R>(query: UserQuery, build: (way: SearchWay) => Compilable<R>): Promise<R[]> {
    const { planSearch } = await import('../queries/search-plan.ts');
    const find = (way: SearchWay) => this.search(build(way));
    const { isExact, usesIndex } = planSearch(query);
    if (isExact) return find({ by: 'exact' });
    if (!usesIndex || !(await this.hasSearchIndex())) return find({ by: 'all' });
    const { first = 0, max = Number.POSITIVE_INFINITY } = query;
    if (first + max <= NEAR) {
      const page = await find({ by: 'order', users: NEAR });
      if (page.length === max) return page;
    }
    const { users, matches } = await this.#sample(query);
    const needed = Math.ceil(((first + max) * users * 3) / matches);
    if (matches * RARE > users && needed <= FAR) {
      const page = await find({ by: 'order', users: needed });
      if (page.length === max) return page;
    }
    return find({ by: matches * COMMON > users && users === NEAR ? 'all' : 'index' });
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
