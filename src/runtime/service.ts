import type { ServiceLog } from '../http/index.ts';
import type { WorkerLink } from './workers/worker.ts';

export type { ServiceLog } from '../http/index.ts';

/** Something that an imported realm asks for and the service does not enforce yet. */
export interface Unenforceable {
  realm: string;
  /** JSON path in the realm's representation. */
  path: string;
  what: string;
  /** Logins that it concerns are refused. */
  refuses: boolean;
}

/** How the service is run. */
export interface ServeOptions {
  /** One call per event; absent: nothing is logged (a terminal). */
  log?: ServiceLog;
  /** Where `import/*.json` is read; false: nothing is imported. Default: `import` in the platform directory. */
  importDirectory?: string | false;
  /** Seconds that running requests get after `close()`; 10 unless told. */
  graceSeconds?: number;
  /** The lock of services is this process's already, and nobody else's (`keepServicesOut`). */
  withoutLock?: boolean;
  /** Replaces secrets that a realm file does not hold instead of refusing the file. Default: false. */
  newSecrets?: boolean;
  /** Called a few times a minute while realm files are imported, with a line for a person. */
  progress?: (message: string) => void;
  /** This process as one of several that share a port and are one service. */
  worker?: WorkerLink;
}

/** The service, ready. */
export interface RunningService {
  /** What it listens on, for this machine: `http://127.0.0.1:8080`. */
  address: string;
  /** Where metrics and detailed health are, for this machine; undefined if the service has no management listener. */
  managementUrl: string | undefined;
  /** What the operator should know of this start. */
  notes: readonly string[];
  /** {base_url} of issuers and links. */
  baseUrl: string;
  /** Realms that this start made from `import/`. */
  imported: readonly string[];
  /** What imported realms ask for and the service does not enforce. */
  unenforced: readonly Unenforceable[];
  /** True where this start made the realm `master` and its administrator. */
  firstStart: boolean;
  /** Milliseconds from the call to ready. */
  startedInMilliseconds: number;
  /**
   * Stops accepting, finishes what runs (at most `graceSeconds`), checkpoints the database and releases the lock.
   * Idempotent: every call gets the same promise.
   */
  close(): Promise<void>;
}
