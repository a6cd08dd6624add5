import { writeConfigArchive } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import { findEntry } from '../durable.ts';
import { checkInterrupted, withoutSteps } from '../runbook.ts';
import type { SmokeCheck } from '../smoke/contract.ts';
import { smoke } from '../smoke/runbook.ts';
import { makeChecklist } from './checklist.ts';
import type { ChecklistRow } from './contract.ts';
import type { StagedRestore } from './job.ts';
import { putJournal } from './journal.ts';
import { discardOldState } from './kept-state.ts';
import { keptAside } from './replace-files.ts';

/** Seconds that a service may take to start (spec "Limits": about 30-60 seconds). */
export const START_SECONDS = 120;

/** What the late checks told. */
export interface Proof {
  checks: readonly SmokeCheck[];
  checklist: readonly ChecklistRow[];
}

/** What the platform is made of beyond the service, in one line (spec step 7). */
export function describeParts(staged: StagedRestore): string {
  const rows = makeChecklist(staged.next.runtime.describe(), []);
  const absent = rows.filter(({ id }) => id === 'proxy' || id === 'containers');
  return absent.map(({ title, detail }) => `${title}: does not apply, ${detail}`).join('; ');
}

/** Runs the smoke tests against the restored service (spec step 8). A red check is a finding, never an exception. */
export async function runSmoke(staged: StagedRestore): Promise<Proof> {
  const { job, next } = staged;
  const { reporter, clock, random, signal } = job.options;
  let checks: readonly SmokeCheck[] = [];
  try {
    const result = await smoke(next.settings, {
      reporter: { ...withoutSteps(reporter), finding: () => undefined },
      clock,
      random,
      signal,
      ...(job.expectation.length === 0 ? {} : { expectation: job.expectation }),
    });
    checks = result.checks;
    for (const { code, message } of result.findings) job.run.finding(code, message);
    if (result.failure !== undefined) job.run.finding('SMOKE_FAILED', result.failure.message);
  } catch (error) {
    checkInterrupted(signal);
    if (!(error instanceof IdkitError)) throw error;
    job.run.finding('SMOKE_FAILED', error.message);
  }
  return { checks, checklist: makeChecklist(next.runtime.describe(), checks) };
}

/**
 * Stops the service and ends the restore: green, what was kept aside goes; red, it stays until `--abort` or the next
 * good backup. Gives the paths that stay.
 */
export async function finishRestore(staged: StagedRestore): Promise<readonly string[]> {
  const { job, next, journal } = staged;
  const { dataDir, settings, run } = job;
  await next.runtime.stop();
  const places = { dir: settings.dir, id: job.id };
  const asides = journal.items.filter(({ had }) => had).map(({ name }) => keptAside(places, name));
  if (run.findings.length > 0) {
    await putJournal(dataDir, { ...journal, state: 'kept', step: 'finish' });
    return asides;
  }
  const config = keptAside(places, 'config');
  const stays = await holdsMoreThanBackup(config, job.options.signal);
  const undoable = { dir: settings.dir, dataDir, journal, runtime: next.runtime };
  try {
    await discardOldState(undoable, stays ? ['config'] : []);
  } catch (error) {
    checkInterrupted(job.options.signal);
    const why = error instanceof Error ? error.message : String(error);
    run.finding('CLEANUP_FAILED', `what was kept aside could not be removed: ${why}`);
    return asides;
  }
  if (!stays) return [];
  job.options.reporter.note(`${config} stays: it holds files that no backup holds`);
  return [config];
}

/** The old configuration folder holds something that backup leaves out, so that only it has it. */
async function holdsMoreThanBackup(configDir: string, signal: AbortSignal): Promise<boolean> {
  if ((await findEntry(configDir))?.isDirectory() !== true) return false;
  const report = await writeConfigArchive({ configDir }, async () => undefined, { signal });
  return report.leftOut.length > 0;
}
