import type { User } from '../../../src/model/index.ts';
import type { Change, UserQuery } from '../../../src/store/index.ts';
import { aUser } from '../../conformance/store/records.ts';

/** A source of random numbers that returns the same sequence for the same seed (mulberry32). */
export class Seeded {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns a whole number from 0 to `below` - 1. */
  number(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  }

  pick<T>(of: readonly T[]): T {
    return of[this.number(of.length)]!;
  }

  /** Returns true with a probability of one to `of`. */
  once(of: number): boolean {
    return this.number(of) === 0;
  }
}

/** Parts of names: short and long, in many scripts, and with characters that have a meaning in patterns or in SQL. */
const PIECES = [
  ...[
    'a',
    'b',
    'an',
    'na',
    'ann',
    'anna',
    'lena',
    'smith',
    'o',
    "o'neil",
    'example',
    '.',
    '-',
    '_',
    '__',
    '%',
    '%%',
  ],
  ...[
    '\\',
    '\\\\',
    '"',
    '""',
    "'",
    '*',
    '@',
    ' ',
    '  ',
    '\t',
    '\n',
    ';',
    '--',
    '(',
    ')',
    ':',
    '^',
    '$',
    '{',
    '}',
    '&',
  ],
  ...[
    'İstanbul',
    'ß',
    'STRASSE',
    'ΟΔΟΣ',
    'οδος',
    'σ',
    'ς',
    'Σ',
    'ñ',
    'n\u0303',
    'é',
    'e\u0301',
    'ﬁ',
    'Ǆ',
    'ﬀ',
  ],
  ...[
    '李',
    '李明',
    '한국',
    'ひらがな',
    'Ж',
    'жук',
    'עברית',
    '😀',
    '👩‍👩‍👧',
    '𝒜',
    '\ufffd',
    '\uffff',
    '\u{10ffff}',
    '\ud800',
  ],
  ...['\0', '\u0001', '\u0002', '\u0003', '\u0002\u0002a', '1', '12', '123', '1234', '2024', 'x'.repeat(300)],
];

const EXAMPLE = ['@example.com', '@example.org', '@mail.example.com', ''];

export function text(random: Seeded, parts = 3): string {
  return Array.from({ length: random.number(parts) + 1 }, () => random.pick(PIECES)).join('');
}

/** Like `text`, without halves of surrogate pairs, with which Postgres cannot read the attributes of a user. */
function wellFormed(random: Seeded, parts = 3): string {
  return text(random, parts).toWellFormed();
}

function attributes(random: Seeded): User['attributes'] {
  const entries = Array.from({ length: random.number(4) }, () => {
    const values = Array.from({ length: random.number(3) }, () =>
      random.once(6)
        ? wellFormed(random, 2) + 'long value '.repeat(random.number(40)) + wellFormed(random, 2)
        : wellFormed(random, 2),
    );
    return [
      random.once(5) ? wellFormed(random, 2) : random.pick(['team', 'place', 'a"b', "o'k"]),
      values,
    ] as const;
  });
  // The search index leaves out long documents.
  const long = random.once(12) ? [['long', [wellFormed(random, 2), 'x'.repeat(10_000)]] as const] : [];
  return Object.fromEntries([...entries, ...long]);
}

/** Returns a name that is sometimes too long for the search index. */
function name(random: Seeded): string {
  return random.once(20)
    ? `${wellFormed(random)}${'x'.repeat(10_000)}${wellFormed(random)}`
    : wellFormed(random);
}

/** Returns a user with random names and attributes. The number makes the username unique. */
export function person(random: Seeded, number: number, realmId: string): User {
  const named = (more: Partial<User>) => (random.once(4) ? {} : more);
  return aUser({
    id: `person-${number}`,
    realmId,
    username: `${text(random)}${number}`.toLowerCase(),
    ...named({ email: `${text(random)}${number}${random.pick(EXAMPLE)}`.toLowerCase() }),
    ...named({ firstName: random.once(20) ? '' : wellFormed(random) }),
    ...named({ lastName: name(random) }),
    enabled: !random.once(5),
    emailVerified: random.once(2),
    attributes: attributes(random),
    ...(random.once(30) ? { kept: { deep: JSON.parse('['.repeat(200) + ']'.repeat(200)) } } : {}),
    ...(random.once(25) ? { serviceAccountClientUuid: 'client-1' } : {}),
  });
}

export function create(users: readonly User[]): Change[] {
  return users.map((user) => ({ do: 'create', user }));
}

/** Returns a random part of a text, in characters. */
function part(random: Seeded, whole: string): string {
  const characters = [...whole];
  const from = random.number(characters.length + 1);
  return characters.slice(from, from + random.number(7)).join('');
}

function word(random: Seeded, users: readonly User[]): string {
  const { username, email, firstName, lastName } = random.pick(users);
  const value = random.pick([username, email ?? username, firstName ?? '', lastName ?? '']);
  const characters = [...value];
  switch (random.number(8)) {
    case 0:
      return `"${value}"`;
    case 1:
      return `*${part(random, value)}*`;
    case 2:
      return `*${part(random, value)}`;
    case 3:
      return `${part(random, value)}*${part(random, value)}`;
    case 4:
      return text(random);
    case 5:
      return `"${text(random)}"`;
    case 6:
      return value.toUpperCase();
    default:
      return characters.slice(0, random.number(characters.length + 1)).join('');
  }
}

/** Returns a random search. Most of them find some of the users. */
export function search(random: Seeded, users: readonly User[]): Omit<UserQuery, 'realmId'> {
  const some = random.pick(users);
  const field = (value: string | undefined) =>
    random.once(3) ? text(random) : random.once(3) ? (value ?? '') : part(random, value ?? '');
  const query: Omit<UserQuery, 'realmId'> = {};
  const kind = random.number(6);
  if (kind <= 2)
    query.search = Array.from({ length: random.once(3) ? 2 : 1 }, () => word(random, users)).join(' ');
  if (kind === 3) query.username = field(some.username);
  if (kind === 3 || kind === 4) query.email = field(some.email);
  if (kind === 4) query.lastName = field(some.lastName);
  if (kind >= 3 && random.once(3)) query.exact = true;
  if (kind === 5 || random.once(6)) {
    const [name, values] = random.pick([...Object.entries(some.attributes), ['team', ['none']] as const]);
    query.attributes = { [name]: random.once(4) ? text(random, 2) : (values[0] ?? '') };
    if (random.once(4)) query.attributes = { ...query.attributes, place: random.pick(PIECES) };
  }
  if (random.once(8)) query.enabled = random.once(2);
  if (random.once(8)) query.emailVerified = random.once(2);
  return query;
}
