import { X509Certificate } from 'node:crypto';
import type { AdminClient } from '../../client/index.ts';
import { IdkitError } from '../../core/index.ts';
import { findWildcards } from './find-wildcards.ts';
import type { StatusReport } from './report.ts';

type RealmStatus = StatusReport['realms'][number];

const DAY_MILLISECONDS = 86_400_000;

/** Users and signing keys with their ages, realm by realm. */
export async function describeRealms(admin: AdminClient, now: number): Promise<readonly RealmStatus[]> {
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

/** `GET …/keys` (facts §7); without the right to see them there are none to tell. */
async function listKeys(admin: AdminClient, realm: string, now: number): Promise<RealmStatus['keys']> {
  try {
    const { body } = await admin.call('GET', `/${encodeURIComponent(realm)}/keys`);
    const keys = (body as { keys?: readonly Record<string, unknown>[] } | undefined)?.keys ?? [];
    return keys
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

/** A key's certificate is made with it, and tells since when it is valid. Base64 of its DER form. */
function certificateStart(certificate: unknown): number | undefined {
  if (typeof certificate !== 'string' || certificate === '') return undefined;
  try {
    const { validFromDate } = new X509Certificate(Buffer.from(certificate, 'base64'));
    return validFromDate.getTime();
  } catch {
    return undefined;
  }
}
