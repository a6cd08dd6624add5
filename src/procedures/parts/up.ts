import type { Settings } from '../../config/index.ts';
import type { PlatformPart } from '../../runtime/index.ts';
import { openServiceHalf, startSeconds } from '../../runtime/open.ts';
import { checkPlatform } from '../platform.ts';
import { beginRun, type ProcedureOptions } from '../runbook.ts';
import type { PartsResult } from './contract.ts';
import { UP_STEPS } from './steps.ts';

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
  const half = await openServiceHalf(settings);
  const parts: PlatformPart[] = [];
  for (const { id } of UP_STEPS) {
    const started = await run.step(
      id,
      () =>
        half.startParts(id, {
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
export function nameParts(parts: readonly PlatformPart[]): string {
  return parts.length === 0 ? 'none' : parts.map(({ name }) => name).join(', ');
}
