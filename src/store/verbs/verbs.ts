import type { Conflict, Missing, RotationResult, Stale, Swept } from '../contract.ts';
import type { RecordTable } from '../queries/configuration.ts';
import type { NewAuthenticationRow, NewCodeRow } from '../records/login.ts';
import type { Arguments } from '../rows.ts';
import type { CodeRow, ConsentRow } from '../schema.ts';

/** A change as it is written: rows ready to be written, secrets sealed. */
export type RowChange =
  | WriteChange
  | { do: 'remove'; table: RecordTable; id: string }
  | { do: 'assign' | 'unassign'; userId: string; roleIds: readonly string[] }
  | { do: 'join' | 'leave'; userId: string; groupId: string }
  | { do: 'putConsent'; row: ConsentRow }
  | { do: 'endSessions'; userId: string; offlineToo: boolean }
  | { do: 'record'; row: Arguments };

/** A record that is made, or replaces one. */
export interface WriteChange {
  do: 'create' | 'put';
  table: RecordTable;
  row: Arguments & { id: string };
  /** What the record that a `put` replaces was read as. */
  revision: string | undefined;
  /** Of a user; replaces what was there. */
  roleIds?: readonly string[];
  groupIds?: readonly string[];
}

/** What of the caches an applied list has made stale. */
export interface Touched {
  realms: string[];
  clients: string[];
  /** Realms whose clients all may have changed. */
  clientsOf: string[];
}

export type AppliedRows = { outcome: 'applied'; touched: Touched } | Conflict | Missing | Stale;

/** Everything that is written: what goes in and what comes back. */
export interface Verbs {
  apply: { in: { changes: readonly RowChange[] }; out: AppliedRows };
  rotate: {
    in: {
      id: string;
      /** One character per byte: text goes to another thread for less than bytes do. */
      presented: string;
      next: string;
      now: number;
      single_use: boolean;
      max_reuse: number;
    };
    out: RotationResult;
  };
  startSession: { in: { session: Arguments; family: Arguments }; out: undefined };
  removeFamily: { in: { id: string }; out: { removed: boolean } };
  appendEvents: { in: { rows: readonly Arguments[] }; out: undefined };
  putLoginFailures: {
    in: { realm_id: string; user_id: string; revision: number; next: number; doc: string };
    out: 'stored' | 'changed';
  };
  putAuthenticationSession: { in: { now: number; row: NewAuthenticationRow }; out: 'stored' | 'changed' };
  finishLogin: {
    in: {
      now: number;
      authentication: { id: string; revision: number } | undefined;
      session: Arguments;
      session_must_exist: boolean;
      consent: ConsentRow | undefined;
      code: NewCodeRow | undefined;
    };
    out: 'finished' | 'gone';
  };
  /** Hashes travel as text, one character per byte. */
  takeCode: {
    in: { hash: string; now: number };
    out: { outcome: 'taken' | 'used'; row: Omit<CodeRow, 'hash'> } | { outcome: 'gone' };
  };
  startFamily: {
    in: {
      code: { hash: string; now: number } | undefined;
      family: Arguments;
      offline_session: Arguments | undefined;
    };
    out: 'started' | 'used' | 'gone';
  };
  removeConsent: { in: { user_id: string; client_uuid: string; now: number }; out: { removed: boolean } };
  endUserSessions: { in: { user_id: string; offline: number }; out: number };
  sweep: { in: { now: number; limit: number }; out: Swept };
  /** One statement by name; how many rows it wrote. */
  run: { in: { query: string; values: Arguments }; out: number };
}

export type Verb = keyof Verbs;
