import type { Terminal } from '../terminal.ts';
import { renderBytes, renderMilliseconds } from './render-units.ts';

/** A line on a terminal that animates while a step is running. */
export interface Spinner {
  start(title: string): void;
  progress(state: { done: number; total?: number | undefined; unit: 'bytes' | 'items' }): void;
  stop(): void;
  /** Writes a permanent line above the animated line. */
  writeAbove(line: string): void;
}

/** Opens a spinner on stderr that shows progress, rate and remaining time. */
export async function openSpinner(terminal: Terminal, options: { color: boolean }): Promise<Spinner> {
  const { default: ora } = await import('ora');
  // The spinner must not read stdin, so that Ctrl-C reaches the signal handler of this process.
  const spinner = ora({
    stream: terminal.stderr as NodeJS.WriteStream,
    discardStdin: false,
    ...(options.color ? {} : { color: false as const }),
  });
  let title = '';
  let began = 0;
  return {
    start(text) {
      title = text;
      began = performance.now();
      spinner.start(text);
    },
    progress(state) {
      spinner.text = `${title}  ${renderProgress(state, performance.now() - began)}`;
    },
    stop() {
      // Stopping an idle spinner would still move the cursor.
      if (spinner.isSpinning) spinner.stop();
    },
    writeAbove(line) {
      const running = spinner.isSpinning;
      if (running) spinner.stop();
      terminal.stderr.write(`${line}\n`);
      if (running) spinner.start();
    },
  };
}

/** Renders `45 %  12.3 MB of 27.0 MB  8.1 MB/s  2 s left`. Without a total, renders only the amount and the rate. */
export function renderProgress(
  state: { done: number; total?: number | undefined; unit: 'bytes' | 'items' },
  milliseconds: number,
): string {
  const show = (value: number): string => (state.unit === 'bytes' ? renderBytes(value) : String(value));
  const rate = milliseconds < 200 ? undefined : (state.done / milliseconds) * 1000;
  const parts: string[] = [];
  if (state.total !== undefined && state.total > 0) {
    parts.push(`${Math.min(100, Math.floor((state.done / state.total) * 100))} %`);
    parts.push(`${show(state.done)} of ${show(state.total)}`);
  } else parts.push(show(state.done));
  if (rate !== undefined && state.unit === 'bytes') parts.push(`${renderBytes(rate)}/s`);
  if (rate !== undefined && rate > 0 && state.total !== undefined && state.total > state.done) {
    parts.push(`${renderMilliseconds(((state.total - state.done) / rate) * 1000)} left`);
  }
  return parts.join('  ');
}
