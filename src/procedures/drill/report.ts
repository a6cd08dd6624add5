import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { replaceFile, writing } from '../../files/index.ts';
import { keepResult, NO_MESSAGE } from '../last-run.ts';
import { isBackupRoot } from '../locks.ts';
import { toDocument } from './document.ts';
import type { DrillOptions, DrillResult } from './options.ts';
import { storeReport } from './store-report.ts';

/** The checks that a drill adds to those of a restore. */
const OWN_CHECKS: ReadonlySet<string> = new Set(['credentials', 'canary-login', 'published-keys']);

/** Renders the verdict, the duration of each phase, the checklist and every failure. */
export function renderDrillReport(result: DrillResult): string {
  const lines = [
    `Restore drill of ${result.set}`,
    ...renderMoment(result.source),
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
  lines.push('', `Live database: ${result.live.outcome}, ${result.live.detail}`);
  for (const { title, subject, outcome, detail } of result.checks.filter(({ id }) => OWN_CHECKS.has(id)))
    lines.push(`  ${outcome.padEnd(15)}${title}${subject === undefined ? '' : ` (${subject})`}: ${detail}`);
  if (result.report !== undefined) lines.push('', `Report: ${result.report.html}`);
  if (result.failure !== undefined) lines.push('', `Failed: ${result.failure.message}`);
  for (const { message } of result.findings) lines.push(`Finding: ${message}`);
  if (result.dir !== undefined)
    lines.push('', `Kept: ${result.dir} (it contains every secret of the platform)`);
  return `${lines.join('\n')}\n`;
}

/** Names the moment of the archive, and the last transaction before it. */
function renderMoment({ moment, restoredTo }: DrillResult['source']): readonly string[] {
  if (moment === undefined) return [];
  return [
    `with the database of the archive: ${moment}${restoredTo === undefined ? '' : `, last transaction ${restoredTo}`}`,
  ];
}

function toSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** Removes every text that can name a realm. */
function withoutTexts({ failure, ...result }: DrillResult): DrillResult {
  const { realms: _, ...source } = result.source;
  return {
    ...result,
    source,
    live: { outcome: result.live.outcome, detail: NO_MESSAGE },
    checklist: result.checklist.map((row) => ({ ...row, detail: NO_MESSAGE })),
    checks: [],
    differences: result.differences.map(() => NO_MESSAGE),
    findings: result.findings.map(({ code }) => ({ code, message: NO_MESSAGE })),
    ...(failure === undefined ? {} : { failure: new IdkitError(failure.code, NO_MESSAGE) }),
  };
}

/**
 * Stores the report in `ROOT/.drills` or the directory of the options, sealed, and the result as `ROOT/.state/…`, where
 * `backups list` and the console find it. In a root of encrypted sets, the report has no text that can name a realm. A directory
 * that cannot be written is a note.
 */
export async function keepReport(
  settings: Settings,
  result: DrillResult,
  options: Pick<DrillOptions, 'clock' | 'reporter' | 'reportDir' | 'passphrase'> & {
    withoutMessages: boolean;
  },
): Promise<DrillResult> {
  const { reporter, reportDir, passphrase } = options;
  const root = dirname(result.set);
  const isRoot = await isBackupRoot(root, settings);
  const kept = options.withoutMessages ? withoutTexts(result) : result;
  const parent = reportDir ?? (isRoot ? join(root, '.drills') : undefined);
  const report =
    parent === undefined
      ? undefined
      : await orNote(reporter, () =>
          storeReport(parent, reportDir === undefined ? kept : result, passphrase),
        );
  const stored = report === undefined ? {} : { report };
  if (!isRoot) return { ...result, ...stored };
  const { findings, milliseconds } = result;
  const ended = result.failure === undefined ? { findings } : { findings, failure: result.failure };
  await keepResult(root, ['drill'], { ...ended, set: basename(result.set), milliseconds }, options);
  const reportFile = await orNote(reporter, () => keepState(root, { ...kept, ...stored }));
  return { ...result, ...stored, ...(reportFile === undefined ? {} : { reportFile }) };
}

/** Writes the report of the set and that of the newest drill of its kind. */
async function keepState(root: string, result: DrillResult): Promise<string> {
  const state = join(root, '.state');
  const reportFile = join(state, `drill-${basename(result.set)}.json`);
  const text = `${JSON.stringify(toDocument(result), null, 2)}\n`;
  await writing(reportFile, async () => {
    await mkdir(state, { recursive: true, mode: 0o700 });
    replaceFile(reportFile, text);
    replaceFile(join(state, `newest-drill-${result.kind}.json`), text);
  });
  return reportFile;
}

/** Runs `work`. If a directory cannot be written, reports that in a note and returns undefined. */
async function orNote<T>(reporter: DrillOptions['reporter'], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    reporter.note(`the report could not be stored: ${error.message}`);
    return undefined;
  }
}
