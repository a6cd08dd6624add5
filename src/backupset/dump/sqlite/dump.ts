import type { DumpReport } from '../../contract.ts';
import { printable } from '../../faults.ts';
import { type CountedTable, RealmCounter } from '../realm-counter.ts';
import type { RowReader, RowSink } from '../rows.ts';
import { checkNoNul, endOfStatement, skipSpace } from '../statement.ts';
import { BadDump, badDump, DumpWindow, INCOMPLETE, LINE_END, LineCounter } from '../window.ts';
import { SQLITE_APPLICATION } from './definitions.ts';
import { type Places, ReadRow, scanRow, valueText } from './row.ts';
import { SchemaSeen } from './schema-seen.ts';

/** The line that ends an embedded dump. */
const EMBEDDED_END = '-- idkit dump complete';

/** Maximum size of a row in bytes. A row can contain a realm of the largest import in hex. */
const LONGEST_ROW = 256 * 1024 * 1024;
/** Maximum size in bytes of a statement other than INSERT. */
const LONGEST_STATEMENT = 1024 * 1024;

const NAME = '(?:[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")+")';
const INSERT = new RegExp(`^INSERT INTO (${NAME}) ?\\((${NAME}(?:, ?${NAME})*)\\) ?VALUES\\s*`, 'i');
/** Limits for the rows of the table `meta` that are kept in memory. idkit writes two short rows. */
const META_ROWS = 1000;
const META_VALUE = 4096;

interface Insert {
  columns: number;
  counted: CountedTable | undefined;
  /** The indexes of the two columns of the table `meta`. */
  meta: { name: number; value: number } | undefined;
  /** Receives the rows. */
  reader: RowReader | undefined;
  places: Places | undefined;
  /** True after the first row, when a comma or a semicolon must follow. */
  begun: boolean;
}

/**
 * Reads an embedded dump and accepts only what idkit writes: `PRAGMA foreign_keys=OFF`, `BEGIN`, the tables and indexes
 * of one schema version with rows of plain values, `PRAGMA user_version|application_id`, `COMMIT` and the end line. For
 * a schema version newer than this idkit, it also accepts other triggers, and tables and indexes that compute nothing.
 * Errors name the line.
 */
export class EmbeddedDump {
  readonly #window = new DumpWindow(LONGEST_ROW);
  readonly #counter = new RealmCounter();
  #stage: 'start' | 'pragma' | 'open' | 'committed' | 'ended' = 'start';
  #insert: Insert | undefined;
  readonly #pragmas = new Map<string, number>();
  readonly #schema = new SchemaSeen();
  readonly #lines = new LineCounter();
  /** The last byte that was scanned. */
  #before = LINE_END;
  readonly #meta = new Map<string, string>();
  readonly #rows: RowSink | undefined;
  readonly #row = new ReadRow();
  /** The readers by table and columns. A dump has an INSERT for every few rows. */
  readonly #readers = new Map<string, RowReader | undefined>();

  /** @param rows receives the rows of the tables */
  constructor(rows?: RowSink) {
    this.#rows = rows;
  }

  write(chunk: Uint8Array): void {
    checkNoNul(chunk);
    this.#window.push(chunk, (text) => this.#scan(text));
  }

