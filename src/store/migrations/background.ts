import type { QueryName } from '../queries/compiled/types.ts';
import { moveNextSessions, SESSION_ROWS } from '../verbs/move-sessions.ts';
import { NAME_MEMBERS, nameNextMembers } from '../verbs/name-members.ts';
import type { Steps } from '../verbs/steps.ts';
import { INDEX_EVENTS } from './event-indexes.ts';
import { USER_SEARCH } from './user-search.ts';

/** An index that Postgres builds while the service runs. */
export interface BackgroundIndex {
  name: string;
  /** The statement that creates it: `CREATE INDEX name ON …`. */
  sql: string;
}

/** The result of one slice. */
export interface Slice {
  /** The place at which the next slice continues. The slice chooses its form. */
  position: string;
  /** Number of records that this slice handled. */
  handled: number;
  finished: boolean;
}

/**
 * Work on existing records that takes too long for the transaction of a schema migration. It runs slice by slice while
 * the service runs, and continues after any interruption. Meanwhile the service uses the records as they are, and every
 * write maintains the new form of its own records. In a new database, every background migration counts as finished.
 */
export interface BackgroundMigration {
  /** The key of its row in the table `background_migration`. A released name never changes. */
  name: string;
  /** What it does, for the log: `build the search index of users`. */
  title: string;
  /** The query that counts the records that it has not handled. It runs once, before the first slice. */
  left: Extract<QueryName, `left.${string}`>;
  /** Indexes that Postgres builds before the first slice, without blocking writes. A new database has them at once. */
  postgresIndexes?: readonly BackgroundIndex[];
  /**
   * Handles the next records, about `limit`, in one transaction. If a slice is repeated, it must have the same effect.
   *
   * @param position the position of the previous slice, or an empty string
   */
  slice?(position: string, limit: number, dialect: 'sqlite' | 'postgres'): Steps<Slice>;
  /** Number of records in the first slice. Later slices adapt to the time that a slice takes. */
  firstSlice?: number;
}

/** All background migrations, in the order in which they run. */
export const BACKGROUND_MIGRATIONS: readonly BackgroundMigration[] = [
  {
    name: SESSION_ROWS,
    title: 'move sessions to smaller rows',
    left: 'left.sessions',
    slice: moveNextSessions,
    firstSlice: 200,
  },
  INDEX_EVENTS,
  {
    name: NAME_MEMBERS,
    title: 'sort the members of roles and groups',
    left: 'left.members',
    postgresIndexes: [
      {
        name: 'user_role_username',
        sql: 'CREATE INDEX user_role_username ON user_role (role_id, username)',
      },
      {
        name: 'user_group_username',
        sql: 'CREATE INDEX user_group_username ON user_group (group_id, username)',
      },
    ],
    slice: nameNextMembers,
    firstSlice: 1_000,
  },
  USER_SEARCH,
];
