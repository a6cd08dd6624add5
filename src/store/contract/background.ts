/** The progress of one background migration. */
export interface BackgroundProgress {
  name: string;
  /** What it does: `build the search index of users`. */
  title: string;
  /** Number of records that it has handled. */
  handled: number;
  finished: boolean;
}

/** Runs the work that the migration of an older database leaves for later (see migrations/background.ts). */
export interface BackgroundStore {
  /** Lists the background migrations that have not finished, in the order in which they run. */
  listBackgroundMigrations(): Promise<readonly BackgroundProgress[]>;
  /**
   * Runs the next slice of the first unfinished background migration, and returns its progress. Returns undefined if
   * there is none, or if another store of the database is running it.
   */
  continueBackgroundMigration(): Promise<BackgroundProgress | undefined>;
}
