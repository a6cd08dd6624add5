import { writeConfigArchive } from '../../backupset/index.ts';
import { connectAdmin } from '../../client/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { PlatformPart, RealmCount } from '../../platform/index.ts';
import { findEntry } from '../durable.ts';
import { checkInterrupted, withoutSteps } from '../run.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import { smoke } from '../smoke/runbook.ts';
import { makeChecklist } from './checklist.ts';
import { putJournal } from './journal.ts';
import { compareCounts } from './load.ts';
import { discardOldState } from './old-state.ts';
import type { ChecklistRow } from './options.ts';
import { discardStaging, keptAside } from './replace-files.ts';
import { startRest } from './services.ts';
import type { StagedRestore } from './work.ts';

/** What the late checks told. */
export interface Proof {
  checks: readonly SmokeCheck[];
  checklist: readonly ChecklistRow[];
}

/**
 * Starts the proxy and the applications (spec step 7) and tells of all parts in one line. What does not come up is a
 * finding: the restored state stays.
 */
export async function proveParts(staged: StagedRestore): Promise<string> {
  const { job, next } = staged;
  const { signal } = job.options;
  let parts: readonly PlatformPart[] = [];
  try {
    parts = await startRest(next.runtime, signal);
    for (const { name, detail } of parts.filter(({ health }) => health === 'DOWN'))
      job.run.finding('PART_DOWN', `${name} is not up: ${detail ?? 'no reason is known'}`);
  } catch (error) {
    checkInterrupted(signal);
    if (!(error instanceof IdkitError)) throw error;
    job.run.finding('PART_DOWN', error.message);
  }
  const rows = makeChecklist(next.runtime.describe(), [], parts);
  return rows
    .filter(({ id }) => id === 'proxy' || id === 'containers')
    .map(({ title, outcome, detail }) => `${title}: ${outcome}, ${detail}`)
    .join('; ');
}

/** What is told where nothing serves: what was counted in the loaded database, and why nothing else applies. */
export function proveNothing({ job, next }: StagedRestore): Proof {
  const counted = job.expectation.map(
    ({ realm, users }): SmokeCheck => ({
      id: 'user-count',
      title: 'the loaded database holds as many users as the set',
      subject: realm,
      outcome: 'passed',
      detail: `${users} users in the loaded database`,
      milliseconds: 0,
    }),
  );
  const why = 'the service was not started here';
  return { checks: [], checklist: makeChecklist(next.runtime.describe(), counted, [], why) };
}

/** The parts as they are when all checks are done; none where they cannot be looked at. */
async function findParts(staged: StagedRestore): Promise<readonly PlatformPart[]> {
  try {
    return await staged.next.runtime.listParts();
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    staged.job.run.finding('PART_DOWN', error.message);
    return [];
  }
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
      timeoutMilliseconds: FIRST_CALLS,
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
  return { checks, checklist: makeChecklist(next.runtime.describe(), checks, await findParts(staged)) };
}

/**
 * Stops the service that this process holds and ends the restore: green, what was kept aside goes; red, it stays until `--abort` or the next
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
    await discardStaging(places);
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

/** Milliseconds for one call: a Keycloak that has just started takes its time for the first ones. */
const FIRST_CALLS = 60_000;

/**
 * Realms and user counts as the administrative API of the restored service tells them (spec step 6).
 *
 * @throws IDKIT_FAILED where they differ from the set, IDKIT_CREDENTIALS where the restored administrator is refused
 */
export async function checkRealms(staged: StagedRestore): Promise<readonly RealmCount[]> {
  const { job, next } = staged;
  const { username, password } = next.settings.administrator;
  if (password === undefined) {
    throw new IdkitError('IDKIT_CREDENTIALS', 'the restored .env holds no IDKIT_ADMIN_PASSWORD');
  }
  const baseUrl = await next.runtime.baseUrl();
  if (baseUrl === undefined) throw new IdkitError('IDKIT_UNREACHABLE', 'the restored service has ended');
  const { signal } = job.options;
  const timeoutMilliseconds = FIRST_CALLS;
  const admin = await connectAdmin({ baseUrl, username, password, signal, timeoutMilliseconds });
  try {
    const counts: RealmCount[] = [];
    for (const { realm } of await admin.listRealms()) {
      counts.push({ realm, users: await admin.countUsers(realm) });
    }
    const differences = compareCounts(job.expectation, counts);
    if (differences.length === 0) return counts;
    throw new IdkitError(
      'IDKIT_FAILED',
      `the restored service differs from the set: ${differences.join('; ')}`,
    );
  } finally {
    await admin.logout().catch(() => undefined);
  }
}
