import { type Logger, pino } from 'pino';
import type { ServiceLog } from '../http/index.ts';

export interface OpenedLog extends ServiceLog {
  /** Writes all buffered lines synchronously, so that a process can call it last. */
  flush(): void;
}

/** Where the lines are written: a file descriptor, or an object with a `write` method. */
export type LogDestination = number | { write(text: string): unknown };

export interface LogOptions {
  /** The lowest level that is written. Default: `info`. */
  level?: 'info' | 'warn' | 'error';
  /** Fields that are added to every line. */
  base?: Readonly<Record<string, string>>;
  /**
   * Set if other processes write to the same destination. Each write is then small enough that a pipe does not mix it
   * with theirs.
   */
  shared?: boolean;
}

/** Maximum time in milliseconds for which a line is buffered. */
const FLUSH_MILLISECONDS = 100;
/** Maximum number of buffered characters. */
const FLUSH_LENGTH = 32 * 1024;
/**
 * Maximum size in bytes of a write that a pipe never mixes with those of other processes (POSIX, PIPE_BUF on Linux).
 */
const WHOLE_BYTES = 4096;

/**
 * Opens a log with one JSON line per event (pino). Lines for a file descriptor are buffered and written together, the
 * last ones when the process ends. If the reader closes the pipe (EPIPE), logging ends but the service continues. If
 * the disk is full, logging resumes when the disk has space again.
 */
export async function openLog(to: LogDestination, options: LogOptions = {}): Promise<OpenedLog> {
  const settings = {
    base: options.base ?? null,
    level: options.level ?? 'info',
    timestamp: isoTimestamp(),
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => errorFields(error) },
  };
  if (typeof to !== 'number')
    return { ...serviceLog(pino(settings, to as { write(text: string): void })), flush: () => {} };
  const { shared = false } = options;
  const destination = pino.destination({
    dest: to,
    sync: false,
    ...(shared ? { maxWrite: WHOLE_BYTES } : {}),
  });
  let broken = false;
  destination.on('error', (error: NodeJS.ErrnoException) => {
    // Logging continues after ENOSPC, because the disk may have free space again later.
    if (error.code !== 'ENOSPC') broken = true;
  });
  let lines: string[] = [];
  let length = 0;
  const writeLines = () => {
    // The destination joins lines up to the size of one write, and never splits a line.
    if (!broken && length > 0) for (const part of shared ? lines : [lines.join('')]) destination.write(part);
    lines = [];
    length = 0;
  };
  const buffer = {
    write(line: string) {
      lines.push(line);
      length += line.length;
      if (length >= FLUSH_LENGTH) writeLines();
    },
  };
  const flush = () => {
    try {
      writeLines();
      if (!broken) destination.flushSync();
    } catch {
      // The destination is not open yet or is already closed, so no line can be written.
    }
  };
  // Lines are written without `flush`, which would also wait for the disk. Ten such waits a second would block the
  // service.
  setInterval(writeLines, FLUSH_MILLISECONDS).unref();
  process.on('exit', flush);
  return { ...serviceLog(pino(settings, buffer)), flush };
}

/** Renders pino's field `time`. Lines of the same millisecond share one string. */
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

function serviceLog(logger: Logger): ServiceLog {
  return {
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}

/**
 * Returns the fields of an error for a log line, with up to three causes. Its other properties are omitted, because
 * they may contain data from a request.
 */
function errorFields(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? error.code : undefined;
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    message: error.message,
    stack: error.stack,
    ...(error.cause !== undefined && depth < 3 ? { cause: errorFields(error.cause, depth + 1) } : {}),
  };
}
