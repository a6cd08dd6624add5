import { X509Certificate } from 'node:crypto';
import type { AdminClient, RealmRecord } from '../../client/index.ts';
import { IdkitError, isJsonObject, jsonFields } from '../../core/index.ts';
import { findWildcards } from './find-wildcards.ts';
import type { StatusReport } from './report.ts';

type RealmStatus = StatusReport['realms'][number];

const DAY_MILLISECONDS = 86_400_000;

/** Reads the users, keys, lifetimes, sessions and redirect URIs of each realm. */
export async function readRealms(
  admin: AdminClient,
  now: number,
  options: { countSessions: boolean },
): Promise<readonly RealmStatus[]> {
  const realms: RealmStatus[] = [];
  for (const record of await admin.listRealms()) {
    const sessions = options.countSessions ? await countSessions(admin, record.realm) : undefined;
    realms.push({
      realm: record.realm,
      users: await admin.countUsers(record.realm),
      ...(await listKeys(admin, record.realm, now)),
      lifetimes: lifetimesOf(record),
      ...(sessions === undefined ? {} : { clientSessions: sessions }),
      wildcards: await findWildcards(admin, record.realm),
      unenforced: [],
    });
  }
  return realms;
}

/** Calls `GET …/keys`. `keysUnknown` says why they are unknown, for example because of a missing role. */
async function listKeys(
  admin: AdminClient,
  realm: string,
  now: number,
): Promise<Pick<RealmStatus, 'keys' | 'keysUnknown'>> {
  try {
    const { body } = await admin.call('GET', `/${encodeURIComponent(realm)}/keys`);
    const { keys } = jsonFields(body);
    if (!Array.isArray(keys)) return { keys: [], keysUnknown: 'the response of the service has no keys' };
    return {
      keys: keys
        .filter(isJsonObject)
        .filter(({ use, status }) => use === 'SIG' && status === 'ACTIVE')
        .map((key) => ({
          kid: String(key['kid'] ?? ''),
          algorithm: String(key['algorithm'] ?? ''),
          status: String(key['status'] ?? ''),
          ...datesOf(key['certificate'], now),
        })),
    };
  } catch (error) {
    if (error instanceof IdkitError) return { keys: [], keysUnknown: error.message };
    throw error;
  }
}

/**
 * Returns the age and the end of a key's certificate. Its start shows the age of the key. The input is the certificate
 * in DER, encoded in Base64.
 */
function datesOf(certificate: unknown, now: number): { ageDays?: number; expiresAt?: string } {
  if (typeof certificate !== 'string' || certificate === '') return {};
  try {
    const { validFromDate, validToDate } = new X509Certificate(Buffer.from(certificate, 'base64'));
    return {
      ageDays: Math.floor((now - validFromDate.getTime()) / DAY_MILLISECONDS),
      expiresAt: validToDate.toISOString(),
    };
  } catch {
    return {};
  }
}

/** Reads from a realm representation what decides how long events and sessions stay. */
export function lifetimesOf(record: RealmRecord): NonNullable<RealmStatus['lifetimes']> {
  const attributes = jsonFields(record['attributes']);
  const number = (value: unknown) => Number(value ?? 0) || 0;
  const eventsForever = [
    ...(record['eventsEnabled'] === true && number(record['eventsExpiration']) <= 0 ? ['user events'] : []),
    ...(record['adminEventsEnabled'] === true && number(attributes['adminEventsExpiration']) <= 0
      ? ['administrative events']
      : []),
  ];
  const idle = [record['ssoSessionIdleTimeout'], record['ssoSessionIdleTimeoutRememberMe']].map(number);
  const most = [record['ssoSessionMaxLifespan'], record['ssoSessionMaxLifespanRememberMe']].map(number);
  const offline = number(record['offlineSessionIdleTimeout']);
  const offlineMost =
    record['offlineSessionMaxLifespanEnabled'] === true
      ? number(record['offlineSessionMaxLifespan'])
      : Number.POSITIVE_INFINITY;
  return {
    eventsForever,
    sessionSeconds: Math.min(Math.max(...idle), Math.max(...most)),
    offlineSeconds: Math.min(offline, offlineMost),
  };
}

/** Adds up the client sessions of a realm. Returns undefined if the service does not count them. */
async function countSessions(
  admin: AdminClient,
  realm: string,
): Promise<{ active: number; offline: number } | undefined> {
  try {
    const { body } = await admin.call('GET', `/${encodeURIComponent(realm)}/client-session-stats`);
    if (!Array.isArray(body)) return undefined;
    const sum = (field: string) =>
      body.filter(isJsonObject).reduce((all, row) => all + (Number(row[field]) || 0), 0);
    return { active: sum('active'), offline: sum('offline') };
  } catch (error) {
    if (error instanceof IdkitError) return undefined;
    throw error;
  }
}
