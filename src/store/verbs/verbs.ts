import type { Conflict, Missing, RotationResult, Stale, Swept } from '../contract/index.ts';
import type { RecordTable } from '../queries/configuration.ts';
import type { NewAuthenticationRow, NewCodeRow } from '../records/login.ts';
import type { Arguments, CodeRow, ConsentRow } from '../schema.ts';
import { applyChanges } from './apply.ts';
import {
  endUserSessions,
  finishLogin,
  putAuthenticationSession,
  removeConsent,
  startFamily,
  takeCode,
} from './login.ts';
import { appendEvents, putLoginFailures, removeFamily, rotate, startSession } from './sessions.ts';
import { run, type Steps } from './steps.ts';
import { sweep } from './sweep.ts';

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

/** Verbs whose statements stand or fall together; the others consist of statements that each leave whole rows. */
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
  'sweep',
]);

/** The verb's steps; they throw `Refused` where the verb must be undone and answered all the same. */
export function stepsOf(verb: Verb, input: unknown): Steps<unknown> {
  switch (verb) {
    case 'rotate':
      return rotate(input as Verbs['rotate']['in']);
    case 'startSession':
      return startSession(input as Verbs['startSession']['in']);
    case 'run': {
      const { query, values } = input as Verbs['run']['in'];
      return run(query, values);
    }
    case 'apply':
      return applyChanges((input as Verbs['apply']['in']).changes);
    case 'removeFamily':
      return removeFamily(input as Verbs['removeFamily']['in']);
    case 'appendEvents':
      return appendEvents(input as Verbs['appendEvents']['in']);
    case 'putLoginFailures':
      return putLoginFailures(input as Verbs['putLoginFailures']['in']);
    case 'putAuthenticationSession':
      return putAuthenticationSession(input as Verbs['putAuthenticationSession']['in']);
    case 'finishLogin':
      return finishLogin(input as Verbs['finishLogin']['in']);
    case 'takeCode':
      return takeCode(input as Verbs['takeCode']['in']);
    case 'startFamily':
      return startFamily(input as Verbs['startFamily']['in']);
    case 'removeConsent':
      return removeConsent(input as Verbs['removeConsent']['in']);
    case 'endUserSessions':
      return endUserSessions(input as Verbs['endUserSessions']['in']);
    case 'sweep':
      return sweep(input as Verbs['sweep']['in']);
  }
}
