import { setTimeout as wait } from 'node:timers/promises';
import { connectAdmin } from '../../client/index.ts';
import { IdkitError, renderCount } from '../../core/index.ts';
import type { Component, RealmCount } from '../../platform/index.ts';
import { checkInterrupted, countingSteps } from '../run.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import { smoke } from '../smoke/runbook.ts';
import { makeChecklist } from './checklist.ts';
import { compareCounts } from './load.ts';
import { startRest } from './services.ts';
import type { Proof, Restore } from './work.ts';

/** Timeout of one call in milliseconds. The first calls of a Keycloak that has just started are slow. */
const FIRST_CALL_TIMEOUT = 60_000;

/** Pause in milliseconds before a call is repeated. */
const BETWEEN_CALLS = 1000;

/**
 * Repeats a call that the service could not answer in time. A machine that is busy after the load of a large database
 * must not cause a rollback.
 */
async function patiently<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  const until = performance.now() + FIRST_CALL_TIMEOUT;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isLate = error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE';
      if (!isLate || performance.now() > until) throw error;
      await wait(BETWEEN_CALLS);
      checkInterrupted(signal);
    }
  }
}

/**
 * Compares realms and user counts of the restored service with the set, through the administrative API.
 *
 * @returns the counts in one line
 * @throws IDKIT_FAILED if they differ, IDKIT_CREDENTIALS if the service rejects the restored administrator
 */
export async function checkRealms({ next, journal, options, run }: Restore): Promise<string> {
  const { username, password } = next.settings.administrator;
  if (password === undefined)
    throw new IdkitError('IDKIT_CREDENTIALS', 'the restored .env has no IDKIT_ADMIN_PASSWORD');
  const baseUrl = await next.platform.service.baseUrl();
  if (baseUrl === undefined) throw new IdkitError('IDKIT_UNREACHABLE', 'the restored service has stopped');
  const admin = await connectAdmin({
    baseUrl,
    username,
    password,
    signal: options.signal,
    timeoutMilliseconds: FIRST_CALL_TIMEOUT,
  });
  try {
    const counts: RealmCount[] = [];
    const realms = await patiently(options.signal, () => admin.listRealms());
    for (const { realm } of realms) {
      counts.push({ realm, users: await patiently(options.signal, () => admin.countUsers(realm)) });
      run.progress('realms', 'items')(counts.length, realms.length);
    }
    const differences = compareCounts(journal.expectation, counts);
    if (differences.length > 0)
      throw new IdkitError(
        'IDKIT_FAILED',
        `the restored service differs from the set: ${differences.join('; ')}`,
      );
    return counts.map(({ realm, users }) => `${realm}: ${renderCount(users, 'user')}`).join(', ');
  } finally {
    await admin.logout().catch(() => undefined);
  }
}

/**
 * Starts the proxy and the applications. A part that does not come up is a finding, and the restored state stays.
 *
 * @returns the state of the parts in one line
 */
export async function startApplications({ next, run, options }: Restore): Promise<string> {
  const { signal } = options;
  let parts: readonly Component[] = [];
  try {
    parts = await startRest(next.platform, signal);
    for (const { name, detail } of parts.filter(({ health }) => health === 'DOWN'))
      run.finding('PART_DOWN', `${name} is not up: ${detail ?? 'the reason is unknown'}`);
  } catch (error) {
    checkInterrupted(signal);
    if (!(error instanceof IdkitError)) throw error;
    run.finding('PART_DOWN', error.message);
  }
  return makeChecklist(next.platform.info(), [], parts)
    .filter(({ id }) => id === 'proxy' || id === 'containers')
    .map(({ title, outcome, detail }) => `${title}: ${outcome}, ${detail}`)
    .join('; ');
}

/** Runs the smoke tests against the restored service. A failed check is a finding and never an exception. */
export async function runSmoke(restore: Restore): Promise<undefined> {
  const { next, run, journal, options } = restore;
  const { reporter, clock, random, signal } = options;
  let checks: readonly SmokeCheck[] = [];
  try {
    const result = await smoke(next.settings, {
      reporter: { ...countingSteps(reporter, run.progress('smoke', 'items')), finding: () => undefined },
      clock,
      random,
      signal,
      timeoutMilliseconds: FIRST_CALL_TIMEOUT,
      ...(journal.expectation.length === 0 ? {} : { expectation: journal.expectation }),
    });
    checks = result.checks;
    for (const { code, message } of result.findings) run.finding(code, message);
    if (result.failure !== undefined) run.finding('SMOKE_FAILED', result.failure.message);
  } catch (error) {
    checkInterrupted(signal);
    if (!(error instanceof IdkitError)) throw error;
    run.finding('SMOKE_FAILED', error.message);
  }
  const parts = await listParts(restore);
  checks = [...checks, ...(await examineFurther(restore))];
  restore.proof = { checks, checklist: makeChecklist(next.platform.info(), checks, parts) };
}

/** Runs the checks that only a drill makes. */
async function examineFurther(restore: Restore): Promise<readonly SmokeCheck[]> {
  const checks = (await restore.options.examine?.(restore)) ?? [];
  for (const { outcome, title, subject, detail } of checks)
    if (outcome === 'failed')
      restore.run.finding(
        'DRILL_CHECK_FAILED',
        `${title}${subject === undefined ? '' : ` (${subject})`}: ${detail}`,
      );
  return checks;
}

/** Returns the parts after all checks. If the engine does not list them, adds a finding and returns none. */
async function listParts({ next, run }: Restore): Promise<readonly Component[]> {
  try {
    return await next.platform.service.listComponents();
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    run.finding('PART_DOWN', error.message);
    return [];
  }
}

/** Returns the checklist of a restore without a service: the counts of the loaded database are its only evidence. */
export async function proveWithoutService(restore: Restore): Promise<Proof> {
  const { next, journal } = restore;
  const counted = journal.expectation.map(
    ({ realm, users }): SmokeCheck => ({
      id: 'user-count',
      title: 'the loaded database has as many users as the set',
      subject: realm,
      outcome: 'passed',
      detail: `${renderCount(users, 'user')} in the loaded database`,
      milliseconds: 0,
    }),
  );
  const why = 'the service was not started here';
  const checks = await examineFurther(restore);
  return { checks, checklist: makeChecklist(next.platform.info(), counted, [], why) };
}
