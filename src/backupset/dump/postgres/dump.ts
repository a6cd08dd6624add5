import type { DumpReport } from '../../contract.ts';
import { printable } from '../../faults.ts';
import { type CountedTable, RealmCounter } from '../realm-counter.ts';
import type { DumpRow, RowReader, RowSink } from '../rows.ts';
import { checkNoNul, skipSpace } from '../statement.ts';
import { BadDump, badDump, DumpWindow, INCOMPLETE, LINE_END, LineCounter } from '../window.ts';
import { DumpFacts, type TableReader } from './facts.ts';
import { endOfPsqlStatement, foreignStatement } from './psql.ts';
import { checkStatement } from './statements/allowed.ts';

/** The first and the last line of a dump by pg_dump. */
export const POSTGRES_START = '-- PostgreSQL database dump';
const POSTGRES_END = '-- PostgreSQL database dump complete';

/** Maximum size in bytes of a COPY row or a statement. */
const LONGEST = 256 * 1024 * 1024;

const TAB = 0x09;

/** The COPY block that is being read, and the readers that need its rows. */
interface OpenCopy {
  counted: CountedTable | undefined;
  facts: TableReader | undefined;
  reader: RowReader | undefined;
  columns: number;
}

/**
 * Reads a plain-text dump from pg_dump as psql would. It accepts complete COPY blocks, the psql commands `\restrict` and
 * `\unrestrict`, the statements of `checkStatement`, and the end line. Errors name the line.
 */
export class PostgresDump {
  readonly #window = new DumpWindow(LONGEST);
  readonly #counter = new RealmCounter();
  #begun = false;
  #ended = false;
  /** The last byte that was scanned. */
  #before = LINE_END;
  readonly #lines = new LineCounter();
  /** The offset of the current row in a COPY block. */
  #row: number | undefined;
  readonly #facts = new DumpFacts();
  #copy: OpenCopy | undefined;
  readonly #rows: RowSink | undefined;

  /** @param rows receives the rows of the tables */
  constructor(rows?: RowSink) {
    this.#rows = rows;
  }

  write(chunk: Uint8Array): void {
    checkNoNul(chunk);
    this.#window.push(chunk, (text) => this.#scan(text));
  }

