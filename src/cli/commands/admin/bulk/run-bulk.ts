import { createReadStream, existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { IdkitError, renderCount } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome } from '../../../command.ts';
import { textFlag, wholeNumber } from '../../../flags.ts';
import { mapInOrder } from '../../../input/in-order.ts';
import {
  type InputRecord,
  type InputRecords,
  openRecords,
  type RecordFormat,
} from '../../../input/records.ts';
import { oneLine } from '../../../output/output.ts';
import { writeText } from '../../../terminal.ts';
import { connect, realmFlag } from '../connect.ts';
import { type BulkCalls, LineFault, openBulkCalls } from './calls.ts';

/** What happened to one user of the file. */
export type Change =
  | 'created'
  | 'updated'
  | 'added'
  | 'removed'
  | 'enabled'
  | 'disabled'
  | 'deleted'
  | 'unchanged'
  | 'failed';

/** The report of one line. */
export interface LineReport {
  line: number;
  user: string;
  result: Change;
  detail?: string;
}

/** A change that is made to each user of a file. */
export interface BulkWork {
  /** Imperative, for the progress: `Add the role to the users`. */
  title: string;
  /** @throws IDKIT_USAGE if the header of a CSV file does not fit */
  checkColumns(columns: readonly string[]): void;
  /** Prepares the work once, for example finds the role. */
  prepare?(calls: BulkCalls): Promise<void>;
  /** Returns the name of the record's user for the report. */
  userOf(fields: Readonly<Record<string, unknown>>): string;
  /**
   * Handles one record. With `dryRun` it changes nothing and returns what it would do.
   *
   * @throws LineFault if only this record has failed
   */
  apply(
    fields: Readonly<Record<string, unknown>>,
    options: { calls: BulkCalls; dryRun: boolean },
  ): Promise<{ result: Change; detail?: string }>;
}

const PARALLEL = 8;
const STEP = 'lines';

/** Adds the flags of every command that reads users from a file. */
export function withBulkFlags(command: CliCommand): CliCommand {
  return command
    .option('--format <format>', 'csv or jsonl (default: detected by the first character)')
    .option('--dry-run', 'change nothing and report what would happen')
    .option('--stop-on-error', 'stop at the first line that fails; handles one line at a time')
    .option('--parallel <number>', `handle this many lines in parallel (default: ${PARALLEL})`);
}

/**
 * Applies the work to each user of a file, and reports each line on stdout while it runs.
 *
 * @param file a path, or `-` for stdin
 * @param confirmed called before anything is changed, with the number of lines, which is undefined for a pipe. It throws if
 *   nobody confirms.
 */
export async function runBulk(
  context: CommandContext,
  flags: Flags,
  file: string,
  work: BulkWork,
  confirmed?: (lines: number | undefined) => Promise<void>,
): Promise<Outcome> {
  const realm = realmFlag(context, flags);
  const dryRun = flags['dryRun'] === true;
  const stopsOnError = flags['stopOnError'] === true;
  const parallel = parallelOf(flags, stopsOnError);
  const format = formatOf(flags);
  const source = findSource(context, file);
  // A first pass finds a broken file before anything is changed, and counts the records for the progress.
  const total = source.isRepeatable ? await countRecords(await source.open(format), work) : undefined;
  await confirmed?.(total);
  const input = await source.open(format);
  if (input.columns !== undefined) work.checkColumns(input.columns);
  const { admin } = await connect(context, flags);
  const calls = openBulkCalls(admin, realm, context.signal);
  await work.prepare?.(calls);

  const report = openReport(context, { title: work.title, total, dryRun });
  const handle = async (record: InputRecord): Promise<LineReport> =>
    handleRecord(record, work, calls, dryRun);
  const stop = new AbortController();
  const records = untilAborted(input.records, AbortSignal.any([stop.signal, context.signal]));
  let failure: unknown;
  try {
    for await (const settled of mapInOrder(records, parallel, handle)) {
      if ('error' in settled) {
        failure ??= settled.error;
        stop.abort();
        continue;
      }
      await report.line(settled.value);
      if (settled.value.result !== 'failed' || !stopsOnError) continue;
      failure ??= stopped(settled.value);
      stop.abort();
    }
  } catch (error) {
    failure ??= error;
  }
  if (context.signal.aborted) failure = context.signal.reason;
  const { counts, lines } = report.end(failure === undefined);
  const failed = counts.failed ?? 0;
  return {
    data: { realm, dryRun, lines, counts },
    text: renderCounts(counts, { dryRun, isComplete: failure === undefined }),
    findings:
      failed === 0
        ? []
        : [{ code: 'LINES_FAILED', message: `${failed} of ${renderCount(lines, 'line')} failed` }],
    ...(failure === undefined ? {} : { failure: asFailure(failure, lines) }),
  };
}

async function handleRecord(
  { fault, fields, line }: InputRecord,
  work: BulkWork,
  calls: BulkCalls,
  dryRun: boolean,
): Promise<LineReport> {
  if (fields === undefined) return { line, user: '', result: 'failed', detail: fault ?? 'the line is empty' };
  const user = work.userOf(fields);
  try {
    return { line, user, ...(await work.apply(fields, { calls, dryRun })) };
  } catch (error) {
    if (!(error instanceof LineFault)) throw error;
    return { line, user, result: 'failed', detail: error.message };
  }
}

