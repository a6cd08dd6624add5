import type { Settings } from '../../config/index.ts';
import type { Platform, PlatformPart } from '../../platform/index.ts';
import { openPlatform, PART_ROLES, type PartRole, startSeconds } from '../../platform/open.ts';
import { type Journal, putJournal } from './journal.ts';
import { stagingDirectory } from './replace-files.ts';
import { loadSettingsAfter } from './settings-after.ts';
import type { StagedRestore } from './work.ts';

/** What must not run while the database is replaced, in the order in which it stops. Applications go on. */
const STOPPED: readonly PartRole[] = ['proxy', 'service'];

/**
 * Stops the service and the proxy, and starts the database alone (spec step 3). `note` hears the journal as it is
 * after each change. A platform without parts has nothing to stop or start.
 */
export async function makeRoomForRestore(
  staged: StagedRestore,
  note: (journal: Journal) => void,
): Promise<void> {
  const { job, next } = staged;
  const { signal } = job.options;
  let { journal } = staged;
  const put = async (change: Partial<Journal>): Promise<void> => {
    journal = { ...journal, ...change };
    await putJournal(job.dataDir, journal);
    note(journal);
  };
  const definition = stagingDirectory({ dir: job.settings.dir, id: journal.id });
  const running = (await next.runtime.listParts({ definition })).filter(
    ({ role, state }) => STOPPED.includes(role) && state === 'running',
  );
  if (running.length > 0) await put({ ran: true });
  for (const role of STOPPED) await next.runtime.stopParts(role, { signal });
  await startDatabase(next.runtime, staged.job.settings.dir, journal.id, signal);
  await put({ touched: true });
}

/** Starts the database alone, by the definition that the restore staged where none is in its place yet. */
export async function startDatabase(
  runtime: Platform,
  dir: string,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  await runtime.startParts('database', {
    signal,
    timeoutSeconds: startSeconds(runtime.describe()),
    definition: stagingDirectory({ dir, id }),
  });
}

/** Removes every part that a restore started by a definition that is gone again; what the database keeps stays. */
export async function removeStarted(runtime: Platform): Promise<void> {
  const { signal } = new AbortController();
  for (const role of PART_ROLES.toReversed()) await runtime.stopParts(role, { signal });
  await runtime.removeParts({ signal });
}

/** Stops what runs on the restored state, so that it can be taken back. */
export async function stopRestored(runtime: Platform): Promise<void> {
  const { signal } = new AbortController();
  for (const role of STOPPED) await runtime.stopParts(role, { signal });
}

/** Starts the service on the restored state and waits for it (spec step 5). Left to its operator, it is a finding. */
export async function startRestored({
  job,
  next,
}: StagedRestore): Promise<'started' | 'left to its operator'> {
  if (job.options.withoutService === true) {
    job.options.reporter.note(
      'Keycloak itself is not started here: its database was loaded, checked, counted and put in place',
    );
    return 'left to its operator';
  }
  if ((await next.runtime.canStart?.()) === false) {
    job.run.finding(
      'SERVICE_NOT_STARTED',
      'the restored state is in place, and only its operator can start the service: start it, then run idkit smoke',
    );
    return 'left to its operator';
  }
  const { signal } = job.options;
  await next.runtime.start(signal);
  await next.runtime.waitUntilReady(startSeconds(next.settings), signal);
  return 'started';
}

/** Starts again what ran before the restore, by the files that are back in their places. */
export async function startAgain(settings: Settings, env: NodeJS.ProcessEnv): Promise<void> {
  const { signal } = new AbortController();
  const runtime = await openPlatform(await loadSettingsAfter(settings, {}, env));
  for (const role of STOPPED.toReversed())
    await runtime.startParts(role, { signal, timeoutSeconds: startSeconds(runtime.describe()) });
}

/** Starts the proxy, then the applications, and looks at all parts (spec step 7). */
export async function startRest(runtime: Platform, signal: AbortSignal): Promise<readonly PlatformPart[]> {
  for (const role of ['proxy', 'application'] as const)
    await runtime.startParts(role, { signal, timeoutSeconds: startSeconds(runtime.describe()) });
  return runtime.listParts();
}
