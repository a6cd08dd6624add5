/** Ships the write-ahead log of a database, so that no part of it is overwritten before. */
export interface LogKeeper {
  /**
   * Called when the writer is ready. From then on, all checkpoints are the keeper's.
   *
   * @param gate the memory of the agreement with the writer; see gate.ts
   * @param giveUp makes the store checkpoint by itself again, after a fault of the keeper
   */
  start(gate: SharedArrayBuffer, giveUp: () => void): void;
  /** Ships the rest when the last call has ended. Resolves to false if the log must stay for the next start. */
  drain(): Promise<boolean>;
  /** Called when the writer has closed the database. */
  close(): Promise<void>;
}
