import { createHash } from 'node:crypto';

/** What a seeded database contains. All of it is in the realm `rs`. */
export interface Plan {
  /** Number of sessions, each with one token family. */
  sessions: number;
  users: number;
  events: number;
}

/** Number of sessions of the client `rare`. The other sessions are of the client `web`. */
export const RARE_SESSIONS = 1000;
/** Maximum number of sessions whose refresh token the load can use. */
const MOST_USABLE = 200_000;
/** Distance between the ends of the seeded sessions and now, in seconds. The realm permits sessions of 60 days. */
export const AHEAD = 20 * 86_400;
/** The lifetime in seconds of sessions of the realms `rs` and `es`. An expired session began before. */
export const LIFETIME = 60 * 86_400;

/** Every how many sessions one has a refresh token that the load can use. */
export function usableEvery(sessions: number): number {
  return Math.max(5, Math.ceil(sessions / MOST_USABLE));
}

/** Every how many sessions one is of the client `rare`. */
export function rareEvery(sessions: number): number {
  return Math.max(2, Math.floor(sessions / RARE_SESSIONS));
}

/**
 * Returns the version 4 UUID of the thing with this name. The seeds for Postgres compute the same in SQL
 * (`uuidOf` in postgres.ts).
 */
export function uuidOf(name: string): string {
  const hex = createHash('md5').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** Returns the id of the session with this name: 24 characters in base64url, the first of them a letter. */
export function sessionIdOf(name: string): string {
  return `A${createHash('sha256').update(name).digest('base64url').slice(1, 24)}`;
}

/** The name from which the id of a user is computed. */
export const userName = (index: number): string => `u${index}`;

const FIRST_NAMES = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Radia'];

/** The words of the searches. `RARE_WORD` is in one user's name, `COMMON_WORD` in every tenth user's name. */
export const RARE_WORD = 'quetzalcoatl';
export const COMMON_WORD = 'smith';

/** SQL expressions for the columns of user number `i`, which both databases accept. `users` is their number. */
export function userColumns(users: number): { first: string; last: string } {
  const cases = FIRST_NAMES.map((name, at) => `WHEN ${at} THEN '${name}'`).join(' ');
  return {
    first: `CASE i % ${FIRST_NAMES.length} ${cases} END`,
    last: `CASE WHEN i = ${Math.floor(users / 2)} THEN 'Quetzalcoatl' WHEN i % 10 = 0 THEN 'Smith' ELSE 'Family' || (i % 5000) END`,
  };
}

/** SQL expression for the document of user number `i`, which both databases accept. */
export function userDocument(users: number): string {
  const { first, last } = userColumns(users);
  return `'{"firstName":"' || ${first} || '","lastName":"' || ${last} || '","createdTimestamp":' || (1700000000000 + i) || ',"attributes":{"department":["d' || (i % 97) || '"]},"requiredActions":[],"notBefore":0,"kept":{}}'`;
}

/** SQL that puts the first `count` users of the realm `rs` into a group, which both databases accept. */
export function membersSql(group: string, count: number): string {
  return `INSERT INTO user_group (user_id, group_id)
    SELECT account.id, '${group}' FROM account JOIN realm ON realm.id = realm_id
    WHERE realm.name = 'rs' AND NOT EXISTS
      (SELECT 1 FROM user_group WHERE user_id = account.id AND group_id = '${group}')
    ORDER BY account.id LIMIT ${count} - (SELECT count(*) FROM user_group WHERE group_id = '${group}')`;
}

/** Events of the rare type, of the rare client and of one user among all events, each about 100. */
export const RARE_EVENTS = 100;
/** The time that the events cover, in milliseconds. */
export const EVENT_SPAN = 30 * 86_400_000;

/** SQL expressions for event number `i` of `events`, which both databases accept. */
export function eventColumns(events: number): { type: string; client: string; ip: string; time: string } {
  const every = Math.max(2, Math.floor(events / RARE_EVENTS));
  return {
    type: `CASE WHEN i % ${every} = 1 THEN 'RESET_PASSWORD' WHEN i % 10 < 6 THEN 'LOGIN' WHEN i % 10 < 9 THEN 'REFRESH_TOKEN' ELSE 'LOGIN_ERROR' END`,
    client: `CASE WHEN i % ${every} = 0 THEN 'rare' ELSE 'web' END`,
    ip: `'10.' || (i / 65536 % 256) || '.' || (i / 256 % 256) || '.' || (i % 256)`,
    time: `${Date.now() - EVENT_SPAN} + CAST(i * ${EVENT_SPAN / events} AS BIGINT)`,
  };
}
