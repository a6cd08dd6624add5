/** What a mirroring came to. */
export interface MirrorReport {
  /** Names of sets and versions that were copied by this run; with rsync, which tells no names, empty. */
  copied: readonly string[];
  /** What could not be copied, and why; empty: the mirror holds every set. */
  faults: readonly string[];
}

export interface MirrorOptions {
  root: string;
  target: string;
  /** Milliseconds since the Unix epoch. */
  now: number;
  signal: AbortSignal;
}
