import { constantTimeEqual } from '../crypto/index.ts';
import { type Client, readClientFlow } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import { proveByAssertion, readAssertedClientId } from './client-assertion.ts';
import { type PresentedClient, readClientCredentials } from './client-credentials.ts';
import type { ProtocolContext, ProtocolRequest } from './context.ts';
import { Refusal } from './refusal.ts';

/** A client that proved who it is. */
export interface AuthenticatedClient {
  client: Client;
  /** The event detail `client_auth_method`. */
  method: string;
}

/**
 * Authenticates the client of a request by the realm's client authentication flow (facts §2; RFC 6749 §2.3). Public clients are identified by their id
 * alone, any secret of theirs is ignored. A disabled client is told so only once its credentials proved right,
 * a public one at once (contract §5).
 *
 * @param disabledAs how a disabled client is told: by name at the token endpoint alone
 * @throws Refusal of the group "Client authentication", or `client-disabled`
 */
export async function authenticateClient(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  request: ProtocolRequest,
  disabledAs: 'client-disabled' | 'client-unknown',
): Promise<AuthenticatedClient> {
  const presented = readClientCredentials(request);
  const clientId = presented.clientId ?? readAssertedClientId(presented.assertion);
  const client = clientId ? await ctx.store.findClient(configuration.realm.id, clientId) : undefined;
  if (client === undefined) throw new Refusal('client-unknown');
  const method = client.publicClient ? 'client-secret' : client.clientAuthenticatorType;
  checkMethodAllowed(configuration, method);
  if (!client.publicClient) await proveConfidential(ctx, configuration, client, presented);
  if (!client.enabled) throw new Refusal(disabledAs, { eventError: 'client_disabled' });
  if (client.protocol !== 'openid-connect') throw new Refusal('client-protocol-wrong');
  return { client, method };
}

/**
 * The realm's flow decides which methods there are; Keycloak 26 answers a method that is switched off as if the client
 * did not exist, and counts public clients as users of `client-secret` (observed with 26.7.3).
 *
 * @throws Refusal `client-unknown`, or `client-method-unsupported` for a flow that idkit does not run (contract §5)
 */
function checkMethodAllowed({ realm }: RealmConfiguration, method: string): void {
  const flow = readClientFlow(realm.settings);
  if (flow.outcome === 'unknown')
    throw new Refusal('client-method-unsupported', {
      description: 'The realm demands a client authentication flow that this server does not run',
      detail: `not enforced: ${flow.path} (client authentication flow ${flow.what})`,
    });
  if (flow.authenticators?.has(method) === false)
    throw new Refusal('client-unknown', {
      detail: `the realm's client authentication flow does not allow ${method}`,
    });
}

/** Refuses bearer-only clients, which may introspect and nothing else (facts §2, §5.4). */
export function checkNotBearerOnly(client: Client): void {
  if (client.bearerOnly) throw new Refusal('client-bearer-only');
}

async function proveConfidential(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  client: Client,
  presented: PresentedClient,
): Promise<void> {
  switch (client.clientAuthenticatorType) {
    case 'client-secret-jwt':
      return proveByAssertion(ctx, configuration, client, presented);
    case 'client-jwt':
      if (presented.assertionType === undefined) throw new Refusal('client-assertion-refused');
      throw new Refusal('client-method-unsupported');
    case 'client-x509':
      throw new Refusal('client-method-unsupported');
    default:
      if (presented.assertion !== undefined && presented.secret === undefined)
        throw new Refusal('client-unknown', { eventError: 'invalid_client_credentials' });
      if (!isSecretRight(client, presented.secret, ctx.clock.now()))
        throw new Refusal('client-credentials-wrong');
  }
}

/** The secret in force, or the one before it while its rotation window lasts (facts §2). */
function isSecretRight(client: Client, secret: string | undefined, nowMilliseconds: number): boolean {
  const current = client.secrets['/secret']?.reveal();
  if (!secret) return false;
  if (current && constantTimeEqual(secret, current)) return true;
  const rotated = client.secrets['/attributes/client.secret.rotated']?.reveal();
  const end = Number(client.attributes['client.secret.rotated.expiration.time'] ?? 0);
  if (!rotated || !(end * 1000 > nowMilliseconds)) return false;
  return constantTimeEqual(secret, rotated);
}
