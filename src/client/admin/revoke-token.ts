import { IdkitError, type Secret } from '../../core/index.ts';
import { callService, pathSegment } from './call-service.ts';

/** A token to revoke, and the credentials of its client. */
export interface Revocation {
  /** The base URL of the service, without a trailing slash. */
  baseUrl: string;
  realm: string;
  clientId: string;
  /** The client secret. Omit it for a public client. */
  clientSecret?: Secret;
  /** A refresh or an access token. */
  token: Secret;
  signal?: AbortSignal;
}

/**
 * Revokes one token (RFC 7009 §2.1). Succeeds for a token that the service does not know (§2.2). The promise resolves
 * when the service has responded.
 *
 * @throws IDKIT_UNREACHABLE; IDKIT_CREDENTIALS if the service rejects the client; IDKIT_FAILED
 */
export async function revokeToken(revocation: Revocation): Promise<void> {
  const { baseUrl, realm, clientId, token } = revocation;
  const secret = revocation.clientSecret?.reveal() ?? '';
  const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`;
  const response = await callService({
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
  if (response.status === 200) return;
  if (response.status === 401) {
    throw new IdkitError(
      'IDKIT_CREDENTIALS',
      `the service rejected the credentials of the client ${clientId}`,
    );
  }
  throw new IdkitError(
    'IDKIT_FAILED',
    `the service did not revoke the token (${response.status} ${response.text.slice(0, 200)})`,
  );
}
