import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { openPlatformService } from '../../platform/open.ts';
import type { Restore } from '../restore/work.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import { checkCanaries } from './check-canary.ts';
import { checkCredentials } from './check-credentials.ts';
import { checkKeys } from './check-keys.ts';
import { checkPlaceApart, type LiveView } from './live.ts';
import type { DrillSource } from './options.ts';

const TIMEOUT_MILLISECONDS = 30_000;
/** Most realms whose keys are compared, so that a thousand realms do not take minutes. */
const MOST_REALMS = 50;

/** Runs the checks that a drill adds to those of a restore. */
export async function examine(
  restore: Restore,
  live: Settings,
  view: LiveView,
): Promise<readonly SmokeCheck[]> {
  const { next, verified, options } = restore;
  const { signal, scratch } = options;
  await checkPlaceApart(view, next.platform, scratch ?? {});
  const baseUrl = options.withoutService === true ? undefined : await next.platform.service.baseUrl();
  const service =
    baseUrl === undefined ? undefined : { baseUrl, signal, timeoutMilliseconds: TIMEOUT_MILLISECONDS };
  const credentials = await checkCredentials(
    next.platform.database,
    verified.verdict.dump?.credentials ?? [],
    signal,
  );
  const canaries = await checkCanaries(service, live, next.settings, signal);
  const realms = verified.verdict.realms.map(({ realm }) => realm).slice(0, MOST_REALMS);
  const keys = service === undefined ? [] : await checkKeys(service, await findLiveUrl(live), realms);
  return [credentials, ...canaries, ...keys];
}

async function findLiveUrl(live: Settings): Promise<string | undefined> {
  try {
    return await (await openPlatformService(live)).baseUrl();
  } catch (error) {
    if (error instanceof IdkitError) return undefined;
    throw error;
  }
}

/** Describes the set that was restored. */
export function describeSource({ verified, set }: Restore): Omit<DrillSource, 'set' | 'root'> {
  const { manifest, dump, seal, bytes, realms } = verified.verdict;
  return {
    seal,
    bytes,
    ...(set.startedAt === undefined ? {} : { madeAt: new Date(set.startedAt).toISOString() }),
    ...(dump === undefined ? {} : { sqlBytes: dump.bytes }),
    ...(manifest === undefined
      ? {}
      : {
          idkitVersion: manifest.idkitVersion,
          service: `${manifest.service.kind} ${manifest.service.version}`,
          ...(manifest.database === undefined
            ? {}
            : { database: `${manifest.database.kind} ${manifest.database.version}` }),
        }),
    realms: realms.map(({ realm, users }) => (users === undefined ? { realm } : { realm, users })),
  };
}
