import type { UserQuery } from '../contract/index.ts';
import { type NameFilter, nameFilters, trigramsOf } from './search-words.ts';

/** The ways that a search can take. */
export interface SearchPlan {
  /** True if the query filters nothing: the search finds all users except service accounts. */
  selectsAll: boolean;
  /** True if the way `exact` is possible. */
  isExact: boolean;
  /** True if the ways `order` and `index` are possible: the search has words or attributes. */
  usesIndex: boolean;
}

export function planSearch(query: UserQuery): SearchPlan {
  const { names, attributes } = filtersOf(query);
  return {
    selectsAll: names.length + attributes.length + flags(query).length === 0,
    isExact: query.exact === true && (query.username !== undefined || query.email !== undefined),
    usesIndex: names.length + attributes.length > 0,
  };
}

/** Reports whether the search index finds only some users: a word has three characters in a row, or there are attributes. */
export function isNarrowed(query: UserQuery, dialect: 'sqlite' | 'postgres'): boolean {
  const { names, attributes } = filtersOf(query);
  return attributes.length > 0 || trigramsOf(names, dialect === 'sqlite').length > 0;
}

/** The attributes that a query filters by. */
export type Attributes = readonly (readonly [name: string, value: string])[];

/** Returns the filters of a query that search names and attributes. */
export function filtersOf(query: UserQuery): { names: readonly NameFilter[]; attributes: Attributes } {
  return { names: nameFilters(query), attributes: Object.entries(query.attributes ?? {}) };
}

/** Returns the filters of a query that compare a column. */
export function flags({ emailVerified, enabled }: UserQuery): (readonly [column: string, value: boolean])[] {
  return [
    ...(emailVerified === undefined ? [] : [['email_verified', emailVerified] as const]),
    ...(enabled === undefined ? [] : [['enabled', enabled] as const]),
  ];
}
