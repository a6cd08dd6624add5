import type { UserQuery } from '../contract/index.ts';

/** A condition on the names of a user. */
export interface NameFilter {
  /** The columns of which at least one must match. */
  columns: readonly NameColumn[];
  /** The whole value if `exact` is true, otherwise a pattern of LIKE with the escape character `\`. */
  pattern: string;
  exact: boolean;
  /** The literal parts of the text. */
  parts: readonly TextPart[];
}

/** Text without wildcards that a matching value contains. */
interface TextPart {
  text: string;
  /** True if the value begins or ends with the text. */
  begins: boolean;
  ends: boolean;
}

export const NAME_COLUMNS = ['username', 'email', 'first_name', 'last_name'] as const;
export type NameColumn = (typeof NAME_COLUMNS)[number];

/** Returns the conditions of a query on the names of a user. */
export function nameFilters(query: UserQuery): readonly NameFilter[] {
  const fields: Record<NameColumn, string | undefined> = {
    username: query.username,
    email: query.email,
    first_name: query.firstName,
    last_name: query.lastName,
  };
  const ofFields = NAME_COLUMNS.flatMap((column) => {
    const text = fields[column]?.toLowerCase();
    if (text === undefined) return [];
    return query.exact ? exactly([column], text) : containing([column], text);
  });
  return [...searchWords(query.search), ...ofFields];
}

/**
 * Splits a search into words. A word is `"exact"`, contains wildcards (`in*fix`) or is a prefix
 * (docs/keycloak/users.md#search).
 */
function searchWords(search: string | undefined): NameFilter[] {
  const words = (search ?? '').toLowerCase().match(/"[^"]*"|\S+/g) ?? [];
  return words.map((word) => {
    if (word.length >= 2 && word.startsWith('"') && word.endsWith('"'))
      return exactly(NAME_COLUMNS, word.slice(1, -1));
    const pattern = escapeLike(word).replaceAll('*', '%');
    const parts = word.split('*').map((text, index) => ({ text, begins: index === 0, ends: false }));
    return {
      columns: NAME_COLUMNS,
      pattern: word.endsWith('*') ? pattern : `${pattern}%`,
      exact: false,
      parts: parts.filter(({ text }) => text !== ''),
    };
  });
}

function exactly(columns: readonly NameColumn[], text: string): NameFilter {
  return { columns, pattern: text, exact: true, parts: [{ text, begins: true, ends: true }] };
}

function containing(columns: readonly NameColumn[], text: string): NameFilter {
  const parts = text === '' ? [] : [{ text, begins: false, ends: false }];
  return { columns, pattern: `%${escapeLike(text)}%`, exact: false, parts };
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** The characters in the search index before each value (twice), after it, and between two trigrams. */
export const BEGIN = '\u0002';
export const END = '\u0003';
export const SEPARATOR = '\u0001';

/** Maximum number of trigrams that a search looks up for one word, and for all words. */
const TRIGRAMS_OF_A_WORD = 12;
const TRIGRAMS = 36;

/**
 * Returns sequences of three characters that the search index contains for every matching user. Returns none if the
 * words are too short: the index then does not narrow the search.
 *
 * @param endsAtNul true if the database ignores everything after a NUL when it compares or splits text
 */
export function trigramsOf(filters: readonly NameFilter[], endsAtNul: boolean): readonly string[] {
  const all = filters.flatMap(({ parts }) =>
    spread((endsAtNul ? untilNul(parts) : parts).flatMap(trigramsOfPart)),
  );
  return [...new Set(all)].slice(0, TRIGRAMS);
}

function untilNul(parts: readonly TextPart[]): readonly TextPart[] {
  const last = parts.findIndex(({ text }) => text.includes('\0'));
  if (last < 0) return parts;
  const { text, begins } = parts[last]!;
  return [...parts.slice(0, last), { text: text.slice(0, text.indexOf('\0')), begins, ends: false }];
}

function trigramsOfPart({ text, begins, ends }: TextPart): string[] {
  const marked = [...(begins ? BEGIN + BEGIN : ''), ...text, ...(ends ? END : '')];
  const trigrams = marked.slice(2).map((_, index) => marked.slice(index, index + 3).join(''));
  return trigrams.filter((trigram) => !trigram.includes(SEPARATOR));
}

/** Selects some of many trigrams at equal distances, with the first and the last. */
function spread(trigrams: readonly string[]): readonly string[] {
  if (trigrams.length <= TRIGRAMS_OF_A_WORD) return trigrams;
  const step = (trigrams.length - 1) / (TRIGRAMS_OF_A_WORD - 1);
  return Array.from({ length: TRIGRAMS_OF_A_WORD }, (_, index) => trigrams[Math.round(index * step)]!);
}
