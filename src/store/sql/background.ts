import { SliceSize } from '../../core/index.ts';
import type { BackgroundProgress, BackgroundStore, OnBuild } from '../contract/index.ts';
import { BACKGROUND_MIGRATIONS, type BackgroundMigration } from '../migrations/background.ts';
import type { Answer } from '../schema.ts';
import { SqlDriver } from './driver.ts';

/** Time in milliseconds after which the store reads again whether a background migration has finished. */
const READ_AGAIN_MS = 2_000;
/** Time in milliseconds that a slice should take. All writes wait for it on SQLite. */
const SLICE_MS = 50;
/** Minimum number of records in a slice. */
const SMALLEST = 20;

/** Runs the background migrations of both databases. */
export abstract class SqlBackground extends SqlDriver implements BackgroundStore {
  readonly #finished = new Set<string>();
  /** The background migrations whose indexes exist. */
  readonly #indexed = new Set<string>();
  /** The sizes of the slices, by the name of the background migration. */
  readonly #sizes = new Map<string, SliceSize>();
  #read: { at: number; rows: Promise<void> } | undefined;
  /** The number of records that each background migration had when it began, by its name. */
  #records: ReadonlyMap<string, number> | undefined;

  /**
   * Builds the indexes of a background migration, if the database builds them while the service runs. Returns false if
   * another store is building them.
   */
  protected abstract buildIndexes(migration: BackgroundMigration, onBuild: OnBuild): Promise<boolean>;

  /** Reports whether the database has the tables of the kept counts. */
  protected hasCounts(): boolean {
    return true;
  }

  /**
   * Reports whether a background migration has finished. Learns within seconds what other stores have finished. Returns
   * true without a promise, so that a finished migration delays no call.
   */
  protected isMigrated(name: string): Answer<boolean> {
    return this.#finished.has(name) || this.#readFinished().then(() => this.#finished.has(name));
  }

  /** Reads which background migrations have finished. The driver calls it once when it opens the store. */
  async readFinishedMigrations(): Promise<void> {
    await this.#readFinished();
  }

  async listBackgroundMigrations(): Promise<readonly BackgroundProgress[]> {
    if (!this.hasCounts()) return [];
    const unfinished = await this.#listUnfinished();
    if (unfinished.length === 0) return [];
    const records = await this.#readRecords();
    return unfinished.map(({ name, title, handled }) => {
      const left = leftOf(records.get(name), handled);
      return { name, title, handled, left, finished: false };
    });
  }

  async continueBackgroundMigration(
    onBuild: OnBuild = () => () => {},
  ): Promise<BackgroundProgress | undefined> {
    for (const migration of BACKGROUND_MIGRATIONS) {
      const { name, title } = migration;
      if (await this.isMigrated(name)) continue;
      this.#records ??= await this.#countRecords();
      if (!this.#indexed.has(name)) {
        if (!(await this.buildIndexes(migration, onBuild))) return undefined;
        this.#indexed.add(name);
      }
      const size = this.#sizes.get(name) ?? sliceSize(migration);
      this.#sizes.set(name, size);
      const began = performance.now();
      const progress = await this.write('runSlice', { name, limit: size.limit, dialect: this.dialect });
      if (progress !== undefined) size.adapt(performance.now() - began);
      if (progress?.finished) this.#finished.add(name);
      if (progress === undefined) return undefined;
      const left = progress.finished ? 0 : leftOf(this.#records.get(name), progress.handled);
      return { name, title, ...progress, left };
    }
    return undefined;
  }

  async #listUnfinished(): Promise<(BackgroundMigration & { handled: number })[]> {
    const rows = new Map((await this.all('background.all', {})).map((row) => [row.name, row]));
    return BACKGROUND_MIGRATIONS.flatMap((migration) => {
      const row = rows.get(migration.name);
      return row?.finished === 1 ? [] : [{ ...migration, handled: row?.handled ?? 0 }];
    });
  }

  async #readRecords(): Promise<ReadonlyMap<string, number>> {
    return new Map((await this.all('background.counted', {})).map(({ owner, amount }) => [owner, amount]));
  }

  /** Counts the records of each unfinished background migration, unless a store of the database has counted them. */
  async #countRecords(): Promise<ReadonlyMap<string, number>> {
    const counted = await this.#readRecords();
    for (const { name, left, handled } of await this.#listUnfinished()) {
      if (counted.has(name)) continue;
      // If counting takes too long, the migration runs with an unknown number of records.
      const [row] = await this.administrative(left, {}).catch(() => []);
      if (row !== undefined) await this.run('background.count', { name, records: handled + row.records });
    }
    return this.#readRecords();
  }

  #readFinished(): Promise<void> {
    const now = performance.now();
    if (this.#read === undefined || now > this.#read.at + READ_AGAIN_MS)
      this.#read = { at: now, rows: this.#readRows() };
    return this.#read.rows;
  }

  async #readRows(): Promise<void> {
    try {
      for (const row of await this.all('background.all', {}))
        if (row.finished === 1) this.#finished.add(row.name);
    } catch (error) {
      this.#read = undefined;
      throw error;
    }
  }
}

function leftOf(records: number | undefined, handled: number): number | undefined {
  return records === undefined ? undefined : Math.max(0, records - handled);
}

function sliceSize({ firstSlice: first = SMALLEST }: BackgroundMigration): SliceSize {
  return new SliceSize(SLICE_MS, { first, smallest: SMALLEST });
}
