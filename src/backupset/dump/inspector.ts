import { IdkitError } from '../../core/index.ts';
import type { DumpReport, SetHandle, WorkOptions } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { gunzip } from '../gzip/gunzip.ts';
import { POSTGRES_START, PostgresDump } from './postgres/dump.ts';
import type { RowSink } from './rows.ts';
import { EmbeddedDump } from './sqlite/dump.ts';
import { badDump } from './window.ts';

/**
 * Number of bytes that are read to detect the kind of a dump. No dump has longer comments before its first statement.
 */
const HEAD_BYTES = 64 * 1024;

/** Checks SQL chunk by chunk. */
export interface DumpInspector {
  /** @throws IDKIT_DAMAGED at the first text that no dump contains */
  write(chunk: Uint8Array): void;
  /** @throws IDKIT_DAMAGED if the end line is missing */
  end(): DumpReport;
}

/**
 * Detects the kind of a dump from its first lines and checks it with the reader for that kind, in bounded memory.
 *
 * @param rows receives the rows of the tables
 */
export function createDumpInspector(rows?: RowSink): DumpInspector {
  let head: Buffer | undefined = Buffer.alloc(0);
  let inspector: DumpInspector | undefined;

  function begin(whole: boolean): void {
    if (head === undefined) return;
    const kind = kindOf(head, whole);
    if (kind === 'unknown yet') return;
    inspector = kind === 'postgres' ? new PostgresDump(rows) : new EmbeddedDump(rows);
    const text = head;
    head = undefined;
    inspector.write(text);
  }

  return {
    write(chunk) {
      if (inspector !== undefined) inspector.write(chunk);
      else {
        head = Buffer.concat([head ?? Buffer.alloc(0), chunk]);
        begin(head.length >= HEAD_BYTES);
      }
    },
    end() {
      begin(true);
      return inspector!.end();
    },
  };
}

function kindOf(head: Buffer, whole: boolean): 'sqlite' | 'postgres' | 'unknown yet' {
  const text = head.toString('latin1');
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  for (const line of complete.split('\n')) {
    if (line === POSTGRES_START) return 'postgres';
    if (/^PRAGMA foreign_keys ?= ?OFF;/i.test(line)) return 'sqlite';
    if (line.trim() !== '' && !line.startsWith('--')) break;
  }
  if (!whole && complete.split('\n').every((line) => line.trim() === '' || line.startsWith('--')))
    return 'unknown yet';
  throw badDump('it does not begin like a dump of idkit or pg_dump');
}

/**
 * Reads and checks the SQL of a set's dump. The last chunk is passed on only after the gzip stream and the end line are
 * complete, so that a loader that commits at the end never commits half a dump. The caller may take the memory of the
 * chunks.
 *
 * @throws IDKIT_DAMAGED
 */
export async function* readDump(set: SetHandle, options: WorkOptions = {}): AsyncGenerator<Buffer> {
  const inspector = createDumpInspector();
  let held: Buffer | undefined;
  for await (const chunk of gunzip(set.stream(SET_FILES.dump, options), SET_FILES.dump)) {
    inspector.write(chunk);
    if (held !== undefined) yield held;
    held = chunk;
  }
  inspector.end();
  if (held !== undefined) yield held;
}

/** Facts from the first lines of a set's dump, which are not verified yet. */
export interface DumpHead {
  kind: 'sqlite' | 'postgres';
  /** The major version of the Postgres server that was dumped. */
  serverMajor?: number;
}

/** Reads the first lines of a set's dump. Returns undefined if they cannot be read; `verify` reports why. */
export async function findDumpHead(set: SetHandle): Promise<DumpHead | undefined> {
  let head = '';
  try {
    for await (const chunk of gunzip(set.stream(SET_FILES.dump), SET_FILES.dump)) {
      head += chunk.toString('latin1');
      if (head.length >= HEAD_BYTES) break;
    }
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
  }
  if (head === '') return undefined;
  const lines = head.slice(0, HEAD_BYTES).split('\n');
  if (!lines.includes(POSTGRES_START)) return { kind: 'sqlite' };
  const version = lines.map((line) => /^-- Dumped from database version (\d+)/.exec(line)?.[1]).find(Boolean);
  return { kind: 'postgres', ...(version === undefined ? {} : { serverMajor: Number(version) }) };
}