function stopped({ line, user, detail = '' }: LineReport): IdkitError {
  return new IdkitError('IDKIT_FAILED', `stopped at line ${line} (${user}): ${detail}`, {
    hints: ['correct the line and run the command again; finished lines are then unchanged'],
  });
}

/** Returns the error that ended the run. Without an IdkitError, it is a bug and keeps its stack. */
function asFailure(error: unknown, lines: number): IdkitError {
  if (!(error instanceof IdkitError)) throw error;
  if (error.code === 'IDKIT_FAILED' && error.message.startsWith('stopped at line')) return error;
  return new IdkitError(error.code, `stopped after ${renderCount(lines, 'line')}: ${error.message}`, {
    hints: [
      ...error.hints,
      `${error.hints.length === 0 ? '' : 'then '}run the command again; finished lines are unchanged`,
    ],
    cause: error,
  });
}

function parallelOf(flags: Flags, stopsOnError: boolean): number {
  const text = textFlag(flags, 'parallel');
  if (stopsOnError) {
    if (text !== undefined)
      throw new IdkitError('IDKIT_USAGE', '--stop-on-error handles one line at a time, so omit --parallel');
    return 1;
  }
  return text === undefined ? PARALLEL : wholeNumber(text, '--parallel', { from: 1, to: 64 });
}

function formatOf(flags: Flags): RecordFormat | undefined {
  const text = textFlag(flags, 'format');
  if (text === undefined || text === 'csv' || text === 'jsonl') return text;
  throw new IdkitError('IDKIT_USAGE', `--format must be csv or jsonl, not ${JSON.stringify(text)}`);
}

interface Source {
  /** Whether the source can be read twice. */
  isRepeatable: boolean;
  open(format: RecordFormat | undefined): Promise<InputRecords>;
}

function findSource({ cwd, terminal }: CommandContext, file: string): Source {
  if (file === '-')
    return {
      isRepeatable: false,
      open: (format) =>
        openRecords(terminal.stdin as AsyncIterable<Uint8Array | string>, { format, name: 'stdin' }),
    };
  const path = resolve(cwd, file);
  if (!existsSync(path)) throw new IdkitError('IDKIT_NOT_FOUND', `the file ${file} does not exist`);
  const stats = statSync(path);
  if (stats.isDirectory()) throw new IdkitError('IDKIT_USAGE', `${file} is a directory, but must be a file`);
  return {
    isRepeatable: stats.isFile(),
    open: (format) => openRecords(createReadStream(path), { format, name: file }),
  };
}

async function countRecords(input: InputRecords, work: BulkWork): Promise<number> {
  if (input.columns !== undefined) work.checkColumns(input.columns);
  let count = 0;
  for await (const _ of input.records) count += 1;
  return count;
}

async function* untilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  for await (const item of items) {
    if (signal.aborted) return;
    yield item;
  }
}

type Counts = Partial<Record<Change, number>>;

/** Prints a line for each record and the progress of all. */
function openReport(
  { globals, reporter, terminal }: CommandContext,
  { title, total, dryRun }: { title: string; total: number | undefined; dryRun: boolean },
): { line(report: LineReport): Promise<void>; end(isComplete: boolean): { counts: Counts; lines: number } } {
  const counts: Counts = {};
  let lines = 0;
  const began = performance.now();
  // On a terminal, the lines themselves show the progress, and a spinner would overwrite them.
  const hasStep = globals.json || terminal.stdout.isTTY !== true;
  if (hasStep) reporter.stepStarted({ id: STEP, title });
  return {
    async line(report) {
      lines += 1;
      counts[report.result] = (counts[report.result] ?? 0) + 1;
      const text = globals.json
        ? JSON.stringify({ type: 'line', ...report, ...(dryRun ? { dryRun } : {}) })
        : renderLine(report, dryRun);
      await writeText(terminal.stdout, `${text}\n`);
      if (hasStep)
        reporter.stepProgress({
          id: STEP,
          done: lines,
          unit: 'items',
          ...(total === undefined ? {} : { total }),
        });
    },
    end(isComplete) {
      const milliseconds = Math.round(performance.now() - began);
      if (hasStep && isComplete)
        reporter.stepFinished({ id: STEP, milliseconds, summary: renderCount(lines, 'line') });
      else if (hasStep) reporter.stepFailed({ id: STEP, milliseconds });
      return { counts, lines };
    },
  };
}

const WIDEST_RESULT = 'would be unchanged'.length;

function renderLine({ detail, line, result, user }: LineReport, dryRun: boolean): string {
  const change = !dryRun || result === 'failed' || result === 'unchanged' ? result : `would be ${result}`;
  const start = `line ${String(line).padStart(6)}  ${change.padEnd(dryRun ? WIDEST_RESULT : 9)}  ${oneLine(user)}`;
  return detail === undefined ? start : `${start}: ${oneLine(detail)}`;
}

function renderCounts(
  counts: Counts,
  { dryRun, isComplete }: { dryRun: boolean; isComplete: boolean },
): string {
  const parts = Object.entries(counts).map(([result, count]) => `${count} ${result}`);
  if (parts.length === 0) return isComplete ? 'the file has no records' : '';
  const text = `${parts.join(', ')}${isComplete ? '' : '; stopped before the end of the file'}`;
  return dryRun ? `dry run, nothing was changed: ${text}` : text;
}
