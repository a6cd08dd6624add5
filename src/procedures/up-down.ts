import type { Settings } from '../config/index.ts';
import type { Component } from '../platform/index.ts';
import { openPlatformService, startSeconds } from '../platform/open.ts';
import { checkPlatform } from './platform.ts';
import { beginRun, type ProcedureOptions, type ProcedureResult, type StepDescription } from './run.ts';

export interface UpOptions extends ProcedureOptions {
  /** Seconds that all parts together may take; each has a limit of its own (`startSeconds`). */
  withinSeconds?: number;
}

/**
 * Starts every part of the platform in order and waits for each.
 *
 * @throws IDKIT_SETTING where compose.yaml does not fit, IDKIT_VERSION without an engine, IDKIT_UNREACHABLE,
 *   IDKIT_PORT_TAKEN, IDKIT_FAILED with the last log lines of the part that did not come up; those that did go on
 */
export async function up(settings: Settings, options: UpOptions): Promise<PartsResult> {
  const began = performance.now();
  await checkPlatform(settings);
  const run = beginRun(UP_STEPS, options);
  const half = await openPlatformService(settings);
  const parts: Component[] = [];
  for (const { id } of UP_STEPS) {
    const started = await run.step(
      id,
      () =>
        half.startComponents(id, {
          signal: options.signal,
          timeoutSeconds: secondsLeft(settings, options, began),
          note: (message) => options.reporter.note(message),
        }),
      nameParts,
    );
    parts.push(...started);
  }
  const baseUrl = await half.baseUrl();
  return {
    parts,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    milliseconds: Math.round(performance.now() - began),
    findings: run.findings,
  };
}

/** Whole seconds, so that messages are short; 1 at least. */
function secondsLeft(settings: Settings, { withinSeconds }: UpOptions, began: number): number {
  const most = startSeconds(settings);
  if (withinSeconds === undefined) return most;
  const left = withinSeconds - (performance.now() - began) / 1000;
  return Math.min(most, Math.max(1, Math.floor(left)));
}

/** The names of parts for one line. */
export function nameParts(parts: readonly Component[]): string {
  return parts.length === 0 ? 'none' : parts.map(({ name }) => name).join(', ');
}

/**
 * Stops every part of the platform in order and removes the containers; their data stays. A platform that stands
 * still stays so.
 *
 * @throws IDKIT_VERSION without an engine, IDKIT_UNREACHABLE, IDKIT_FAILED
 */
export async function down(settings: Settings, options: ProcedureOptions): Promise<PartsResult> {
  const began = performance.now();
  await checkPlatform(settings);
  const run = beginRun(DOWN_STEPS, options);
  const half = await openPlatformService(settings);
  const { signal } = options;
  const parts: Component[] = [];
  for (const { id } of DOWN_STEPS)
    parts.push(...(await run.step(id, () => half.stopComponents(id, { signal }), nameParts)));
  await half.removeNetworks({ signal });
  return { parts, milliseconds: Math.round(performance.now() - began), findings: run.findings };
}

/** The order in which a platform's parts start (spec "Restore procedure" steps 3, 5 and 7). */
export const UP_STEPS = [
  {
    id: 'database',
    title: 'Start the database and wait until it accepts connections',
    why: 'a service without its database only fills its log with errors',
  },
  {
    id: 'service',
    title: 'Start the service and wait until it is ready',
    why: 'a proxy that leads nowhere answers people with errors',
  },
  {
    id: 'proxy',
    title: 'Start the proxy and ask the service through it',
    why: 'people come through the proxy alone',
  },
  {
    id: 'application',
    title: 'Start the applications and ask each for its health',
    why: 'applications need the service to log people in',
  },
] as const satisfies readonly StepDescription[];

/** The opposite order: nobody is led to a part that is gone. */
export const DOWN_STEPS = [
  { id: 'application', title: 'Stop the applications', why: 'they need everything else' },
  { id: 'proxy', title: 'Stop the proxy', why: 'nobody new comes in while the service ends its work' },
  { id: 'service', title: 'Stop the service', why: 'what it has answered must be in the database' },
  { id: 'database', title: 'Stop the database', why: 'it ends last, with everything written' },
] as const satisfies readonly StepDescription[];

/** What `up` or `down` found at its end. */
export interface PartsResult extends ProcedureResult {
  /** Up: every part as it is now. Down: those that ran. */
  parts: readonly Component[];
  /** Where the service answers now; absent after `down`. */
  baseUrl?: string;
  milliseconds: number;
}
