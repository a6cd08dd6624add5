import { constantTimeEqual, HashingBusy } from '../../crypto/index.ts';
import { type Client, type ClientFlow, type RealmSettings, readClientFlow } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { ProtocolContext, ProtocolRequest } from '../context.ts';
import type { EventDraft } from '../events.ts';
import { Refusal } from '../refusal.ts';
import { proveByAssertion, readAssertedClientId } from './assertion.ts';
import { checkOrigin } from './origins.ts';

export interface AuthenticatedClient {
  client: Client;
  /** The method of authentication, for the event detail `client_auth_method`. */
  method: string;
}

/**
 * Authenticates the client of a request with the realm's client authentication flow
 * (docs/keycloak/clients.md#client-authentication; RFC 6749 §2.3). A public client needs only its id, and idkit ignores
 * its secret. A confidential client must send correct credentials before the response reveals that the client is
 * disabled.
 *
 * @param disabledAs the refusal for a disabled client; only the token endpoint names the reason
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
 * Parsed client authentication flows, by realm settings. They are cached, because every request of a client needs the
 * flow of its realm.
 */
const flows = new WeakMap<RealmSettings, ClientFlow>();

/**
 * Checks that the realm's flow allows the method. If it does not, the response is the same as for an unknown client, as
 * in Keycloak 26.7.3. The method of a public client is `client-secret`.
 *
 * @throws Refusal `client-unknown`, or `client-method-unsupported` for a flow that idkit does not run
 */
function checkMethodAllowed({ realm }: RealmConfiguration, method: string): void {
  let flow = flows.get(realm.settings);
  if (flow === undefined) {
    flow = readClientFlow(realm.settings);
    flows.set(realm.settings, flow);
  }
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

/** Rejects bearer-only clients, which may only introspect tokens. */
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
    case 'client-secret':
      if (presented.assertion !== undefined && presented.secret === undefined)
        throw new Refusal('client-unknown', { eventError: 'invalid_client_credentials' });
      if (!isSecretRight(client, presented.secret, ctx.clock.now()))
        throw new Refusal('client-credentials-wrong');
      return;
    default:
      // A client that demands another method must not log in with a secret.
      throw new Refusal('client-method-unsupported');
  }
}

/**
 * Compares a secret with the current one, and with the previous one during its rotation window
 * (docs/keycloak/clients.md#client-secrets).
 */
function isSecretRight(client: Client, secret: string | undefined, nowMilliseconds: number): boolean {
  const current = client.secrets['/secret']?.reveal();
  if (!secret) return false;
  if (current && constantTimeEqual(secret, current)) return true;
  const rotated = client.secrets['/attributes/client.secret.rotated']?.reveal();
  const end = Number(client.attributes['client.secret.rotated.expiration.time'] ?? 0);
  if (!rotated || !(end * 1000 > nowMilliseconds)) return false;
  return constantTimeEqual(secret, rotated);
}

/** The client id and the credentials in a request, before they are verified. */
export interface PresentedClient {
  clientId?: string;
  secret?: string;
  /** `client_assertion_type` as sent (RFC 7521 §4.2). */
  assertionType?: string;
  /** `client_assertion` as sent. */
  assertion?: string;
}

/**
 * Reads the client id and secret from HTTP Basic (RFC 6749 §2.3.1: both are form-url-encoded) and from the form. A form
 * field takes precedence, even if its value is wrong (docs/keycloak/clients.md#client-authentication).
 */
export function readClientCredentials(
  request: Pick<ProtocolRequest, 'authorization' | 'form'>,
): PresentedClient {
  const basic = parseBasic(request.authorization);
  const clientId = request.form.get('client_id') ?? basic?.clientId;
  const secret = request.form.get('client_secret') ?? basic?.secret;
  const assertionType = request.form.get('client_assertion_type');
  const assertion = request.form.get('client_assertion');
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(secret === undefined ? {} : { secret }),
    ...(assertionType === undefined ? {} : { assertionType }),
    ...(assertion === undefined ? {} : { assertion }),
  };
}

/**
 * Reads the credentials of HTTP Basic. Returns undefined for another scheme, for text that is not base64 or has no
 * colon, and for invalid UTF-8.
 */
function parseBasic(authorization: string | undefined): { clientId: string; secret: string } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const clientId = decodeFormText(text.slice(0, colon));
  const secret = decodeFormText(text.slice(colon + 1));
  if (clientId === undefined || secret === undefined) return undefined;
  return { clientId, secret };
}

function decodeFormText(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** The result of an endpoint's work for an authenticated client, and the origin that may read the response. */
interface ClientAtEndpoint<T> {
  result: T;
  allowOrigin: string | undefined;
}

/**
 * Authenticates the client of a request, checks the origin, and then runs the work of the endpoint. Logs a refusal as
 * an event, and adds the origin that may read the response (docs/keycloak/errors.md#cors). If the client is unknown,
 * every origin may read the response.
 *
 * @throws Refusal
 */
export async function withClient<T>(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  request: ProtocolRequest,
  event: EventDraft,
  disabledAs: 'client-disabled' | 'client-unknown',
  work: (client: Client) => Promise<T>,
): Promise<ClientAtEndpoint<T>> {
  let allowOrigin = request.origin;
  try {
    event.clientId = request.form.get('client_id') || undefined;
    const authenticated = await authenticateClient(ctx, configuration, request, disabledAs);
    const { client } = authenticated;
    event.clientId = client.clientId;
    event.details['client_auth_method'] = authenticated.method;
    allowOrigin = undefined;
    if (request.origin !== undefined) allowOrigin = checkOrigin(ctx, client, request.origin);
    return { result: await work(client), allowOrigin };
  } catch (error) {
    // Does not log an event: no credentials were checked, and a flood of requests must not fill the store.
    if (error instanceof HashingBusy) throw new Refusal('service-busy', { allowOrigin, cause: error });
    if (error instanceof Refusal) {
      error.allowOrigin ??= allowOrigin;
      event.refused(error);
    }
    throw error;
  }
}
