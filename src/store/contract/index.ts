// The persistence contract: one small interface for each kind of data, combined in `Store`.
// Decided here: which reads and writes exist, and what each of them guarantees. Not here: how a driver fulfils that.
// Start at `Store`, then read the interface that you need.
import type { Clock, Seconds } from '../../core/index.ts';
import type { BackgroundStore } from './background.ts';
import type { ConfigurationStore } from './configuration.ts';
import type { CountFigures, CountStore } from './counts.ts';
import type { EventStore } from './events.ts';
import type { LoginStore } from './login.ts';
import type { SessionStore } from './sessions.ts';
import type { TrashStore } from './trash.ts';
import type { UserStore } from './users.ts';

export type * from './background.ts';
export type * from './configuration.ts';
export type * from './counts.ts';
export type * from './events.ts';
export type * from './login.ts';
export type * from './sessions.ts';
export type * from './trash.ts';
export type * from './users.ts';

/** The result of one slice of a sweep. */
export interface Swept {
  /** Number of removed records. Does not include token families. */
  removed: number;
  /** Number of records that the slice handled: those that it removed, and sessions that continue. */
  handled: number;
  /**
   * Whether the next slice may find more: the limit left expired records of a kind, and this slice handled some. Due
   * sessions that another transaction has locked count as left.
   */
  more: boolean;
  /** The error of other work that the store does at the same time. It does not prevent the removal. */
  fault?: unknown;
}

/** The expired records of one kind that no sweep has handled yet. */
export interface DueRecords {
  kind: 'sessions' | 'logins' | 'codes' | 'claims' | 'revocations' | 'events' | 'adminEvents';
  /** Number of records, counted up to 1,000. */
  records: number;
  /** Time in seconds for which the oldest of them has been due. 0 if there is none. */
  overdueSeconds: number;
}

/** The figures that metrics and `idkit status` show. */
export interface StoreFigures extends CountFigures {
  schemaVersion: number;
  databaseBytes: number;
  realms: number;
  users: number;
  userSessions: number;
  offlineSessions: number;
  tokenFamilies: number;
  /** Number of unfinished browser logins. */
  openLogins: number;
}

/** A service that is connected to the database. */
export interface ServiceOnDatabase {
  /** For example `idkit serve HOST PID`. */
  name: string;
  /** Unix time in milliseconds of its oldest connection. */
  since: number;
}

/** The figures of one lane: a set of connections or processes that only one kind of work uses. */
export interface LaneFigures {
  /** Number of operations that run. */
  inUse: number;
  waiting: number;
  /** Number of operations that were rejected because too many were waiting, or because they waited too long. */
  refused: number;
  /** Sum of the waiting times in seconds. */
  waitedSeconds: number;
}

/**
 * The store. Its guarantees, each with a conformance test that quotes it:
 *
 * - When the promise of a write resolves, the write is durable: it survives a loss of power.
 * - `apply` is atomic: it applies the whole list or nothing.
 * - If several callers read the same record and put it, the first change is applied and the later ones are `stale`.
 * - If parallel `rotateRefreshToken` calls present the same token with `maxReuse` 0, exactly one returns `rotated`. Within a
 *   grace period, the others return `repeated`.
 * - A rotation that detects reuse ends the user session before it returns.
 * - `claimOnce` returns true to exactly one caller per key until the claim expires.
 * - A read that starts after a write returned sees that write.
 * - Secrets, passwords and refresh tokens are never stored in plain text.
 * - For absent records, `find…` returns undefined and `list…` an empty array.
 * - All of this also holds between several stores of one database, with one exception: a change of configuration or
 *   users reaches the other stores within a second.
 */
export interface Store
  extends ConfigurationStore,
    UserStore,
    SessionStore,
    LoginStore,
    EventStore,
    BackgroundStore,
    CountStore,
    TrashStore {
  /**
   * The clock that decides whether something has expired: the machine's clock on SQLite, the clock of the database
   * server on Postgres, so that services on several machines agree.
   */
  readonly clock: Clock;

  /**
   * Acquires the lock with this name, and waits while another store of the database holds it. The caller then sees all
   * changes that earlier holders made. The returned function releases the lock. The lock is also released if the
   * connection is lost. Calls of one store do not wait for each other: see `inTurn` in core.
   *
   * @param within Timeout in milliseconds. Default: waits until the lock is free. With a timeout, `takeTurn` returns
   * undefined if the lock was not free in time, and cached results (see `findRealm`, `findUser`) may lack the changes
   * of earlier holders.
   */
  takeTurn(name: string): Promise<() => Promise<void>>;
  takeTurn(name: string, within?: number): Promise<(() => Promise<void>) | undefined>;

  /**
   * Time in milliseconds that one slice of long work may take without delaying requests noticeably. It is short if all
   * writes share one thread.
   */
  readonly sliceMilliseconds: number;
  /** Minimum number of records that one slice of a sweep handles. */
  readonly smallestSlice: number;

  /**
   * Removes expired sessions, token families, logins, codes, claims and revocations. Handles at most `limit` records
   * in short transactions, and a backlog of one kind leaves a part of the limit to the others. Several stores of a
   * database can sweep at the same time: each handles records that the others have not locked. A session that is used
   * at the same moment is never removed.
   */
  sweep(now: Seconds, limit: number): Promise<Swept>;
  /**
   * Removes at most `limit` events that are older than their realm allows. Only one store of a database removes events,
   * until it closes or loses its connection.
   */
  sweepEvents(now: Seconds, limit: number): Promise<Swept>;
  /** Reports the work that sweeps have not done yet. It is as fast for any number of records. */
  listDue(now: Seconds): Promise<readonly DueRecords[]>;
  figures(): Promise<StoreFigures>;
  /** Returns the figures of this store's lanes by their names, such as `reads`. */
  lanes(): Readonly<Record<string, LaneFigures>>;
  /**
   * Lists the services that use the database, the oldest first. The list is empty on SQLite, where the caller is the only
   * one.
   */
  listServices(): Promise<readonly ServiceOnDatabase[]>;
  /** Finishes running writes, checkpoints and closes. Further calls have no effect. */
  close(): Promise<void>;
}
