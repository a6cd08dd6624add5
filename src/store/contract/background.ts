/** The progress of one background migration. */
export interface BackgroundProgress {
  name: string;
  /** What it does: `build the search index of users`. */
  title: string;
  /** Number of records that it has handled. */
  handled: number;
  /**
   * Estimate of the number of records that it has not handled: those that it had when it began without the handled ones.
   * Undefined if they are not counted yet, or took too long to count.
   */
  left: number | undefined;
  finished: boolean;
}

/**
 * Called with the name of each index that Postgres begins to build. Returns a function that is called when the index is
 * complete.
 */
export type OnBuild = (index: string) => () => void;

/** Runs the work that the migration of an older database leaves for later (see migrations/background.ts). */
export interface BackgroundStore {
  /**
   * Lists the background migrations that have not finished, in the order in which they run. Reads no records. Returns an
   * empty list for a file of an older version that is open for reading.
   */
  listBackgroundMigrations(): Promise<readonly BackgroundProgress[]>;
  /**
   * Runs the next slice of the first unfinished background migration, and returns its progress. Returns undefined if
   * there is none, or if another store of the database is running it.
   *
   * @param onBuild see `OnBuild`. If a build fails, the promise is rejected
   */
  continueBackgroundMigration(onBuild?: OnBuild): Promise<BackgroundProgress | undefined>;
}
