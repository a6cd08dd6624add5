import type { Terminal } from '../terminal.ts';

/**
 * Writes texts to stdout, no faster than the reader reads. Stops quietly if the reader closes the pipe (`| head`), and
 * then ends the iteration over `texts`.
 */
export async function writeAll(
  { stdout }: Pick<Terminal, 'stdout'>,
  texts: AsyncIterable<string>,
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
      else await drained(stdout);
      if (closed) break;
    }
  } finally {
    for (const event of ['close', 'error']) stdout.off(event, onClose);
  }
}

function drained(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    const events = ['drain', 'close', 'error'];
    const settle = (): void => {
      for (const event of events) stream.off(event, settle);
      resolve();
    };
    for (const event of events) stream.on(event, settle);
  });
}
