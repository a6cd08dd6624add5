import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { replaceFile, writing } from '../../files/index.ts';
import { keepResult, NO_MESSAGE } from '../last-run.ts';
import { isBackupRoot } from '../locks.ts';
import type { DrillOptions, DrillResult } from './options.ts';

/** Renders the verdict, the duration of each phase, the checklist and every failure. */
export function renderDrillReport(result: DrillResult): string {
  const lines = [
    `Restore drill of ${result.set}`,
    `started ${result.startedAt}, ${result.outcome} after ${toSeconds(result.milliseconds)}`,
    '',
    'Phases',
    ...result.phases.map(
      ({ id, milliseconds }) => `  ${id.padEnd(14)}${toSeconds(milliseconds).padStart(9)}`,
    ),
  ];
  if (result.checklist.length > 0) {
    lines.push('', 'Checklist');
    for (const { outcome, title, detail } of result.checklist) {
      lines.push(`  ${outcome.padEnd(15)}${title}: ${detail}`);
    }
  }
  if (result.failure !== undefined) lines.push('', `Failed: ${result.failure.message}`);
  for (const { message } of result.findings) lines.push(`Finding: ${message}`);
  if (result.dir !== undefined)
    lines.push('', `Kept: ${result.dir} (it contains every secret of the platform)`);
  return `${lines.join('\n')}\n`;
}

function toSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** Returns the report as it is stored. Without messages, it has no text that can name a realm. */
function storedReport({ failure, ...report }: DrillResult, withoutMessages: boolean): object {
  if (!withoutMessages)
    return {
      ...report,
      ...(failure === undefined ? {} : { failure: { code: failure.code, message: failure.message } }),
    };
  return {
    ...report,
    checklist: report.checklist.map((row) => ({ ...row, detail: NO_MESSAGE })),
    checks: [],
    findings: report.findings.map(({ code }) => ({ code, message: NO_MESSAGE })),
    ...(failure === undefined ? {} : { failure: { code: failure.code, message: NO_MESSAGE } }),
  };
}

/**
 * Writes `ROOT/.state/drill-NAME.json` and the result of the last drill, and returns the result with its path. An
 * unwritable root is a note.
 */
export async function keepReport(
  settings: Settings,
  result: DrillResult,
  options: Pick<DrillOptions, 'clock' | 'reporter'> & { withoutMessages: boolean },
): Promise<DrillResult> {
  const { reporter } = options;
  const root = dirname(result.set);
  if (!(await isBackupRoot(root, settings))) return result;
  const { findings, milliseconds } = result;
  const ended = result.failure === undefined ? { findings } : { findings, failure: result.failure };
  await keepResult(root, ['drill'], { ...ended, set: basename(result.set), milliseconds }, options);
  const reportFile = join(root, '.state', `drill-${basename(result.set)}.json`);
  const content = storedReport(result, options.withoutMessages);
  try {
    await writing(reportFile, async () => {
      await mkdir(dirname(reportFile), { recursive: true, mode: 0o700 });
      replaceFile(reportFile, `${JSON.stringify(content, null, 2)}\n`);
    });
    return { ...result, reportFile };
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    reporter.note(`the report could not be stored: ${error.message}`);
    return result;
  }
}