  /** @throws IDKIT_DAMAGED if the end line is missing */
  end(): DumpReport {
    const rest = this.#window.rest((text) => this.#scan(text));
    if (rest.length > 0 || this.#stage !== 'ended')
      throw badDump(`it is truncated: it does not end with the line ${printable(EMBEDDED_END)}`);
    const schemaVersion = this.#pragmas.get('user_version');
    if (this.#pragmas.get('application_id') !== SQLITE_APPLICATION)
      throw badDump('its PRAGMA application_id does not belong to idkit');
    if (schemaVersion === undefined)
      throw badDump('it has no PRAGMA user_version, which sets its schema version');
    this.#schema.check(schemaVersion);
    const realms = this.#counter.result(this.#schema.tables.some((name) => this.#counter.isUserTable(name)));
    const keys = this.#counter.keys();
    const credentials = this.#counter.credentials.result();
    return {
      kind: 'sqlite',
      bytes: this.#window.bytes,
      schemaVersion,
      ...(realms === undefined ? {} : { realms }),
      ...(keys === undefined ? {} : { keys }),
      ...(credentials.length === 0 ? {} : { credentials }),
      ...(this.#meta.size === 0 ? {} : { meta: this.#meta }),
    };
  }

  #scan(text: Buffer): number {
    let done = 0;
    for (;;) {
      const next = this.#scanOne(text, done);
      if (next === INCOMPLETE) break;
      done = next;
    }
    this.#lines.endPiece(text, done);
    if (done > 0) this.#before = text[done - 1]!;
    return done;
  }

  #scanOne(text: Buffer, from: number): number {
    try {
      return this.#insert === undefined
        ? this.#scanTop(text, from)
        : this.#scanRows(this.#insert, text, from);
    } catch (error) {
      throw error instanceof BadDump ? error.atLine(this.#lines.lineAt(text, from)) : error;
    }
  }

  /** Scans one comment line or statement. An INSERT is scanned only up to VALUES. */
  #scanTop(text: Buffer, from: number): number {
    const start = skipSpace(text, from);
    if (start > from) return start;
    if (start === text.length) return INCOMPLETE;
    if (this.#stage === 'ended') throw badDump('there is data after its end line');
    if (text[start] === 0x2d) return this.#scanComment(text, start);
    // The shell of sqlite3 executes a line that begins with a dot as a command.
    if (!/[A-Za-z]/.test(String.fromCharCode(text[start]!))) throw this.#foreign(text, start);
    if (text.length - start < 12 && text.indexOf(';', start) < 0) return INCOMPLETE;
    const insert = /^INSERT\s/i.test(text.toString('latin1', start, start + 7));
    return insert ? this.#beginInsert(text, start) : this.#scanStatement(text, start);
  }

  #scanComment(text: Buffer, start: number): number {
    const end = text.indexOf('\n', start, 'latin1');
    if (end < 0) return this.#bounded(text, start);
    const line = text.toString('utf8', start, end);
    if (!line.startsWith('--')) throw this.#foreign(text, start);
    const first = (start === 0 ? this.#before : text[start - 1]) === LINE_END;
    if (line.startsWith(EMBEDDED_END) && !(first && line === EMBEDDED_END))
      throw badDump(`${printable(line.slice(0, 60))} is not alone on its line`);
    if (line === EMBEDDED_END) {
      if (this.#stage !== 'committed') throw badDump('its end line comes before COMMIT');
      this.#stage = 'ended';
    }
    return end + 1;
  }

  #scanStatement(text: Buffer, start: number): number {
    const end = endOfStatement(text, start);
    if (end === INCOMPLETE) return this.#bounded(text, start);
    if (end - start > LONGEST_STATEMENT) throw badDump('a statement of its schema is too long');
    this.#checkStatement(text.toString('utf8', start, end - 1).trim(), () => this.#lines.lineAt(text, start));
    return end;
  }

  #bounded(text: Buffer, start: number): typeof INCOMPLETE {
    if (text.length - start > LONGEST_STATEMENT) throw badDump('a statement of its schema is too long');
    return INCOMPLETE;
  }

  #checkStatement(statement: string, line: () => number): void {
    const words = statement.replaceAll(/\s+/g, ' ');
    if (this.#stage === 'start') {
      if (!/^PRAGMA foreign_keys ?= ?OFF$/i.test(words)) throw this.#refused(statement);
      this.#stage = 'pragma';
    } else if (this.#stage === 'pragma') {
      if (!/^BEGIN( TRANSACTION)?$/i.test(words)) throw this.#refused(statement);
      this.#stage = 'open';
    } else if (this.#stage === 'open') this.#checkInside(statement, words, line);
    else throw this.#refused(statement);
  }

  #checkInside(statement: string, words: string, line: () => number): void {
    if (/^COMMIT( TRANSACTION)?$/i.test(words)) {
      this.#stage = 'committed';
      return;
    }
    const [, pragma = '', value] =
      /^PRAGMA (user_version|application_id) ?= ?(-?\d{1,10})$/.exec(words) ?? [];
    if (pragma !== '' && !this.#pragmas.has(pragma)) this.#pragmas.set(pragma, Number(value));
    else if (/^CREATE /.test(statement)) this.#schema.add(statement, line());
    else throw this.#refused(statement);
  }

  #beginInsert(text: Buffer, start: number): number {
    const head = text.toString('utf8', start, Math.min(text.length, start + 65_536));
    const match = INSERT.exec(head);
    if (match === null) {
      // The head of an INSERT is short. If this much text does not match, more text does not match either.
      if (text.length - start < 65_536 && !/\bVALUES\b/i.test(head) && !head.includes(';')) return INCOMPLETE;
      throw this.#foreign(text, start);
    }
    if (match[0].length === head.length) return INCOMPLETE;
    if (this.#stage !== 'open') throw this.#refused(match[0]);
    const [beginning, tableName = '', columnNames = ''] = match;
    if (isSystemName(tableName)) throw this.#refused(beginning);
    const columns = (columnNames.match(new RegExp(NAME, 'g')) ?? []).map(unquoted);
    const table = unquoted(tableName);
    this.#schema.addRows(table, columns, () => this.#lines.lineAt(text, start));
    const counted = this.#counter.table(table, columns);
    const meta = table === 'meta' ? metaColumns(columns) : undefined;
    const reader = this.#readerOf(table, columns, columnNames);
    const skips = counted === undefined && meta === undefined && reader === undefined;
    const places = skips ? undefined : new Int32Array(columns.length * 2);
    this.#insert = { columns: columns.length, counted, meta, reader, places, begun: false };
    return start + Buffer.byteLength(match[0]);
  }

  #readerOf(table: string, columns: readonly string[], columnNames: string): RowReader | undefined {
    if (this.#rows === undefined) return undefined;
    const key = `${table} ${columnNames}`;
    if (!this.#readers.has(key)) this.#readers.set(key, this.#rows.table(table, columns));
    return this.#readers.get(key);
  }

  /** Scans the complete rows, and the semicolon after the last one. */
  #scanRows(insert: Insert, text: Buffer, from: number): number {
    let done = from;
    for (;;) {
      let at = skipSpace(text, done);
      if (at >= text.length) return done === from ? INCOMPLETE : done;
      if (insert.begun) {
        if (text[at] === 0x3b) {
          this.#insert = undefined;
          return at + 1;
        }
        if (text[at] !== 0x2c) throw badDump('a row of an INSERT is not followed by , or ;');
        at = skipSpace(text, at + 1);
        if (at >= text.length) return done === from ? INCOMPLETE : done;
      }
      const end = scanRow(text, at, insert.columns, insert.places);
      if (end === INCOMPLETE) return done === from ? INCOMPLETE : done;
      if (insert.places !== undefined) this.#readRow(insert, text, insert.places);
      if (insert.reader !== undefined) insert.reader(this.#row.at(text, insert.places!, end - at));
      insert.begun = true;
      done = end;
    }
  }

  #readRow({ counted, meta }: Insert, text: Buffer, places: Places): void {
    if (counted !== undefined) this.#count(text, counted, places);
    if (meta !== undefined) this.#keepMeta(text, meta, places);
  }

  #count(text: Buffer, counted: CountedTable, places: Places): void {
    const value = (column: number) => valueText(text, places[column * 2]!, places[column * 2 + 1]!);
    if (counted.counts === 'realm')
      this.#counter.addRealm(value(counted.id) ?? '', value(counted.name) ?? '');
    else if (counted.counts === 'credential') {
      const place = this.#counter.credentials.place();
      const secret = place === undefined ? undefined : value(counted.secret);
      if (place !== undefined && secret !== undefined)
        this.#counter.credentials.put(place, value(counted.id) ?? '', value(counted.user) ?? '', secret);
    } else if (counted.counts === 'key')
      this.#counter.addComponent(value(counted.realm) ?? '', value(counted.provider) ?? '');
    else if ((value(counted.serviceAccount) ?? '0') === '0')
      this.#counter.addUser(value(counted.realm) ?? '');
  }

