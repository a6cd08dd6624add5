import type { Terminal } from '../terminal.ts';

/**
 * Writes texts to stdout, no faster than the reader reads. Stops quietly if the reader closes the pipe (`| head`), and
 * then ends the iteration over `texts`.
 *
 * @throws the reason of `signal`, even while the reader does not read
 */
export async function writeAll(
  { stdout }: Pick<Terminal, 'stdout'>,
  texts: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  let closed = false;
  const onClose = (): void => {
    closed = true;
  };
  for (const event of ['close', 'error']) stdout.on(event, onClose);
  try {
    for await (const text of texts) {
      // A write to a closed pipe reports its error only afterwards.
      if (stdout.write(text)) await new Promise((resolve) => setImmediate(resolve));
      else await drained(stdout, signal);
      signal.throwIfAborted();
      if (closed) break;
    }
  } finally {
    for (const event of ['close', 'error']) stdout.off(event, onClose);
  }
}

/** Waits until the reader has read what is buffered, or has closed its end, or the signal aborts. */
function drained(stream: NodeJS.WritableStream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const events = ['drain', 'close', 'error'];
    const settle = (): void => {
      for (const event of events) stream.off(event, settle);
      signal.removeEventListener('abort', settle);
      resolve();
    };
    for (const event of events) stream.on(event, settle);
    signal.addEventListener('abort', settle);
    if (signal.aborted) settle();
  });
}
