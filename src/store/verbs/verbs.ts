import type {
  Conflict,
  CountCheck,
  CountDrift,
  Dropped,
  Missing,
  RotationResult,
  Stale,
  Swept,
} from '../contract/index.ts';
import type { QueryName, SlotsOf } from '../queries/compiled/types.ts';
import type { RecordTable } from '../queries/configuration.ts';
import type { NewAuthenticationRow, NewCodeRow } from '../records/login.ts';
import type { SessionLifetimes } from '../records/session-lifetimes.ts';
import type { CodeRow, ConsentRow, FamilyRow, SessionRow, Tables } from '../schema.ts';
import { applyChanges } from './apply.ts';
import { runSlice } from './background.ts';
import { correctCounts } from './counts.ts';
import { eraseSlice } from './erase.ts';
import { appendEvents, removeOldest } from './events.ts';
import { type Kept, keepSlice, openEntry } from './keep.ts';
import {
  endUserSessions,
  finishLogin,
  putAuthenticationSession,
  removeConsent,
  startFamily,
  takeCode,
} from './login.ts';
import { type OwningTable, removeFamiliesOfClient } from './many.ts';
import { moveSessions } from './move-sessions.ts';
import { putLoginFailures, removeFamily, rotate, startSession } from './sessions.ts';
import { run, type Steps } from './steps.ts';
import { sweep } from './sweep.ts';
import type { Touched } from './touched.ts';

/** A change as the database writes it: rows with encrypted secrets. */
export type RowChange =
  | WriteChange
  | { do: 'remove'; table: RecordTable; id: string; keep?: Kept; erase?: boolean }
  | RestoreChange
  | { do: 'assign' | 'unassign'; userId: string; roleIds: readonly string[] }
  | { do: 'join' | 'leave'; userId: string; groupId: string }
  | { do: 'putConsent'; row: ConsentRow }
  | { do: 'endSessions'; userId: string; offlineToo: boolean }
  | { do: 'record'; row: SlotsOf<'admin_event.insert'> }
  /** Drops the users of a realm from all caches, because other statements have changed many of them. */
  | { do: 'forgetUsers'; realmId: string };

/** Restores an entry of the bin (see restore-trash.ts). */
export interface RestoreChange {
  do: 'restore';
  id: string;
  limit: number;
  name: string | undefined;
  /** Admin events that are stored with the last slice. */
  records: readonly SlotsOf<'admin_event.insert'>[];
}

export type RestoredSlice =
  | { outcome: 'gone' }
  | { outcome: 'more' | 'restored'; dropped: readonly Dropped[] };

/** A row, with the name of its table. */
export type RecordRow = { [T in RecordTable]: { table: T; row: Tables[T] } }[RecordTable];

/** Creates a record, or replaces one. */
export type WriteChange = RecordRow & {
  do: 'create' | 'put';
  /** For a `put`, the revision of the record when it was read. */
  revision: string | undefined;
  /** For a user, the roles and groups that replace the previous ones. */
  roleIds?: readonly string[];
  groupIds?: readonly string[];
};

/** The list removes a record on which many others depend. They must be removed in slices first. */
export interface Many {
  outcome: 'many';
  of: OwningTable;
  id: string;
  /** 1 if offline sessions are removed too. */
  offline: number;
  /** If the removed records move to the bin. */
  keep?: Kept;
}

export type AppliedRows =
  | { outcome: 'applied'; touched: Touched; restored?: RestoredSlice }
  | Conflict
  | Missing
  | Stale
  | Many;

