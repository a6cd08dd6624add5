import type { Settings } from '../config/index.ts';
import type { Component } from '../platform/index.ts';
import { openPlatformService, startSeconds } from '../platform/open.ts';
import { checkPlatform } from './platform.ts';
import { beginRun, type ProcedureOptions, type ProcedureResult, type StepDescription } from './run.ts';

export interface UpOptions extends ProcedureOptions {
  /** Timeout for all parts together, in seconds. Each part also has its own limit (`startSeconds`). */
  withinSeconds?: number;
}

/**
 * Starts every part of the platform in order and waits for each.
 *
 * @throws IDKIT_SETTING for an unsuitable compose.yaml, IDKIT_VERSION without an engine, IDKIT_UNREACHABLE,
 *   IDKIT_PORT_TAKEN, IDKIT_FAILED with the last log lines of the part that did not start; the others keep running
 */
export async function up(settings: Settings, options: UpOptions): Promise<PartsResult> {
  const began = performance.now();
  await checkPlatform(settings);
  const run = beginRun(UP_STEPS, options);
  const service = await openPlatformService(settings);
  const parts: Component[] = [];
  for (const { id } of UP_STEPS) {
    const started = await run.step(
      id,
      () =>
        service.startComponents(id, {
          signal: options.signal,
          timeoutSeconds: secondsLeft(settings, options, began),
          note: (message) => options.reporter.note(message),
        }),
      nameComponents,
    );
    parts.push(...started);
  }
  const baseUrl = await service.baseUrl();
  return {
    parts,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    milliseconds: Math.round(performance.now() - began),
    findings: run.findings,
  };
}

/** Returns the timeout for the next part in whole seconds, at least 1. */
function secondsLeft(settings: Settings, { withinSeconds }: UpOptions, began: number): number {
  const most = startSeconds(settings);
  if (withinSeconds === undefined) return most;
  const left = withinSeconds - (performance.now() - began) / 1000;
  return Math.min(most, Math.max(1, Math.floor(left)));
}

export function nameComponents(parts: readonly Component[]): string {
  return parts.length === 0 ? 'none' : parts.map(({ name }) => name).join(', ');
}

/**
 * Stops every part of the platform in order and removes the containers, but not their data. A stopped platform stays
 * stopped.
 *
 * @throws IDKIT_VERSION without an engine, IDKIT_UNREACHABLE, IDKIT_FAILED
 */
export async function down(settings: Settings, options: ProcedureOptions): Promise<PartsResult> {
  const began = performance.now();
  await checkPlatform(settings);
  const run = beginRun(DOWN_STEPS, options);
  const service = await openPlatformService(settings);
  const { signal } = options;
  const parts: Component[] = [];
  for (const { id } of DOWN_STEPS)
    parts.push(...(await run.step(id, () => service.stopComponents(id, { signal }), nameComponents)));
  await service.removeNetworks({ signal });
  return { parts, milliseconds: Math.round(performance.now() - began), findings: run.findings };
}

/** The order in which the parts of a platform start. */
export const UP_STEPS = [
  {
    id: 'database',
    title: 'Start the database and wait until it accepts connections',
    why: 'a service without its database only logs errors',
  },
  {
    id: 'service',
    title: 'Start the service and wait until it is ready',
    why: 'a proxy without a service responds with errors',
  },
  {
    id: 'proxy',
    title: 'Start the proxy and send the service a request through it',
    why: 'users reach the service only through the proxy',
  },
  {
    id: 'application',
    title: 'Start the applications and check the health of each one',
    why: 'applications need the service to log people in',
  },
] as const satisfies readonly StepDescription[];

/** The parts stop in reverse order, so that no request reaches a stopped part. */
export const DOWN_STEPS = [
  { id: 'application', title: 'Stop the applications', why: 'applications need all other parts' },
  { id: 'proxy', title: 'Stop the proxy', why: 'no new request arrives while the service finishes its work' },
  {
    id: 'service',
    title: 'Stop the service',
    why: 'it stores its last changes while the database is still running',
  },
  { id: 'database', title: 'Stop the database', why: 'it stops last, after every change has been stored' },
] as const satisfies readonly StepDescription[];

export interface PartsResult extends ProcedureResult {
  /** Every part after `up`, or the parts that ran before `down`. */
  parts: readonly Component[];
  /** The base URL of the service. Absent after `down`. */
  baseUrl?: string;
  milliseconds: number;
}
