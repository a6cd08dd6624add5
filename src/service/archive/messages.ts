import type { ArchiveState } from '../../archive/index.ts';

/** What the thread needs. The master key stays in the memory of the process. */
export interface ThreadData {
  file: string;
  gate: SharedArrayBuffer;
  location: string;
  masterKey: string;
  state: string;
  seconds: number;
  spoolBytes: number;
  restartBytes?: number;
  keepMilliseconds: number;
  /** The state of the database's file and of its log before the store opened it. */
  found: FoundDatabase;
}

/** A database before it is opened. */
export interface FoundDatabase {
  identity: string | undefined;
  /** The salts of the log in hex. Undefined without a log. */
  log: string | undefined;
}

/** A message to the thread. */
export type ToThread = 'drain' | 'close';

/** A message of the thread. */
export type FromThread =
  | { state: ArchiveState | undefined; logBytes: number }
  | { drained: boolean }
  | { warning: string }
  | { closed: true };
