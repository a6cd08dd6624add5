import { hash, randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { SetHandle, WorkOptions } from '../contract.ts';
import { readDumpRows } from '../dump/rows.ts';
import { type ContentKind, type ContentSink, readContent } from './content.ts';
import { IDKIT_TABLES } from './idkit-tables.ts';
import { KEYCLOAK_TABLES } from './keycloak-tables.ts';

/** The order in which a comparison reports the kinds. */
export const KINDS: readonly ContentKind[] = [
  'realm',
  'client',
  'clientScope',
  'role',
  'group',
  'user',
  'component',
  'protocolMapper',
  'identityProvider',
  'flow',
  'organization',
];

/** Number of rows that are written in one transaction. */
const ROWS_PER_COMMIT = 50_000;

/** A row of a fact file: a record itself, or one of its parts and links. */
export interface Fact {
  /** Index in `KINDS`. */
  kind: number;
  id: string;
  /** Empty for the record itself. */
  field: string;
  /** For the record, the digests of its fields as JSON. For a link, the id of its target. */
  digest: string;
  /** For the record, `RecordLabel` as JSON. For a link, its kind. */
  label: string;
}

/** The public properties of a record, by which a comparison names it. */
export interface RecordLabel {
  realmId: string;
  name: string;
  type?: string;
  ownerId?: string;
}

/**
 * The content of one dump in a temporary SQLite file, as digests. So a comparison needs little memory, and the file
 * contains neither secrets nor values. The digests have a random key, so that a copy of the file proves nothing.
 */
export class FactFile {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #findName: StatementSync;
  readonly #key: string;
  #pending = 0;

  /**
   * @param dir a directory that only this process can read
   * @param key the key of the digests, the same for both sides of a comparison
   */
  constructor(dir: string, side: string, key: string) {
    const file = join(dir, `${side}.db`);
    this.#key = key;
    this.#database = new DatabaseSync(file);
    chmodSync(file, 0o600);
    this.#database.exec(`
      PRAGMA synchronous = OFF;
      PRAGMA cache_size = -8000;
      PRAGMA temp_store = FILE;
      CREATE TABLE fact (kind INTEGER, id TEXT, field TEXT, digest TEXT, label TEXT);
      CREATE TABLE name (id TEXT PRIMARY KEY, label TEXT) WITHOUT ROWID;
    `);
    this.#insert = this.#database.prepare('INSERT INTO fact VALUES (?, ?, ?, ?, ?)');
    this.#findName = this.#database.prepare('SELECT label FROM name WHERE id = ?');
  }

  /** Reads the dump of a set into the file. @throws IDKIT_DAMAGED */
  async fill(set: SetHandle, options: WorkOptions): Promise<void> {
    this.#database.exec('BEGIN');
    await readDumpRows(set, readContent(this.#sink(), [IDKIT_TABLES, KEYCLOAK_TABLES]), options);
    const kinds = ['realm', 'client', 'clientScope', 'role', 'group'].map((kind) =>
      KINDS.indexOf(kind as ContentKind),
    );
    this.#database.exec(
      `INSERT OR IGNORE INTO name SELECT id, label FROM fact WHERE field = '' AND kind IN (${kinds.join()})`,
    );
    this.#database.exec('COMMIT');
  }

  /** Returns the facts sorted by kind, record and field. */
  facts(): IterableIterator<Fact> {
    const all = this.#database.prepare('SELECT * FROM fact ORDER BY kind, id, field, digest, label');
    return all.iterate() as IterableIterator<unknown> as IterableIterator<Fact>;
  }

  /** Returns the label of a realm, client, client scope, role or group. */
  findLabel(id: string): RecordLabel | undefined {
    const found = this.#findName.get(id);
    return found === undefined ? undefined : (JSON.parse(String(found['label'])) as RecordLabel);
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #sink(): ContentSink {
    const numbers = new Map(KINDS.map((kind, number) => [kind, number]));
    return {
      record: (kind, { id, realmId, name, type, ownerId }, fields) => {
        const digests: Record<string, string> = {};
        for (const [field, value] of fields()) digests[field] = this.#digest(value);
        const label: RecordLabel = {
          realmId,
          name,
          ...(type === undefined ? {} : { type }),
          ...(ownerId === undefined ? {} : { ownerId }),
        };
        this.#add(numbers.get(kind)!, id, '', JSON.stringify(digests), JSON.stringify(label));
      },
      part: (kind, id, field, value) => this.#add(numbers.get(kind)!, id, field, this.#digest(value()), ''),
      link: (kind, id, link, target) => this.#add(numbers.get(kind)!, id, link, target, link),
    };
  }

  #add(...values: [kind: number, id: string, field: string, digest: string, label: string]): void {
    this.#insert.run(...values);
    this.#pending += 1;
    if (this.#pending % ROWS_PER_COMMIT === 0) this.#database.exec('COMMIT; BEGIN');
  }

  #digest(value: string): string {
    return hash('sha256', this.#key + value, 'base64url').slice(0, 16);
  }
}

/** Returns a random key for the digests of one comparison. */
export function newDigestKey(): string {
  return randomBytes(32).toString('base64');
}
