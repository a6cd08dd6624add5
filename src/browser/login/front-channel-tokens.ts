import { uuid } from '../../core/index.ts';
import { signJws } from '../../crypto/index.ts';
import { type UserSession, userSessionEnds } from '../../model/index.ts';
import {
  accessTokenId,
  accessTokenPayload,
  type ClaimsInput,
  type GrantedScopes,
  idTokenClaims,
  isLightweight,
  tokenHash,
} from '../../protocol/claims/index.ts';
import { checkEnforceable } from '../../protocol/index.ts';
import { signatureAlgorithm } from '../../protocol/keys/index.ts';
import { newFamily } from '../../protocol/session/index.ts';
import { gatherClaims } from '../../protocol/token/index.ts';
import type { ResponseType } from '../authorize/response-type.ts';
import type { BrowserCall } from '../call.ts';
import type { LoginInProgress } from './progress.ts';

/** The input for the tokens of one response. */
interface Wanted {
  type: ResponseType;
  session: UserSession;
  granted: GrantedScopes;
  notes: Readonly<Record<string, string>>;
  /** The authorization code in the same response, if any. */
  code?: string;
}

/**
 * Issues the tokens that reach the client through the browser (OpenID Connect Core §3.2.2.5, §3.3.2.5). The ID token
 * has hashes of the code and the access token. The tokens get their own token family, without a refresh token. Returns
 * an empty list for response types without tokens, and undefined if the session has ended.
 */
export async function issueFrontChannelTokens(
  call: BrowserCall,
  login: LoginInProgress,
  wanted: Wanted,
): Promise<readonly (readonly [string, string])[] | undefined> {
  const { type, session, granted } = wanted;
  if (!type.token && !type.idToken) return [];
  const { ctx, configuration, now } = call;
  const { client, user, request } = login;
  checkEnforceable(configuration, client, 'browser');
  const notes = { ...wanted.notes, ...(request.claims === undefined ? {} : { claims: request.claims }) };
  const input = await gatherClaims(ctx, configuration, {
    client,
    user,
    granted,
    notes: { ...session.notes, ...notes, ...(request.nonce === undefined ? {} : { nonce: request.nonce }) },
  });
  const { settings } = configuration.realm;
  const expiresAt = Math.min(
    now + settings.accessTokenLifespanForImplicitFlow,
    userSessionEnds(settings, session).maxEnd,
  );
  const stamp = { issuer: call.issuer, issuedAt: now, expiresAt, sessionId: session.id };
  if ((await joinSession(call, login, { ...wanted, granted: input.granted, notes })) !== 'started')
    return undefined;
  const accessToken = type.token ? await makeAccessToken(call, input, stamp) : undefined;
  const idToken = type.idToken
    ? await makeIdToken(call, input, stamp, { accessToken, code: wanted.code })
    : undefined;
  return [
    ...(idToken === undefined ? [] : [['id_token', idToken] as const]),
    ...(accessToken === undefined
      ? []
      : ([
          ['access_token', accessToken],
          ['token_type', 'Bearer'],
          ['expires_in', String(expiresAt - now)],
        ] as const)),
  ];
}

interface Stamp {
  issuer: string;
  issuedAt: number;
  expiresAt: number;
  sessionId: string;
}

/**
 * Adds the client to the user session, so that the session lists the client, and the client is notified when the
 * session ends. The new token family never gets a refresh token.
 */
function joinSession(
  { ctx, configuration, now }: BrowserCall,
  { client, user }: LoginInProgress,
  { session, granted, notes }: Wanted,
) {
  const family = newFamily(now, {
    id: uuid(ctx.random),
    sessionId: session.id,
    offline: false,
    realmId: configuration.realm.id,
    clientUuid: client.id,
    userId: user.id,
    scope: granted.all,
    notes,
  });
  return ctx.store.startFamily(undefined, family);
}

function makeAccessToken(
  { ctx, configuration }: BrowserCall,
  input: ClaimsInput,
  stamp: Stamp,
): Promise<string> {
  const { client } = input;
  const origin = { session: 'online', grant: 'im', lightweight: isLightweight(client) } as const;
  const { text } = accessTokenPayload(input, { ...stamp, jti: accessTokenId(origin, ctx.random) });
  const algorithm = signatureAlgorithm(configuration, client, 'access');
  return signJws(ctx.keys.signingKey(configuration, algorithm), text);
}

function makeIdToken(
  { ctx, configuration }: BrowserCall,
  input: ClaimsInput,
  stamp: Stamp,
  hashed: { accessToken: string | undefined; code: string | undefined },
): Promise<string> {
  const algorithm = signatureAlgorithm(configuration, input.client, 'id');
  const { accessToken, code } = hashed;
  const claims = idTokenClaims(
    input,
    { ...stamp, jti: uuid(ctx.random) },
    {
      algorithm,
      userInfo: accessToken !== undefined || code !== undefined,
      ...(accessToken === undefined ? {} : { accessToken }),
    },
  );
  if (code !== undefined) claims['c_hash'] = tokenHash(code, algorithm);
  return signJws(ctx.keys.signingKey(configuration, algorithm), claims);
}
