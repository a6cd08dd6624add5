import { type Logger, pino } from 'pino';
import type { ServiceLog } from '../http/index.ts';

/** A log with its end. */
export interface OpenedLog extends ServiceLog {
  /** Writes what is buffered; synchronous, so that it can be the last thing a process does. */
  flush(): void;
}

/** Where lines go: a file descriptor, gathered and written together, or anything that takes text. */
export type LogDestination = number | { write(text: string): unknown };

/** What the lines hold beside the event. */
export interface LogOptions {
  /** Nothing below it is written; `info` unless told. */
  level?: 'info' | 'warn' | 'error';
  /** Added to every line. */
  base?: Readonly<Record<string, string>>;
  /** True where other processes write to the same place: lines are written in pieces that a pipe takes whole. */
  shared?: boolean;
}

/** Milliseconds that a line waits for others at most, and characters that are not kept longer. */
const FLUSH_MILLISECONDS = 100;
const FLUSH_LENGTH = 32 * 1024;
/** What a pipe takes from one of several writers without mixing it with others' (POSIX, PIPE_BUF on Linux). */
const WHOLE_BYTES = 4096;

/**
 * One JSON line per event (pino). On a file descriptor lines are gathered and written together, the rest at the
 * process's end. A reader that went away (EPIPE) ends the log, not the service; a full disk only as long as it is full.
 */
export async function openLog(to: LogDestination, options: LogOptions = {}): Promise<OpenedLog> {
  const settings = {
    base: options.base ?? null,
    level: options.level ?? 'info',
    timestamp: isoTimestamp(),
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => describeError(error) },
  };
  if (typeof to !== 'number')
    return { ...tellTo(pino(settings, to as { write(text: string): void })), flush: () => {} };
  const { shared = false } = options;
  const destination = pino.destination({
    dest: to,
    sync: false,
    ...(shared ? { maxWrite: WHOLE_BYTES } : {}),
  });
  let broken = false;
  destination.on('error', (error: NodeJS.ErrnoException) => {
    // A full disk may have room again.
    if (error.code !== 'ENOSPC') broken = true;
  });
  let lines: string[] = [];
  let length = 0;
  const hand = () => {
    // The destination joins lines up to the size of a piece, and never divides one.
    if (!broken && length > 0) for (const part of shared ? lines : [lines.join('')]) destination.write(part);
    lines = [];
    length = 0;
  };
  const gather = {
    write(line: string) {
      lines.push(line);
      length += line.length;
      if (length >= FLUSH_LENGTH) hand();
    },
  };
  const flush = () => {
    try {
      hand();
      if (!broken) destination.flushSync();
    } catch {
      // Not open yet or gone: there is nobody to tell.
    }
  };
  // Not `flush`, which also waits until the disk has the lines: ten times a second that would stop the service.
  setInterval(hand, FLUSH_MILLISECONDS).unref();
  process.on('exit', flush);
  return { ...tellTo(pino(settings, gather)), flush };
}

/** pino's own field `time`; lines of one millisecond share its text. */
function isoTimestamp(): () => string {
  let last = 0;
  let field = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      field = `,"time":"${new Date(now).toISOString()}"`;
    }
    return field;
  };
}

function tellTo(logger: Logger): ServiceLog {
  return {
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}

/**
 * What a log line tells of an error: never its other properties, which may hold what a caller sent. Causes
 * follow, three deep.
 */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    message: error.message,
    stack: error.stack,
    ...(error.cause !== undefined && depth < 3 ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}
