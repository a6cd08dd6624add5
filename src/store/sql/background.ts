import { SliceSize } from '../../core/index.ts';
import type { BackgroundProgress, BackgroundStore } from '../contract/index.ts';
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

  /**
   * Builds the indexes of a background migration, if the database builds them while the service runs. Returns false if
   * another store is building them.
   */
  protected abstract buildIndexes(migration: BackgroundMigration): Promise<boolean>;

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
    const rows = new Map((await this.all('background.all', {})).map((row) => [row.name, row]));
    return BACKGROUND_MIGRATIONS.map(({ name, title }) => {
      const row = rows.get(name);
      return { name, title, handled: row?.handled ?? 0, finished: row?.finished === 1 };
    }).filter(({ finished }) => !finished);
  }

  async continueBackgroundMigration(): Promise<BackgroundProgress | undefined> {
    for (const migration of BACKGROUND_MIGRATIONS) {
      const { name, title } = migration;
      if (await this.isMigrated(name)) continue;
      if (!this.#indexed.has(name)) {
        if (!(await this.buildIndexes(migration))) return undefined;
        this.#indexed.add(name);
      }
      const size = this.#sizes.get(name) ?? sliceSize(migration);
      this.#sizes.set(name, size);
      const began = performance.now();
      const progress = await this.write('runSlice', { name, limit: size.limit, dialect: this.dialect });
      if (progress !== undefined) size.adapt(performance.now() - began);
      if (progress?.finished) this.#finished.add(name);
      return progress && { name, title, ...progress };
    }
    return undefined;
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

function sliceSize({ firstSlice: first = SMALLEST }: BackgroundMigration): SliceSize {
  return new SliceSize(SLICE_MS, { first, smallest: SMALLEST });
}
