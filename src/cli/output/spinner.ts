import type { StepProgress } from '../../procedures/index.ts';
import type { Terminal } from '../terminal.ts';
import { cutTo, displayWidth } from './display-width.ts';
import { oneLine } from './output.ts';
import type { Paint } from './paint.ts';
import { renderBytes, renderMilliseconds, renderNumber } from './render-units.ts';

/** A step as the animated line shows it. */
export interface ShownStep {
  title: string;
  /** The step is number `number` (from 1) of `of` steps. */
  number?: number | undefined;
  of?: number | undefined;
}

/** The last line on a terminal, which shows the running step. It is one row, also after a resize of the terminal. */
export interface Spinner {
  /** Shows a step. A step that starts within another one is shown instead of it. */
  start(step: ShownStep): void;
  /** Shows the progress of the step that started last. */
  progress(state: StepProgress): void;
  /** Ends the step that started last. The step around it is shown again. */
  stop(): void;
  /** Ends all steps. */
  close(): void;
  /** Writes a permanent line above the animated line. */
  writeAbove(line: string): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** The console of Linux without a graphical system has few characters. */
const FRAMES_OF_CONSOLE = ['|', '/', '-', '\\'];
const FRAME_MILLISECONDS = 100;
/** Erases from the cursor to the end of the row, and to the end of the screen. */
const ERASE_ROW = '\u001b[K';
const ERASE_REST = '\u001b[J';

interface RunningStep extends ShownStep {
  /** In milliseconds, from `performance.now()`. */
  began: number;
  state?: StepProgress;
}

/** Opens the animated line on stderr. */
export function openSpinner({ stderr }: Terminal, options: { paint: Paint; isConsole: boolean }): Spinner {
  const frames = options.isConsole ? FRAMES_OF_CONSOLE : FRAMES;
  const running: RunningStep[] = [];
  let timer: NodeJS.Timeout | undefined;
  let drawn = 0;

  const draw = (): void => {
    if (running.length === 0) return;
    const now = performance.now();
    const frame = frames[Math.floor(now / FRAME_MILLISECONDS) % frames.length]!;
    // A character in the last column would make some terminals begin a new row.
    const text = renderRunning(running, now, (stderr.columns ?? 80) - frame.length - 2);
    drawn = frame.length + 1 + displayWidth(text);
    stderr.write(`\r${options.paint.strong(frame)} ${text}${ERASE_ROW}`);
  };
  const erase = (): void => {
    if (drawn > 0) stderr.write(`\r${ERASE_ROW}`);
    drawn = 0;
  };
  const redraw = (): void => {
    // A terminal that became narrower has split the row into several ones, and the cursor is in the last of them.
    const rows = Math.ceil(drawn / (stderr.columns ?? 80));
    if (rows > 1) stderr.write(`\u001b[${rows - 1}A\r${ERASE_REST}`);
    draw();
  };
  const close = (): void => {
    running.length = 0;
    clearInterval(timer);
    timer = undefined;
    stderr.removeListener('resize', redraw);
    erase();
  };

  return {
    start(step) {
      running.push({ ...step, began: performance.now() });
      if (timer === undefined) {
        timer = setInterval(draw, FRAME_MILLISECONDS).unref();
        stderr.on('resize', redraw);
      }
      draw();
    },
    progress(state) {
      const step = running.at(-1);
      if (step !== undefined) step.state = state;
    },
    stop() {
      running.pop();
      if (running.length === 0) close();
      else draw();
    },
    close,
    writeAbove(line) {
      erase();
      stderr.write(`${line}\n`);
      draw();
    },
  };
}

/** The part of the room that belongs to the title before progress is left out for it, and its minimum in characters. */
const TITLE_SHARE = 0.4;
const SHORT_TITLE = 12;

/**
 * Renders the innermost step: its number, its title, and as much of its progress as fits. The percentage and the
 * remaining time stay longest.
 *
 * @param now in milliseconds, from `performance.now()`
 * @param width maximum width in characters
 */
export function renderRunning(steps: readonly RunningStep[], now: number, width: number): string {
  const step = steps.at(-1);
  if (step === undefined) return '';
  const places = steps.flatMap(({ number, of }) => (number === undefined ? [] : [`${number}/${of}`]));
  const place = places.length === 0 ? '' : `${places.join(' › ')} `;
  const title = oneLine(step.title);
  const room = width - place.length;
  const variants = describeProgress(step.state, now - step.began).map((parts) =>
    parts.map((part) => `  ${part}`).join(''),
  );
  const least = Math.min(displayWidth(title), Math.max(SHORT_TITLE, Math.floor(room * TITLE_SHARE)));
  const fits = (details: string) => least + details.length <= room;
  const details = variants.find(fits) ?? variants.at(-1) ?? '';
  return cutTo(`${place}${cutTo(title, Math.max(0, room - details.length))}${details}`, width);
}

/** Renders `45 %  12.3 MB of 27.0 MB  8.1 MB/s  2 s left`. Without a total, renders only the amount and the rate. */
export function renderProgress(state: StepProgress, milliseconds: number): string {
  return (describeProgress(state, milliseconds)[0] ?? []).join('  ');
}

/** Returns the progress in words: first all of it, then less and less. */
function describeProgress(
  state: StepProgress | undefined,
  milliseconds: number,
): readonly (readonly string[])[] {
  if (state === undefined) {
    const isLong = milliseconds >= 2000;
    return isLong ? [[renderMilliseconds(Math.floor(milliseconds / 1000) * 1000)], []] : [[]];
  }
  const { done, total, unit, isEstimate } = state;
  const show = (value: number): string =>
    unit === 'bytes' ? renderBytes(value) : renderNumber(Math.round(value));
  const perSecond = milliseconds < 200 ? 0 : (done / milliseconds) * 1000;
  const rate =
    perSecond === 0
      ? []
      : [`${perSecond < 10 && unit === 'items' ? perSecond.toFixed(1) : show(perSecond)}/s`];
  if (total === undefined || total <= 0) return [[show(done), ...rate], [show(done)], []];
  const percent = `${Math.min(100, Math.floor((done / total) * 100))} %`;
  const left = renderTimeLeft(((total - done) / perSecond) * 1000, done / total);
  const amount = `${show(done)} of ${isEstimate === true ? 'about ' : ''}${show(total)}`;
  return [[percent, amount, ...rate, ...left], [percent, amount, ...left], [percent, ...left], [percent]];
}

/** The written part of the total from which the rate says something about the rest. */
const FIRST_SHARE = 0.01;

/** Renders the remaining time. It is unknown at the beginning, and the end of a step often takes longer than the rate says. */
function renderTimeLeft(milliseconds: number, share: number): readonly string[] {
  if (!Number.isFinite(milliseconds) || share < FIRST_SHARE || milliseconds < 1000) return [];
  return [`${renderMilliseconds(milliseconds)} left`];
}
