// The persistence contract: one small port for each aggregate, joined into `Store`.
// Decided here: which reads and writes exist, and what each of them guarantees. Not here: how a driver fulfils that.
// Start at `Store`, then read the port of the aggregate that you need.
import type { Clock, Seconds } from '../../core/index.ts';
import type { ConfigurationStore } from './configuration.ts';
import type { EventStore } from './events.ts';
import type { LoginStore } from './login.ts';
import type { SessionStore } from './sessions.ts';
import type { UserStore } from './users.ts';

export type * from './configuration.ts';
export type * from './events.ts';
export type * from './login.ts';
export type * from './sessions.ts';
export type * from './users.ts';

/** The work of one batch of a sweep. */
export interface Swept {
  /** The number of records that were removed. */
  removed: number;
  /**
   * The number of due records in the batch: removed records, and sessions that continue. If it equals the limit, more
   * records may be due.
   */
  handled: number;
}

/** Sizes for metrics and status. */
export interface StoreFigures {
  schemaVersion: number;
  databaseBytes: number;
  realms: number;
  users: number;
  userSessions: number;
  offlineSessions: number;
  tokenFamilies: number;
  /** Unfinished logins in a browser. */
  openLogins: number;
}

/**
 * Guarantees, each with a conformance test that quotes it:
 *
 * - A promise that resolves for a write means that the write is durable: it survives the loss of power.
 * - `apply` is atomic: it applies the whole list or nothing.
 * - Of any number of changes that read a record and put it, none undoes another: the later one is `stale`.
 * - Of any number of parallel `rotateRefreshToken` calls that present the same token with `maxReuse` 0,
 *   exactly one returns `rotated`.
 * - A rotation that detects reuse ends the user session before it returns.
 * - `claimOnce` returns true to exactly one caller per key until the claim expires.
 * - A read that starts after a write returned sees that write. If several stores are open on one database, all of this
 *   also holds between them, except that a change of configuration or users reaches another store within a second.
 * - Secrets, passwords and refresh tokens are never stored in the clear.
 * - `find…` returns undefined for what is absent, `list…` an empty array; neither throws for it.
 */
export interface Store extends ConfigurationStore, UserStore, SessionStore, LoginStore, EventStore {
  /**
   * The clock that decides whether something has expired. It is the machine's clock. If several services share the
   * database, it follows the clock of the database server, so that they agree.
   */
  readonly clock: Clock;

  /**
   * Waits until no other store of the database holds the turn with this name. By then, all changes of earlier turns are
   * visible. The returned function ends the turn, and so does the loss of the connection. Calls of one store do not
   * wait for each other: see `inTurn` in core.
   *
   *
   * @param within milliseconds to wait. Returns undefined if other stores held the turn for the whole time. Cached
   * results (see `findRealm`, `findUser`) may then be older than the turn. Default: waits for the turn
   */
  takeTurn(name: string): Promise<() => Promise<void>>;
  takeTurn(name: string, within?: number): Promise<(() => Promise<void>) | undefined>;

  /**
   * Removes expired sessions, families, logins, codes, claims, revocations and events, and works on at most `limit`
   * records that are due. Only one store of each database does this, until it closes or loses its connection. In the
   * other stores the call does nothing.
   */
  sweep(now: Seconds, limit: number): Promise<Swept>;
  figures(): Promise<StoreFigures>;
  /** Finishes running writes, checkpoints and closes. Idempotent. */
  close(): Promise<void>;
}
