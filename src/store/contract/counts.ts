import type { Seconds } from '../../core/index.ts';

/**
 * The checks of the kept counts: of users, of sessions, of token families with the sessions of each client, of logins in
 * progress, and of users by their required actions.
 */
export type CountCheck = 'users' | 'sessions' | 'families' | 'logins' | 'actions';

/** A kept count that differed from the records. */
export interface CountDrift {
  /** What is counted, for example `clientSessions`. */
  kind: string;
  /** The id of the realm or client. Empty for the whole database. */
  owner: string;
  /** The number of records minus the kept count. */
  drift: number;
}

/** The result of one check. */
export interface CheckedCounts {
  check: CountCheck;
  /** True if the counts were complete for the first time. The differences then do not indicate a fault. */
  isFirst: boolean;
  drifts: readonly CountDrift[];
}

/**
 * Keeps the numbers of users, sessions, token families and logins, so that no reader counts records. A write changes
 * the counts in its own transaction. Until the first check of an older database, readers count the records.
 */
export interface CountStore {
  /**
   * Counts all records of the check that is due, and corrects the kept counts that differ, although records change
   * meanwhile. Returns undefined if no check is due or another store of the database is checking.
   */
  checkCounts(): Promise<CheckedCounts | undefined>;
}

/** The figures about the checks. */
export interface CountFigures {
  /** The sum of all differences that checks have found, without signs. */
  countDrift: number;
  /** Unix time in seconds of the oldest of the last checks. Undefined until every kind of count was checked. */
  countsCheckedAt: Seconds | undefined;
}
