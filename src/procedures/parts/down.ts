import type { Settings } from '../../config/index.ts';
import type { PlatformPart } from '../../runtime/index.ts';
import { openServiceHalf } from '../../runtime/open.ts';
import { checkPlatform } from '../platform.ts';
import { beginRun, type ProcedureOptions } from '../runbook.ts';
import type { PartsResult } from './contract.ts';
import { DOWN_STEPS } from './steps.ts';
import { nameParts } from './up.ts';

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
  const half = await openServiceHalf(settings);
  const { signal } = options;
  const parts: PlatformPart[] = [];
  for (const { id } of DOWN_STEPS)
    parts.push(...(await run.step(id, () => half.stopParts(id, { signal }), nameParts)));
  await half.removeParts({ signal });
  return { parts, milliseconds: Math.round(performance.now() - began), findings: run.findings };
}