  #keepMeta(text: Buffer, { name, value }: NonNullable<Insert['meta']>, places: Places): void {
    const short = [name, value].every(
      (column) => places[column * 2 + 1]! - places[column * 2]! <= META_VALUE,
    );
    if (!short || this.#meta.size >= META_ROWS) return;
    const read = (column: number) => valueText(text, places[column * 2]!, places[column * 2 + 1]!) ?? '';
    this.#meta.set(read(name), read(value));
  }

  #foreign(text: Buffer, start: number) {
    return this.#refused(text.toString('utf8', start, Math.min(text.length, start + 200)));
  }

  #refused(statement: string) {
    return badDump(`idkit never writes ${printable(statement.slice(0, 60))} ${placeOf(this.#stage)}`);
  }
}

function metaColumns(columns: readonly string[]): Insert['meta'] {
  const [name, value] = [columns.indexOf('name'), columns.indexOf('value')];
  return name < 0 || value < 0 ? undefined : { name, value };
}

function placeOf(stage: string): string {
  if (stage === 'start') return 'as the first statement of a dump';
  return stage === 'open' ? 'among the statements of a dump' : 'at this point of a dump';
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}

function isSystemName(name: string): boolean {
  return unquoted(name).toLowerCase().startsWith('sqlite_');
}
