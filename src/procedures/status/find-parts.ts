import { IdkitError } from '../../core/index.ts';
import type { PlatformPart, Runtime } from '../../runtime/index.ts';
import type { Finding } from '../reporter.ts';

/** What runs of a platform, as its engine tells. */
export interface FoundParts {
  baseUrl?: string;
  parts: readonly PlatformPart[];
  findings: readonly Finding[];
}

/** Restarts by the engine itself from which a part is told of: one may be the machine's own. */
const MANY_RESTARTS = 3;

/** Where the service answers and how each part is; an engine that does not tell is a finding, and nothing is known. */
export async function findParts(runtime: Runtime): Promise<FoundParts> {
  try {
    const baseUrl = await runtime.baseUrl();
    const parts = await runtime.listParts();
    return { ...(baseUrl === undefined ? {} : { baseUrl }), parts, findings: parts.flatMap(judgePart) };
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    return { parts: [], findings: [{ code: 'PARTS_UNKNOWN', message: error.message }] };
  }
}

function judgePart({ name, health, restarts, detail }: PlatformPart): readonly Finding[] {
  const findings: Finding[] = [];
  if (health === 'DOWN')
    findings.push({ code: 'PART_DOWN', message: `${name} is not up: ${detail ?? 'no reason is known'}` });
  if (restarts >= MANY_RESTARTS)
    findings.push({
      code: 'PART_RESTARTS',
      message: `${name} was started again ${restarts} times by the engine`,
    });
  return findings;
}