  /** @throws IDKIT_DAMAGED if the end line is missing or a COPY block is incomplete */
  end(): DumpReport {
    const rest = this.#window.rest((text) => this.#scan(text));
    if (this.#copy !== undefined) throw badDump('it is truncated inside the rows of a COPY');
    if (rest.length > 0 || !this.#ended)
      throw badDump(`it is truncated: it does not end with the line ${printable(POSTGRES_END)}`);
    const realms = this.#counter.result(false);
    const keys = this.#counter.keys();
    const credentials = this.#counter.credentials.result();
    return {
      kind: 'postgres',
      bytes: this.#window.bytes,
      ...this.#facts.result(),
      ...(realms === undefined ? {} : { realms }),
      ...(keys === undefined ? {} : { keys }),
      ...(credentials.length === 0 ? {} : { credentials }),
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
    this.#row = undefined;
    try {
      return this.#copy === undefined ? this.#scanTop(text, from) : this.#scanCopy(this.#copy, text, from);
    } catch (error) {
      if (!(error instanceof BadDump)) throw error;
      throw error.atLine(this.#lines.lineAt(text, this.#row ?? from));
    }
  }

  #scanTop(text: Buffer, from: number): number {
    const start = skipSpace(text, from);
    if (text.subarray(from, start).includes(0x0d))
      throw badDump('it contains a carriage return outside quotes');
    if (start > from) return start;
    if (start === text.length) return INCOMPLETE;
    const byte = text[start]!;
    if (byte === 0x2d || byte === 0x5c) return this.#scanLine(text, start, byte);
    if (this.#ended) throw badDump('there is a statement after its end line');
    const end = endOfPsqlStatement(text, start);
    if (end === INCOMPLETE) return INCOMPLETE;
    const statement = text.toString('utf8', start, end - 1);
    const checked = checkStatement(statement);
    if (!checked.allowed) throw foreignStatement(statement, checked.at);
    if (checked.copy === undefined) {
      this.#facts.statement(statement.replace(/\s+/g, ' '));
      return end;
    }
    if (end >= text.length) return INCOMPLETE;
    if (text[end] !== 0x0a) throw foreignStatement(statement, statement.length);
    this.#facts.statement(statement);
    this.#beginCopy(checked.copy.table.name, checked.copy.columns);
    return end + 1;
  }

  /** Scans a line that is a comment or a psql command. */
  #scanLine(text: Buffer, start: number, byte: number): number {
    const end = text.indexOf('\n', start, 'latin1');
    if (end < 0) return INCOMPLETE;
    const line = text.toString('utf8', start, end);
    // psql ends a comment at a carriage return.
    if (line.includes('\r')) throw badDump('it contains a carriage return outside quotes');
    if (byte === 0x5c) {
      if (!/^\\(un)?restrict [A-Za-z0-9]+$/.test(line))
        throw badDump(`it contains the psql command ${printable(line.slice(0, 60))}`);
    } else if (!line.startsWith('--')) throw badDump(`it contains ${printable(line.slice(0, 60))}`);
    const marks = byte === 0x5c || line.startsWith(POSTGRES_START);
    const alone = byte === 0x5c || line === POSTGRES_START || line === POSTGRES_END;
    const first = (start === 0 ? this.#before : text[start - 1]) === LINE_END;
    if (marks && !(alone && first)) throw badDump(`${printable(line.slice(0, 60))} is not alone on its line`);
    this.#facts.comment(line);
    if (line === POSTGRES_START) this.#begun = true;
    if (line === POSTGRES_END) {
      if (!this.#begun) throw badDump('its end line comes before its first line');
      this.#ended = true;
    }
    return end + 1;
  }

  #beginCopy(table: string, columns: readonly string[]): void {
    this.#copy = {
      counted: this.#counter.table(table, columns),
      facts: this.#facts.table(table, columns),
      reader: this.#rows?.table(table, columns),
      columns: columns.length,
    };
  }

  /** Scans rows up to the line `\.`. `from` is always the beginning of a line. */
  #scanCopy({ counted, facts, reader, columns }: OpenCopy, text: Buffer, from: number): number {
    // The first three bytes of a line show whether it ends the block.
    let line = from;
    let mark = nextMark(text, line);
    for (;;) {
      this.#row = line;
      if (text.length - line < 3) return line === from ? INCOMPLETE : line;
      if (text[line] === 0x5c && text[line + 1] === 0x2e) {
        // psql ends the block at `\.` followed by either kind of line end. pg_dump always writes a line feed.
        if (text[line + 2] !== 0x0a) throw badDump(String.raw`a row of a COPY begins with \.`);
        this.#copy = undefined;
        return line + 3;
      }
      const skips = counted === undefined && facts === undefined && reader === undefined;
      const next = skips ? nextSuspect(text, line) : text.indexOf(0x0a, line) + 1;
      if (next === 0) return line === from ? INCOMPLETE : line;
      if (mark < line) mark = nextMark(text, line);
      // A Postgres server older than 17 treats `\.` as the end of the rows and ignores the remaining ones.
      if (mark < next) throw badDump(String.raw`a row of a COPY contains \., which is not alone on its line`);
      if (counted !== undefined) this.#count(text, counted, line, next - 1);
      if (facts !== undefined) facts.add(rowOf(text, facts.last, line, next - 1).map(valueIn));
      if (reader !== undefined) reader(new CopyRow(text, line, next - 1, columns));
      line = next;
    }
  }

  #count(text: Buffer, counted: CountedTable, start: number, end: number): void {
    if (counted.counts === 'realm') {
      const row = rowOf(text, Math.max(counted.id, counted.name), start, end);
      this.#counter.addRealm(unescaped(row[counted.id] ?? ''), unescaped(row[counted.name] ?? ''));
      return;
    }
    if (counted.counts === 'credential') {
      const place = this.#counter.credentials.place();
      if (place === undefined) return;
      const { id, user, secret } = counted;
      const row = rowOf(text, Math.max(id, user, secret), start, end).map(valueIn);
      const held = row[secret] ?? null;
      if (held !== null) this.#counter.credentials.put(place, row[id] ?? '', row[user] ?? '', held);
      return;
    }
    if (counted.counts === 'key') {
      const row = rowOf(text, Math.max(counted.realm, counted.provider), start, end);
      this.#counter.addComponent(unescaped(row[counted.realm] ?? ''), unescaped(row[counted.provider] ?? ''));
      return;
    }
    // A dump can contain a million users, so the row is not copied.
    const { realm, serviceAccount } = counted;
    const last = Math.max(realm, serviceAccount);
    let person = false;
    let from = 0;
    let to = 0;
    let at = start;
    for (let column = 0; ; column++) {
      const begun = at;
      while (at < end && text[at] !== TAB) at++;
      if (column === realm) [from, to] = [begun, at];
      if (column === serviceAccount)
        person = at - begun === 2 && text[begun] === 0x5c && text[begun + 1] === 0x4e;
      if (column === last) break;
      if (at === end) throw badDump('a row of a COPY has fewer values than columns');
      at++;
    }
    if (person) this.#counter.addUser(unescaped(text.toString('utf8', from, to)));
  }
}

/** A row of a COPY block. Its values are decoded when they are read. */
class CopyRow implements DumpRow {
  readonly #text: Buffer;
  readonly #start: number;
  readonly #end: number;
  readonly #columns: number;
  #values: readonly string[] | undefined;

