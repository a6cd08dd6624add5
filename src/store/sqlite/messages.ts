import type { Conflict, Missing, RotationResult } from '../contract.ts';
import type { RecordTable } from '../queries/configuration.ts';
import type { Fault } from './faults.ts';
import type { Arguments } from './statements.ts';

/** A change as the writer thread gets it: rows ready to be written, secrets sealed. */
export type RowChange =
  | {
      do: 'create' | 'put';
      table: RecordTable;
      row: Arguments & { id: string };
      /** Of a user; replaces what was there. */
      roleIds?: readonly string[];
      groupIds?: readonly string[];
    }
  | { do: 'remove'; table: RecordTable; id: string }
  | { do: 'assign' | 'unassign'; userId: string; roleIds: readonly string[] }
  | { do: 'join' | 'leave'; userId: string; groupId: string }
  | { do: 'endSessions'; userId: string; offlineToo: boolean }
  | { do: 'record'; row: Arguments };

/** What of the caches an applied list has made stale. */
export interface Touched {
  realms: string[];
  clients: string[];
  /** Realms whose clients all may have changed. */
  clientsOf: string[];
}

export type AppliedRows = { outcome: 'applied'; touched: Touched } | Conflict | Missing;

/** The writer thread's verbs: what goes in and what comes back. */
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
  sweep: { in: { now: number; limit: number }; out: { removed: number } };
  /** One statement by name; how many rows it wrote. */
  run: { in: { query: string; values: Arguments }; out: number };
}

export type Verb = keyof Verbs;

export interface Call {
  id: number;
  verb: Verb;
  input: unknown;
}

export type Answer = { id: number; value: unknown } | { id: number; fault: Fault };

/** From the main thread. */
export type ToWriter = { calls: readonly Call[] } | { close: true };

/** To the main thread. */
export type FromWriter =
  | { ready: true }
  | { answers: readonly Answer[] }
  | { closed: true }
  | { failed: Fault };
