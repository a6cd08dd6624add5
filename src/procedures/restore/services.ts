import type { Settings } from '../../config/index.ts';
import type { Component, Platform } from '../../platform/index.ts';
import { COMPONENT_ROLES, type ComponentRole, openPlatform, startSeconds } from '../../platform/open.ts';
import { stagingDirectory } from './files-in-place.ts';
import { loadSettingsAfter } from './settings-after.ts';
import { type Restore, record } from './work.ts';

/**
 * Roles that must be stopped while the database is being replaced, in the order in which they stop. Applications keep
 * running.
 */
const STOPPED: readonly ComponentRole[] = ['proxy', 'service'];

/** Stops the proxy and the service, and starts only the database. Does nothing on a platform that has no containers. */
export async function stopServices(restore: Restore): Promise<void> {
  const { settings, next, journal, options } = restore;
  const { signal } = options;
  const definition = stagingDirectory({ dir: settings.dir, id: journal.id });
  const running = (await next.platform.service.listComponents({ definition })).filter(
    ({ role, state }) => STOPPED.includes(role) && state === 'running',
  );
  if (running.length > 0) await record(restore, { ran: true });
  for (const role of STOPPED) await next.platform.service.stopComponents(role, { signal });
  await startDatabase(next.platform, settings.dir, journal.id, signal);
  await record(restore, { touched: true });
}

/** Starts only the database. Without a definition in the platform directory, uses the staged definition. */
export async function startDatabase(
  platform: Platform,
  dir: string,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  await platform.service.startComponents('database', {
    signal,
    timeoutSeconds: startSeconds(platform.info()),
    definition: stagingDirectory({ dir, id }),
  });
}

/** Removes every part that a restore started from a definition that no longer exists. The database keeps its data. */
export async function removeStarted(platform: Platform): Promise<void> {
  const { signal } = new AbortController();
  for (const role of COMPONENT_ROLES.toReversed()) await platform.service.stopComponents(role, { signal });
  await platform.service.removeNetworks({ signal });
}

/** Stops the proxy and the service of the restored state before a rollback. */
export async function stopRestored(platform: Platform): Promise<void> {
  const { signal } = new AbortController();
  for (const role of STOPPED) await platform.service.stopComponents(role, { signal });
}

/** Starts the service and waits until it is ready. If only the operator can start it, adds a finding instead. */
export async function startRestored(restore: Restore): Promise<undefined> {
  const { options, next, run } = restore;
  if (options.withoutService === true) {
    options.reporter.note(
      'Keycloak itself is not started here: its database was loaded, checked and put in place, and its users were counted',
    );
    return;
  }
  if ((await next.platform.service.canStart()) === false) {
    run.finding(
      'SERVICE_NOT_STARTED',
      'the restored state is in place, but only the operator can start the service; start it, then run idkit smoke',
    );
    return;
  }
  await next.platform.service.start(options.signal);
  await next.platform.service.waitUntilReady(startSeconds(next.settings), options.signal);
  restore.isServing = true;
}

/** Starts the proxy and the service again after a rollback, with the previous files. */
export async function startAgain(settings: Settings, env: NodeJS.ProcessEnv): Promise<void> {
  const { signal } = new AbortController();
  const platform = await openPlatform(await loadSettingsAfter(settings, {}, env));
  for (const role of STOPPED.toReversed())
    await platform.service.startComponents(role, { signal, timeoutSeconds: startSeconds(platform.info()) });
}

/** Starts the proxy, then the applications, and returns the state of every part. */
export async function startRest(platform: Platform, signal: AbortSignal): Promise<readonly Component[]> {
  for (const role of ['proxy', 'application'] as const)
    await platform.service.startComponents(role, { signal, timeoutSeconds: startSeconds(platform.info()) });
  return platform.service.listComponents();
}
