import type { Verb } from '../verbs/verbs.ts';
import type { Fault } from './faults.ts';

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
