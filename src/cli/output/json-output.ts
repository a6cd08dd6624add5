import type { Finding } from '../../procedures/index.ts';
import type { Terminal } from '../terminal.ts';
import { pickFields } from './field-path.ts';
import type { ListedRecord } from './lists.ts';
import { type Output, printable, renderError } from './output.ts';

const PROGRESS_MILLISECONDS = 1000;

/**
 * Opens the output for programs: newline-delimited JSON on stdout. The last line is the result. Errors also go to
 * stderr.
 */
export function openJsonOutput(
  terminal: Terminal,
  options: { quiet: boolean; verbose: boolean; progress: boolean },
): Output {
  const write = (line: Record<string, unknown>): void => {
    terminal.stdout.write(`${printable(JSON.stringify(line))}\n`);
  };
  const reported = new Set<string>();
  const report = (finding: Finding): void => {
    const key = `${finding.code} ${finding.message}`;
    if (reported.has(key)) return;
    reported.add(key);
    write({ type: 'finding', code: finding.code, message: finding.message });
  };
  let nextProgress = 0;
  const texts: Record<string, string> = {};
  const lists: Record<string, unknown> = {};
  const note = (message: string): void => {
    if (!options.quiet) write({ type: 'note', message });
  };

  return {
    reporter: {
      // JSON.stringify omits the fields that are undefined.
      stepStarted: ({ id, title, number, of, within }) => {
        if (!options.quiet) write({ type: 'step', id, title, state: 'started', number, of, within });
      },
      stepProgress: ({ id, done, total, isEstimate, unit, within }) => {
        if (options.quiet || !options.progress || Date.now() < nextProgress) return;
        nextProgress = Date.now() + PROGRESS_MILLISECONDS;
        write({ type: 'step', id, state: 'running', done, unit, total, isEstimate, within });
      },
      stepFinished: ({ id, milliseconds, summary, within }) => {
        if (!options.quiet) write({ type: 'step', id, state: 'finished', milliseconds, summary, within });
      },
      stepFailed: ({ id, milliseconds, within }) => {
        if (!options.quiet) write({ type: 'step', id, state: 'failed', milliseconds, within });
      },
      note,
      finding: report,
    },
    showText: (field, text) => {
      texts[field] = text;
    },
    showResult: async ({ list }, { fields }) => {
      if (list === undefined) return;
      const { inResult = (record) => record } = list;
      const records: ListedRecord[] = [];
      for await (const record of list.records)
        records.push(fields === undefined ? inResult(record) : pickFields(record, fields));
      lists[list.noun] = records;
      const end = list.note?.();
      if (end !== undefined) note(end);
    },
    finish: ({ command, exitCode, outcome, error }) => {
      for (const finding of outcome.findings ?? []) report(finding);
      if (error !== undefined) {
        terminal.stderr.write(`${renderError(error, { stack: options.verbose }).join('\n')}\n`);
      }
      const findings = outcome.findings ?? [];
      write({
        type: 'result',
        command,
        ok: exitCode === 0,
        exitCode,
        ...texts,
        ...outcome.data,
        ...lists,
        ...(findings.length > 0
          ? { findings: findings.map(({ code, message }) => ({ code, message })) }
          : {}),
        ...(error === undefined
          ? {}
          : { error: { code: error.code, message: error.message, hints: error.hints } }),
      });
    },
  };
}
