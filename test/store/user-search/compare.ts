import assert from 'node:assert/strict';
import type { User } from '../../../src/model/index.ts';
import type { Store, UserQuery } from '../../../src/store/index.ts';
import { compiler, type SearchWay, userCount, userSearch } from '../../../src/store/queries/index.ts';
import { type Seeded, search } from './people.ts';

/** A database with a store. `run` runs a query as the store does. */
export interface Searched {
  dialect: 'sqlite' | 'postgres';
  store: Store;
  run(sql: string, values: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

const WAYS: readonly SearchWay[] = [{ by: 'index' }, { by: 'order', users: 1_000_000 }];

/** Checks that random searches find the same users in every way. Returns the number of users that they found. */
export async function compareWays(
  searched: Searched,
  random: Seeded,
  users: readonly User[],
  searches: number,
): Promise<number> {
  let found = 0;
  for (let time = 0; time < searches; time++)
    found += await compareOne(searched, {
      realmId: random.pick(['realm-1', 'realm-2']),
      ...search(random, users),
    });
  return found;
}

async function compareOne({ dialect, store, run }: Searched, query: UserQuery): Promise<number> {
  const db = compiler(dialect);
  const ids = async (way: SearchWay, of: UserQuery = query) => {
    const { sql, parameters } = userSearch(db, dialect, of, way).compile();
    return (await run(sql, parameters)).map(({ id }) => String(id));
  };
  const about = JSON.stringify(query);
  const expected = await ids({ by: 'all' });
  const exact = query.exact === true && (query.username ?? query.email) !== undefined;
  for (const way of exact ? [...WAYS, { by: 'exact' } as const] : WAYS) {
    assert.deepEqual(await ids(way), expected, `${way.by}: ${about}`);
    const { sql, parameters } = userCount(db, dialect, query, way).compile();
    const [row] = await run(sql, parameters);
    assert.equal(Number(row?.['users']), expected.length, `count by ${way.by}: ${about}`);
    const page = { ...query, first: 1, max: 2 };
    assert.deepEqual(await ids(way, page), expected.slice(1, 3), `page by ${way.by}: ${about}`);
  }
  const listed = (await store.listUsers(query)).map(({ id }) => id);
  assert.deepEqual(listed, expected, `store: ${about}`);
  const page = (await store.listUsers({ ...query, first: 0, max: 3 })).map(({ id }) => id);
  assert.deepEqual(page, expected.slice(0, 3), `page of the store: ${about}`);
  assert.equal(await store.countUsers(query), expected.length, `count of the store: ${about}`);
  return expected.length;
}
