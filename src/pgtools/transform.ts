import type { Random } from '../core/index.ts';

/** The versions of psql and of the server that a dump must suit. */
export interface Target {
  /** A number like `server_version_num`: 150018 is version 15.18. */
  psql: number;
  /** The server's major version. */
  serverMajor: number;
}

const NEWLINE = 0x0a;
/** Size in bytes of the part that can contain the settings at the start of a dump. */
const HEAD_BYTES = 1024 * 1024;
/** Size in bytes of the part that can contain the end line and the lines after it. */
const TAIL_BYTES = 4096;
const END = '\n-- PostgreSQL database dump complete\n';
const DATA_BEGINS = /^(CREATE|ALTER|COPY|SELECT pg_catalog\.(?!set_config)|INSERT|COMMENT|GRANT|REVOKE|DO) ?/;

/** The first minor versions of psql that support `\restrict` (CVE-2025-8714). */
const RESTRICT_SINCE: Readonly<Record<number, number>> = { 13: 22, 14: 19, 15: 14, 16: 10, 17: 6 };

/** Returns whether this version of psql supports `\restrict`. */
export function knowsRestrict(version: number): boolean {
  const major = Math.floor(version / 10_000);
  return major >= 18 || version % 10_000 >= (RESTRICT_SINCE[major] ?? Number.POSITIVE_INFINITY);
}

/**
 * Returns two lines to put around a dump: the first makes psql reject meta-commands, and the second lifts this
 * restriction. Both contain the same random word, so that the dump itself cannot lift it.
 */
export function guardLines(target: Target, random: Random): { before: string; after: string } {
  if (!knowsRestrict(target.psql)) return { before: '', after: '' };
  const word = random.bytes(24).toString('hex');
  return { before: `\\restrict ${word}\n`, after: `\\unrestrict ${word}\n` };
}

/**
 * Returns whether psql or the server would reject a line before the dump's first object, because the line is meant for
 * another version.
 */
export function isForeignHeadLine(line: string, target: Target): boolean {
  if (/^\\(un)?restrict [A-Za-z0-9]+$/.test(line)) return true;
  return target.serverMajor < 17 && line === 'SET transaction_timeout = 0;';
}

/**
 * Removes the lines of a dump that this psql or server would reject. These are settings of newer servers, and the
 * dump's own `\restrict` and `\unrestrict`, which `guardLines` replaces. Everything between the start and the end of
 * the dump remains unchanged.
 */
export async function* fitDump(
  sql: AsyncIterable<Uint8Array>,
  target: Target,
): AsyncGenerator<Uint8Array, void, undefined> {
  let head: Buffer | undefined = Buffer.alloc(0);
  /** The last bytes, which may contain the end line. */
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of sql) {
    let next = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (head !== undefined) {
      head = Buffer.concat([head, next]);
      const split = endOfHead(head);
      if (split === undefined) continue;
      yield dropLines(head.subarray(0, split), (line) => isForeignHeadLine(line, target));
      next = head.subarray(split);
      head = undefined;
    }
    if (next.length >= TAIL_BYTES) {
      if (held.length > 0) yield held;
      held = next;
    } else {
      const all = Buffer.concat([held, next]);
      const done = Math.max(0, all.length - TAIL_BYTES);
      if (done > 0) yield all.subarray(0, done);
      held = all.subarray(done);
    }
  }
  // Only lines after the end line are removed. Before it, the same bytes may be part of a row.
  const rest = Buffer.concat([head ?? Buffer.alloc(0), held]);
  const end = head === undefined ? rest.lastIndexOf(END, 'latin1') + 1 : 0;
  if (end > 0 || head === undefined) yield rest.subarray(0, end === 0 ? rest.length : end);
  if (end > 0 || head !== undefined)
    yield dropLines(rest.subarray(end), (line) => isForeignHeadLine(line, target));
}

/** Returns the offset of the first object in bytes, or undefined if it has not arrived yet. */
function endOfHead(head: Buffer): number | undefined {
  let line = 0;
  for (;;) {
    const end = head.indexOf(NEWLINE, line);
    if (end < 0) return head.length > HEAD_BYTES ? line : undefined;
    if (DATA_BEGINS.test(head.toString('latin1', line, end))) return line;
    line = end + 1;
  }
}

/** Removes lines from text in any encoding. Works on bytes, because the text may begin or end within a character. */
function dropLines(text: Buffer, isForeign: (line: string) => boolean): Buffer {
  const lines = text.toString('latin1').split('\n');
  return Buffer.from(lines.filter((line) => !isForeign(line)).join('\n'), 'latin1');
}
