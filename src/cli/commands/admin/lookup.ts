import type { AdminClient } from '../../../client/index.ts';
import { IdkitError } from '../../../core/index.ts';

/** A record as the administrative API returned it. Its fields are not checked. */
export type ApiRecord = Readonly<Record<string, unknown>>;

/** Checks that the body of a response is a list. @throws IDKIT_FAILED */
export function asRecords(body: unknown, what: string): readonly ApiRecord[] {
  if (Array.isArray(body)) return body as ApiRecord[];
  throw new IdkitError('IDKIT_FAILED', `the response of the service is not a list of ${what}`);
}

/** Builds a path below `/admin/realms` and encodes each segment. */
export function apiPath(...segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

/** @throws IDKIT_NOT_FOUND */
export async function getUser(admin: AdminClient, realm: string, username: string): Promise<ApiRecord> {
  const query = new URLSearchParams({ username, exact: 'true' });
  const { body } = await admin.call('GET', `${apiPath(realm, 'users')}?${query}`);
  const found = asRecords(body, 'users').find(
    (user) => String(user['username']).toLowerCase() === username.toLowerCase(),
  );
  if (found !== undefined) return found;
  throw new IdkitError('IDKIT_NOT_FOUND', `realm ${realm} has no user ${username}`);
}

/** @throws IDKIT_NOT_FOUND */
export async function getClient(admin: AdminClient, realm: string, clientId: string): Promise<ApiRecord> {
  const query = new URLSearchParams({ clientId });
  const { body } = await admin.call('GET', `${apiPath(realm, 'clients')}?${query}`);
  const found = asRecords(body, 'clients').find((client) => client['clientId'] === clientId);
  if (found !== undefined) return found;
  throw new IdkitError('IDKIT_NOT_FOUND', `realm ${realm} has no client ${clientId}`);
}

/** Number of users in one request. */
const PAGE = 1_000;

/** Returns all users, or the first `limit`. Requests one page at a time. */
export async function listUsers(
  admin: AdminClient,
  realm: string,
  options: { search?: string; limit?: number } = {},
): Promise<readonly ApiRecord[]> {
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const users: ApiRecord[] = [];
  while (users.length < limit) {
    const max = Math.min(PAGE, limit - users.length);
    const query = new URLSearchParams({ first: String(users.length), max: String(max) });
    if (options.search !== undefined) query.set('search', options.search);
    const { body } = await admin.call('GET', `${apiPath(realm, 'users')}?${query}`);
    const page = asRecords(body, 'users');
    users.push(...page);
    if (page.length < max) break;
  }
  return users;
}
