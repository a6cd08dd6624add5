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
  const sampled =
    restore.journal.moment === undefined ? (verified.verdict.dump?.credentials ?? []) : 'another moment';
  const credentials = await checkCredentials(next.platform.database, sampled, signal);
  const canaries = await checkCanaries(service, live, next.settings, signal);
  const realms = realmsOf(restore)
    .map(({ realm }) => realm)
    .slice(0, MOST_REALMS);
  const keys = service === undefined ? [] : await checkKeys(service, await findLiveUrl(live), realms);
  return [credentials, ...canaries, ...keys];
}

/** Returns the realms of the restored database. The set has those of another moment. */
function realmsOf({ verified, journal }: Restore): readonly { realm: string; users?: number | undefined }[] {
  return journal.moment === undefined ? verified.verdict.realms : journal.expectation;
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
export function describeSource(restore: Restore): Omit<DrillSource, 'set' | 'root' | 'moment'> {
  const { verified, set, journal } = restore;
  const { manifest, dump, seal, bytes } = verified.verdict;
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
    ...(journal.moment === undefined ? {} : { restoredTo: new Date(journal.moment.at).toISOString() }),
    realms: realmsOf(restore).map(({ realm, users }) => (users === undefined ? { realm } : { realm, users })),
  };
}