  constructor(text: Buffer, start: number, end: number, columns: number) {
    this.#text = text;
    this.#start = start;
    this.#end = end;
    this.#columns = columns;
  }

  get bytes(): number {
    return this.#end - this.#start + 1;
  }

  text(column: number): string | null {
    if (column < 0) return null;
    this.#values ??= rowOf(this.#text, this.#columns - 1, this.#start, this.#end);
    return valueIn(this.#values[column]!);
  }

  blob(column: number): Buffer | null {
    const value = this.text(column);
    if (value === null) return null;
    return value.startsWith('\\x') ? Buffer.from(value.slice(2), 'hex') : Buffer.from(value);
  }
}

/** Returns the values of a row up to index `last`, in COPY's text form. */
function rowOf(text: Buffer, last: number, start: number, end: number): readonly string[] {
  const row = text.toString('utf8', start, end).split('\t', last + 1);
  if (row.length <= last) throw badDump('a row of a COPY has fewer values than columns');
  return row;
}

function valueIn(text: string): string | null {
  return text === String.raw`\N` ? null : unescaped(text);
}

/**
 * Returns the offset of the next line that can end a block. If there is none, returns the offset of the last,
 * incomplete line, or 0 if that is the current line.
 */
function nextSuspect(text: Buffer, line: number): number {
  const suspect = text.indexOf('\n\\.', line, 'latin1');
  if (suspect >= 0) return suspect + 1;
  const last = text.lastIndexOf(0x0a) + 1;
  return last > line ? last : 0;
}

/** Returns the offset of the next `\.` whose backslash is not escaped, or Infinity. `from` begins a line. */
function nextMark(text: Buffer, from: number): number {
  for (let at = from; ; at += 2) {
    at = text.indexOf('\\.', at, 'latin1');
    if (at < 0) return Number.POSITIVE_INFINITY;
    let first = at;
    while (first > from && text[first - 1] === 0x5c) first--;
    if ((at - first) % 2 === 0) return at;
  }
}

const ESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** Decodes a value in COPY's text form. */
function unescaped(value: string): string {
  if (!value.includes('\\')) return value;
  return value.replaceAll(/\\(.)/gs, (_all, sign: string) => ESCAPES[sign] ?? sign);
}
