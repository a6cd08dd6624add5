import type { Readable } from 'node:stream';

/** Maximum length in characters. A log cuts its lines much shorter, but only after it replaced the secrets. */
const LONGEST_LINE = 256 * 1024;

/**
 * Passes on each line of a program's output. The rest of a line that is too long is dropped, because a program can print
 * without end and without a line end.
 */
export function readLines(
  stream: Readable,
  onLine: (line: string) => void,
  longest: number = LONGEST_LINE,
): void {
  let held = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const [first = '', ...others] = text.split('\n');
    held += first.slice(0, longest - held.length);
    for (const next of others) {
      onLine(held.replace(/\r$/, ''));
      held = next.slice(0, longest);
    }
  });
  stream.on('end', () => {
    if (held !== '') onLine(held);
  });
}
