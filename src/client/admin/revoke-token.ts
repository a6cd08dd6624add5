import { IdkitError, type Secret } from '../../core/index.ts';
import { callService, pathSegment } from './call-service.ts';

/** A token and the client that it belongs to. */
export interface Revocation {
  /** Without a trailing slash. */
  baseUrl: string;
  realm: string;
  clientId: string;
  /** Absent for a public client, which authenticates with an empty secret. */
  clientSecret?: Secret;
  /** A refresh token or an access token. */
  token: Secret;
  signal?: AbortSignal;
}

/**
 * Revokes one token (RFC 7009 §2.1). An unknown token counts as revoked (§2.2).
 *
 * @throws IDKIT_UNREACHABLE; IDKIT_CREDENTIALS if the service rejects the client; IDKIT_FAILED
 */
export async function revokeToken(revocation: Revocation): Promise<void> {
  const { baseUrl, realm, clientId, token } = revocation;
  const secret = revocation.clientSecret?.reveal() ?? '';
  const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`;
  const answer = await callService({
    method: 'POST',
    url: `${baseUrl}/realms/${pathSegment(realm)}/protocol/openid-connect/revoke`,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    },
    body: new URLSearchParams({ token: token.reveal() }).toString(),
    ...(revocation.signal === undefined ? {} : { signal: revocation.signal }),
  });
  if (answer.status === 200) return;
  if (answer.status === 401) {
    throw new IdkitError('IDKIT_CREDENTIALS', `the service rejects the credentials of client ${clientId}`);
  }
  throw new IdkitError(
    'IDKIT_FAILED',
    `the service refuses to revoke the token (${answer.status} ${answer.text.slice(0, 200)})`,
  );
}
