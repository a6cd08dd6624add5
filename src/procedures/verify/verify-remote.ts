import { rm } from 'node:fs/promises';
import type { Settings } from '../../config/index.ts';
import { renderCount } from '../../core/index.ts';
import { fetchRemoteRoot } from '../mirror/remote-set.ts';
import type { Finding } from '../run.ts';
import type { SetVerdict, VerifyOptions, VerifyResult } from './options.ts';
import { verify } from './runbook.ts';
import { worstFault } from './verdict.ts';

/** Downloads and verifies every set of a target, one after the other, so that only one needs space on the disk. */
export async function verifyRemoteRoot(
  settings: Settings,
  location: string,
  { maxAgeSeconds, ...options }: VerifyOptions,
): Promise<VerifyResult> {
  const sets: SetVerdict[] = [];
  const findings: Finding[] = [];
  let newest: Pick<VerifyResult, 'findings'> | undefined;
  for await (const { dir } of fetchRemoteRoot(location, 'all', options)) {
    const result = await verify(settings, { ...options, set: dir });
    sets.push(...result.sets);
    newest = result;
    findings.push(...result.findings);
    await rm(dir, { recursive: true, force: true });
  }
  const age = sets.at(-1)?.ageSeconds;
  if (newest === undefined)
    findings.push({ code: 'BACKUP_MISSING', message: `${location} has no backup set that can be restored` });
  else if (maxAgeSeconds !== undefined && age !== undefined && age > maxAgeSeconds)
    findings.push({
      code: 'BACKUP_TOO_OLD',
      message: `the newest set of ${location} is older than --max-age`,
    });
  const failure = worstFault(sets);
  const good = sets.filter(({ verdict }) => verdict === 'good').length;
  return {
    sets,
    verdict: `${good} of ${renderCount(sets.length, 'set')} good: ${location}`,
    findings,
    ...(failure === undefined ? {} : { failure }),
  };
}
