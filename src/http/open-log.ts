import type { ServiceLog } from './service-log.ts';

/** A log with its end. */
export interface OpenedLog extends ServiceLog {
  /** Writes what is buffered; synchronous, so that it can be the last thing a process does. */
  flush(): void;
}

/** Milliseconds that a line waits for others at most. */
const FLUSH_MILLISECONDS = 200;

/**
 * One JSON line per event on a file descriptor (pino). Lines are gathered and written together; warnings and
 * errors at once. A reader that went away (EPIPE) ends the log, not the service.
 */
export async function openLog(descriptor: number): Promise<OpenedLog> {
  const { pino } = await import('pino');
  const destination = pino.destination({ dest: descriptor, sync: false, minLength: 4096 });
  let broken = false;
  destination.on('error', () => {
    broken = true;
  });
  const logger = pino(
    {
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    destination,
  );
  const flush = () => {
    try {
      if (!broken) destination.flushSync();
    } catch {
      // Not open yet or gone: there is nobody to tell.
    }
  };
  setInterval(flush, FLUSH_MILLISECONDS).unref();
  return {
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    flush,
  };
}

/**
 * What a log line tells of an error: never its other properties, which may hold what a caller sent. Causes
 * follow, three deep.
 */
export function describeError(error: unknown, depth = 0): unknown {
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
