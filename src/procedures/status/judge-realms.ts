import { renderCount } from '../../core/index.ts';
import { quoteForShell } from '../schedule/quote.ts';
import { finding, type Judgement, warning } from './judge.ts';
import type { StatusReport } from './report.ts';

type RealmStatus = StatusReport['realms'][number];

const DAY = 86_400;
/** Age in days from which a signing key should be rotated. */
const KEY_DAYS = 365;
/** Number of days before the end of a key's certificate. */
const KEY_END_DAYS = 30;
/** Lifetime in seconds that is as good as none. */
const LONGEST_SESSION = 366 * DAY;

/** Judges keys, events, sessions, redirect URIs and demands. @param now Unix time in milliseconds */
export function judgeRealms(realms: readonly RealmStatus[], now: number): readonly Judgement[] {
  return realms.flatMap((realm) => [
    ...judgeKeys(realm, now),
    ...judgeGrowth(realm),
    ...judgeWildcards(realm),
    ...realm.unenforced.map((what) =>
      warning('NOT_ENFORCED', `realm ${realm.realm}: idkit does not enforce ${what}`),
    ),
  ]);
}

function judgeKeys({ realm, keys, keysUnknown }: RealmStatus, now: number): readonly Judgement[] {
  if (keysUnknown !== undefined)
    return [warning('KEYS_UNKNOWN', `realm ${realm}: the age of the keys is unknown: ${keysUnknown}`)];
  return keys.flatMap(({ kid, algorithm, ageDays, expiresAt }) => {
    const judgements: Judgement[] = [];
    const name = `realm ${realm}: the ${algorithm} key ${kid}`;
    const advice = `idkit admin key rotate --realm ${quoteForShell(realm)} --algorithm ${quoteForShell(algorithm)} replaces it`;
    if (ageDays !== undefined && ageDays > KEY_DAYS)
      judgements.push(
        finding(
          'KEY_NOT_ROTATED',
          `${name} is ${ageDays} days old, but the limit is ${KEY_DAYS} days; ${advice}`,
        ),
      );
    const left = expiresAt === undefined ? undefined : (Date.parse(expiresAt) - now) / 1000 / DAY;
    if (left !== undefined && left < KEY_END_DAYS)
      judgements.push(
        finding(
          'KEY_EXPIRES',
          `${name} has a certificate that ${left < 0 ? 'expired' : 'expires'} on ${expiresAt?.slice(0, 10)}; ${advice}`,
        ),
      );
    return judgements;
  });
}

/** Judges what grows without a limit. */
function judgeGrowth({ realm, lifetimes }: RealmStatus): readonly Judgement[] {
  if (lifetimes === undefined) return [];
  const { eventsForever, sessionSeconds, offlineSeconds } = lifetimes;
  const judgements = eventsForever.map((kind) =>
    finding(
      'EVENTS_KEPT_FOREVER',
      `realm ${realm} stores ${kind} that never expire, so the database grows; set their expiration in the realm settings`,
    ),
  );
  const sessions = [
    ['user sessions', sessionSeconds],
    ['offline sessions', offlineSeconds],
  ] as const;
  for (const [kind, seconds] of sessions)
    if (seconds > LONGEST_SESSION)
      judgements.push(
        finding(
          'SESSIONS_KEPT_LONG',
          `realm ${realm}: unused ${kind} stay for ${Math.round(seconds / DAY)} days, so the database grows; set a shorter idle timeout in the realm settings`,
        ),
      );
  return judgements;
}

/** Every page below a wildcard can receive a user's code. */
function judgeWildcards({ realm, wildcards }: RealmStatus): readonly Judgement[] {
  return wildcards.map(({ clientId, redirectUri }) =>
    warning(
      'REDIRECT_WILDCARD',
      `realm ${realm}: client ${clientId} accepts every address below ${redirectUri}; list each redirect URI instead`,
    ),
  );
}

/** Maximum share of the renewals in the last 5 minutes that may have failed. */
const ALERT_SHARE = 0.05;

/** Returns a finding for each realm above the limit. */
export function judgeRenewals(
  realms: readonly Pick<RealmStatus, 'realm' | 'renewals'>[],
): readonly Judgement[] {
  return realms.flatMap(({ realm, renewals }) => {
    const { good, failed } = renewals ?? { good: 0, failed: 0 };
    const all = good + failed;
    if (all === 0 || failed / all <= ALERT_SHARE) return [];
    const share = Math.round((100 * failed) / all);
    return [
      finding(
        'RENEWALS_FAILING',
        `realm ${realm}: ${failed} of ${renderCount(all, 'renewal')} failed in the last 5 minutes (${share} %, the limit is 5 %)`,
      ),
    ];
  });
}

/** Time in seconds for which expired records may be due. */
const OVERDUE_SECONDS = 1800;

/** Returns a finding for each kind of record that the service does not remove in time. */
export function judgeSweeps(overdue: ReadonlyMap<string, number>): readonly Judgement[] {
  return [...overdue].flatMap(([kind, seconds]) =>
    seconds <= OVERDUE_SECONDS
      ? []
      : [
          finding(
            'SWEEP_BEHIND',
            `expired ${kind} have been due for ${Math.round(seconds / 60)} min, but the limit is 30 min; the log of the service says why they are not removed`,
          ),
        ],
  );
}