/** The input and the result of every verb (write operation). */
export interface Verbs {
  /** `unbounded`: ids of records for which the result is not `Many`. */
  apply: { in: { changes: readonly RowChange[]; unbounded: readonly string[] }; out: AppliedRows };
  rotate: {
    in: {
      session_id: string;
      id: string;
      /** Text with one character per byte, because sending text to another thread is cheaper than sending bytes. */
      presented: string;
      next: string;
      now: number;
      single_use: boolean;
      max_reuse: number;
      /** The grace period in seconds. Without one, 0. */
      grace: number;
      /** The sealed next token as text with one character per byte. Without a grace period, null. */
      successor: string | null;
    };
    out: Exclude<RotationResult, { outcome: 'repeated' }> | { outcome: 'repeated'; successor: string };
  };
  startSession: { in: { session: SessionRow; family: FamilyRow }; out: undefined };
  removeFamily: { in: { session_id: string; id: string }; out: { removed: boolean } };
  appendEvents: { in: { rows: readonly SlotsOf<'event.insert'>[] }; out: undefined };
  /** `from`, `before` and `gone`: Unix times in milliseconds. */
  removeOldest: {
    in: { table: 'event' | 'admin_event'; realm_id: string; from: number; before: number; limit: number };
    out: Swept & { gone: number };
  };
  putLoginFailures: {
    in: { realm_id: string; user_id: string; revision: number; next: number; doc: string };
    out: 'stored' | 'changed';
  };
  putAuthenticationSession: { in: { now: number; row: NewAuthenticationRow }; out: 'stored' | 'changed' };
  finishLogin: {
    in: {
      now: number;
      authentication: { id: string; revision: number } | undefined;
      session: SessionRow;
      session_must_exist: boolean;
      consent: ConsentRow | undefined;
      code: NewCodeRow | undefined;
    };
    out: 'finished' | 'gone';
  };
  /** Hashes are text with one character per byte. */
  takeCode: {
    in: { hash: string; now: number };
    out: { outcome: 'taken' | 'used'; row: Omit<CodeRow, 'hash'> } | { outcome: 'gone' };
  };
  startFamily: {
    in: {
      code: { hash: string; now: number } | undefined;
      family: FamilyRow;
      offline_session: SessionRow | undefined;
    };
    out: 'started' | 'used' | 'gone';
  };
  removeConsent: { in: { user_id: string; client_uuid: string; now: number }; out: { removed: boolean } };
  endUserSessions: { in: { user_id: string; offline: number; limit: number }; out: number };
  removeFamiliesOfClient: { in: { client_uuid: string; limit: number }; out: number };
  sweep: {
    in: {
      now: number;
      limit: number;
      lifetimes: readonly SessionLifetimes[];
      dialect: 'sqlite' | 'postgres';
    };
    /** `unknown`: the realms of due sessions that `lifetimes` lacks. These sessions were not handled. */
    out: Swept & { unknown: readonly string[] };
  };
  /** Returns the id of the entry, if the record exists. */
  openEntry: { in: { table: RecordTable; id: string; keep: Kept }; out: string | undefined };
  keepSlice: {
    in: { trash: string } & (
      | { what: 'users'; user_ids: readonly string[] }
      | { what: 'consents'; client_uuid: string; limit: number }
      | { what: 'usersOfRoles' | 'members'; ids: readonly string[]; limit: number }
    );
    out: number;
  };
  /** Returns the number of removed parts. */
  eraseSlice: {
    in: { id: string; limit: number; records: readonly SlotsOf<'admin_event.insert'>[] };
    out: number | 'missing' | 'busy';
  };
  correctCounts: {
    in: { check: CountCheck; generation: number; now: number; drifts: readonly CountDrift[] };
    out: boolean;
  };
  moveSessions: { in: { ids: readonly string[] }; out: undefined };
  runSlice: {
    in: { name: string; limit: number; dialect: 'sqlite' | 'postgres' };
    /** `handled` counts the records of all slices so far. */
    out: { handled: number; finished: boolean } | undefined;
  };
  /** Runs one statement by name. Returns the number of written rows. */
  run: { in: { query: QueryName; values: SlotsOf<QueryName> }; out: number };
}

export type Verb = keyof Verbs;

/** Verbs whose statements must be one transaction. In the other verbs, each statement leaves a consistent state. */
export const TOGETHER: ReadonlySet<Verb> = new Set([
  'apply',
  'startSession',
  'removeFamily',
  'appendEvents',
  'finishLogin',
  'takeCode',
  'startFamily',
  'removeConsent',
  'endUserSessions',
  'removeFamiliesOfClient',
  'sweep',
  'runSlice',
  'openEntry',
  'keepSlice',
  'eraseSlice',
  'correctCounts',
  'moveSessions',
]);

/** The steps of each verb. */
const STEPS: { readonly [V in Verb]: (input: Verbs[V]['in']) => Steps<Verbs[V]['out']> } = {
  apply: applyChanges,
  rotate,
  startSession,
  removeFamily,
  appendEvents,
  removeOldest,
  putLoginFailures,
  putAuthenticationSession,
  finishLogin,
  takeCode,
  startFamily,
  removeConsent,
  endUserSessions,
  removeFamiliesOfClient,
  sweep,
  runSlice,
  openEntry: ({ table, id, keep }) => openEntry(table, id, keep),
  keepSlice,
  eraseSlice,
  correctCounts,
  moveSessions,
  run: ({ query, values }) => run(query, values),
};

/** Returns the steps of a verb. If the verb must be rolled back, they throw `Refused` with its result. */
export function stepsOf<V extends Verb>(verb: V, input: Verbs[V]['in']): Steps<Verbs[V]['out']> {
  return STEPS[verb](input);
}
