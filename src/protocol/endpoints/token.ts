import { seconds } from '../../core/index.ts';
import { type GrantedScopes, resolveScopes } from '../claims/index.ts';
import { checkNotBearerOnly, withClient } from '../client/index.ts';
import type { Answer, ProtocolContext, ProtocolRequest } from '../context.ts';
import { EventDraft } from '../events.ts';
import { GRANTS, type GrantRequest, REFUSED_GRANTS } from '../grants/index.ts';
import { parseJwt } from '../jwt.ts';
import { checkEnforceable, checkRealmEnabled, checkTransport, getRealm } from '../realm.ts';
import { Refusal } from '../refusal.ts';
import { issueTokens, type TokenResponse } from '../token/index.ts';

/**
 * Handles requests to the token endpoint (RFC 6749 §3.2; docs/keycloak/tokens.md#order-of-the-checks). A grant
 * determines for whom tokens are issued. All other steps are the same for every grant.
 *
 * @throws Refusal
 */
export async function requestTokens(
  ctx: ProtocolContext,
  request: ProtocolRequest,
): Promise<Answer<TokenResponse>> {
  // 1. The realm, and TLS if the realm requires it.
  const configuration = await getRealm(ctx, request.realm);
  checkTransport(configuration, request);

  // 2. The grant. A disabled realm is reported before any other fault of the request
  // (docs/keycloak/tokens.md#disabled-realm-or-client).
  checkLengths(request.form);
  const grantType = request.form.get('grant_type');
  const grant =
    grantType === undefined ? undefined : (GRANTS.get(grantType) ?? REFUSED_GRANTS.get(grantType));
  checkRealmEnabled(configuration, 'token');
  if (grantType === undefined) throw new Refusal('missing-grant-type');
  if (grant === undefined) throw new Refusal('unsupported-grant-type');
  const event = new EventDraft(ctx, configuration, grant.eventType, request.remoteAddress);
  event.details['grant_type'] = grantType;

  // 3. The client.
  const { result, allowOrigin } = await withClient(
    ctx,
    configuration,
    request,
    event,
    'client-disabled',
    async (client) => {
      checkNotBearerOnly(client);
      if (request.duplicated) throw new Refusal('duplicated-parameter');
      checkNoDpop(request.dpop);
      return useGrant({ grant, ctx, configuration, client, request, event, now: seconds(ctx.clock) });
    },
  );
  return { body: result, allowOrigin };
}

/** Maximum length of a field in characters (Keycloak's `req-token-params-default-max-size`). */
const MOST_OF_A_FIELD = 20_000;

/** @throws Refusal `parameter-too-long` */
function checkLengths(form: ReadonlyMap<string, string>): void {
  for (const [name, value] of form) {
    if (value.length <= MOST_OF_A_FIELD) continue;
    const description = `The size of OIDC parameter '${name.slice(0, 100)}' is longer than allowed.`;
    throw new Refusal('parameter-too-long', { description });
  }
}

async function useGrant(request: GrantRequest): Promise<TokenResponse> {
  const { grant } = request;
  // 4. The permissions of the client, and the demands of the realm and the client.
  grant.check(request);
  checkEnforceable(request.configuration, request.client, grant.use);

  // 5. The scopes.
  const requested = grant.ownScopes ? undefined : request.request.form.get('scope');
  const scopes = resolveScopes(request.configuration, request.client, requested);
  if (scopes.outcome === 'invalid') {
    const description = `Invalid scopes: ${scopes.names}`;
    throw new Refusal('invalid-scope', { description, detail: description });
  }

  const response = await proveAndIssue(request, scopes.granted);
  request.event.succeeded();
  return response;
}

async function proveAndIssue(request: GrantRequest, granted: GrantedScopes): Promise<TokenResponse> {
  const { grant } = request;
  try {
    // 6. The user for whom the grant issues tokens, with the proof.
    const proof = await grant.prove(request, granted);

    // 7. The tokens.
    return await issueTokens(request, proof);
  } catch (error) {
    await grant.abandon?.(request);
    throw error;
  }
}

/**
 * Rejects a `DPoP` header: idkit does not bind tokens, and a client that sends a proof does not want a Bearer token
 * (RFC 9449 §5). If the header is not a proof, the response is the same as in Keycloak 26.7.3.
 *
 * @throws Refusal `dpop-refused`
 */
function checkNoDpop(header: string | undefined): void {
  if (header === undefined) return;
  const proof = parseJwt(header);
  if (proof === undefined || proof.header['typ'] !== 'dpop+jwt') throw new Refusal('dpop-refused');
  throw new Refusal('dpop-refused', {
    description: 'DPoP is not supported: send the request without a DPoP header',
  });
}
