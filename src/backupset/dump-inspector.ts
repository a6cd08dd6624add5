import type { DumpReport, SetHandle, WorkOptions } from './contract.ts';
import { SET_FILES } from './contract.ts';
import { EmbeddedDump } from './dump-embedded.ts';
import { POSTGRES_START, PostgresDump } from './dump-postgres.ts';
import { badDump } from './dump-window.ts';
import { gunzip } from './gunzip.ts';

/** A kind is told by the first lines; no dump has more comment than this before its first statement. */
const HEAD_BYTES = 64 * 1024;

/** Checks SQL as it goes by. */
export interface DumpInspector {
  /** @throws IDKIT_DAMAGED at the first thing that no dump holds */
  write(chunk: Uint8Array): void;
  /** @throws IDKIT_DAMAGED where the dump does not reach its end line */
  end(): DumpReport;
}

/** Tells the dump's kind from its header and reads it as that kind, in bounded memory. */
export function createDumpInspector(): DumpInspector {
  let head: Buffer | undefined = Buffer.alloc(0);
  let inspector: DumpInspector | undefined;

  function begin(whole: boolean): void {
    if (head === undefined) return;
    const kind = kindOf(head, whole);
    if (kind === 'unknown yet') return;
    inspector = kind === 'postgres' ? new PostgresDump() : new EmbeddedDump();
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
  throw badDump("it begins like neither idkit's dump nor pg_dump's");
}

/**
 * The SQL of a set's dump, checked on the way: the last chunk is handed on only after the gzip stream and the end
 * line have proven whole, so that a loader that commits at the end never commits half a dump.
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
