import { X509Certificate } from 'node:crypto';
import type { AdminClient } from '../../client/index.ts';
import { IdkitError, isJsonObject } from '../../core/index.ts';
import { findWildcards } from './find-wildcards.ts';
import type { StatusReport } from './report.ts';

type RealmStatus = StatusReport['realms'][number];

const DAY_MILLISECONDS = 86_400_000;

/** Reads the users, keys and redirect URIs of each realm. */
export async function readRealms(admin: AdminClient, now: number): Promise<readonly RealmStatus[]> {
  const realms: RealmStatus[] = [];
  for (const record of await admin.listRealms()) {
    realms.push({
      realm: record.realm,
      users: await admin.countUsers(record.realm),
      keys: await listKeys(admin, record.realm, now),
      wildcards: await findWildcards(admin, record.realm),
      unenforced: [],
    });
  }
  return realms;
}

/** Calls `GET …/keys`. Returns no keys if the administrator may not see them. */
async function listKeys(admin: AdminClient, realm: string, now: number): Promise<RealmStatus['keys']> {
  try {
    const { body } = await admin.call('GET', `/${encodeURIComponent(realm)}/keys`);
    const keys = isJsonObject(body) && Array.isArray(body['keys']) ? body['keys'] : [];
    return keys
      .filter(isJsonObject)
      .filter(({ use, status }) => use === 'SIG' && status === 'ACTIVE')
      .map((key) => {
        const created = certificateStart(key['certificate']);
        return {
          kid: String(key['kid'] ?? ''),
          algorithm: String(key['algorithm'] ?? ''),
          status: String(key['status'] ?? ''),
          ...(created === undefined ? {} : { ageDays: Math.floor((now - created) / DAY_MILLISECONDS) }),
        };
      });
  } catch (error) {
    if (error instanceof IdkitError) return [];
    throw error;
  }
}

/**
 * Returns the time from which a key's certificate is valid, which shows the age of the key. The input is the
 * certificate in DER, encoded in Base64.
 */
function certificateStart(certificate: unknown): number | undefined {
  if (typeof certificate !== 'string' || certificate === '') return undefined;
  try {
    const { validFromDate } = new X509Certificate(Buffer.from(certificate, 'base64'));
    return validFromDate.getTime();
  } catch {
    return undefined;
  }
}
