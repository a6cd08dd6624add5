import { decodeJsonObject } from '../../core/index.ts';
import type { AuthorizationRequest, Client } from '../../model/index.ts';

import type { ReplyTo } from '../authorize/client-answer.ts';
import { isRegisteredRedirect } from '../authorize/redirect-uri.ts';
import { defaultResponseMode, parseResponseMode, parseResponseType } from '../authorize/response-type.ts';
import type { BrowserCall } from '../call.ts';
import type { WayOn } from '../contract.ts';
import { waysToClient } from '../way-on.ts';

/** Parameters of the request under the short names of `client_data`. The first four are Keycloak's. */
const NAMES = {
  ru: 'redirect_uri',
  rt: 'response_type',
  rm: 'response_mode',
  st: 'state',
  sc: 'scope',
  no: 'nonce',
  cc: 'code_challenge',
  cm: 'code_challenge_method',
  lh: 'login_hint',
  ul: 'ui_locales',
} as const;

/**
 * Maximum size in bytes of a `client_data` with all parameters. A page contains it several times and must stay small.
 */
const MOST_BYTES = 3000;
/**
 * Maximum size in bytes of a `client_data` with only the parameters that a response to the client needs. Like most
 * servers, idkit rejects much longer URLs.
 */
const MOST_OF_AN_ANSWER = 6000;
/** Maximum length in characters of a received `client_data`. A longer text is ignored. */
const MOST_READ = 16_384;
const KEYCLOAKS = ['ru', 'rt', 'rm', 'st'] as const;

/**
 * Returns the parameter `client_data` for the URLs of a login. It contains the authorization request, so that a login
 * whose database row was deleted can still be restarted or report an error to the client. Anyone can create such a
 * text, so it is trusted no more than an authorization request. Returns undefined if even the redirect URI and the
 * state are too long.
 */
export function renderClientData(request: AuthorizationRequest): string | undefined {
  const all: Partial<Record<keyof typeof NAMES, string | undefined>> = {
    ru: request.redirectUri,
    rt: request.responseType,
    rm: request.responseMode,
    st: request.state,
    sc: request.scope,
    no: request.nonce,
    cc: request.codeChallenge,
    cm: request.codeChallengeMethod,
    lh: request.loginHint,
    ul: request.uiLocales,
  };
  const text = Buffer.from(JSON.stringify(all));
  if (text.length <= MOST_BYTES) return text.toString('base64url');
  const answer = Buffer.from(JSON.stringify(all, [...KEYCLOAKS]));
  return answer.length <= MOST_OF_AN_ANSWER ? answer.toString('base64url') : undefined;
}

/**
 * Returns the links that lead on from a login that cannot continue: to the start of the same login, and to the client.
 *
 * @param way the text of the link to the start
 */
export function waysToRestart(
  call: BrowserCall,
  client: Client,
  way: 'restart' | 'sign-in' | 'other-user' = 'restart',
): readonly WayOn[] {
  const left = readClientData(call, client, call.request.query.get('client_data'));
  const start: readonly WayOn[] = left === undefined ? [] : [{ way, url: left.restart }];
  return [...start, ...waysToClient(call, client)];
}

/** The content of `client_data`, parsed and checked. */
export interface LeftOver {
  to: ReplyTo;
  /** URL that sends the same authorization request again. */
  restart: string;
  /** `ui_locales` of the request. */
  uiLocales: string | undefined;
}

/**
 * Parses and checks a `client_data`. Returns undefined if the text is unreadable, or names a redirect URI that the
 * client has not registered.
 */
export function readClientData(
  { ctx, issuer }: BrowserCall,
  client: Client,
  text: string | undefined,
): LeftOver | undefined {
  const data = text === undefined || text.length > MOST_READ ? undefined : decodeJsonObject(text);
  const field = (name: keyof typeof NAMES): string | undefined => {
    const value = data?.[name];
    return typeof value === 'string' ? value : undefined;
  };
  const redirectUri = field('ru');
  if (redirectUri === undefined || !isRegisteredRedirect(client, redirectUri, ctx.baseUrl)) return undefined;
  const type = parseResponseType(field('rt') ?? 'code');
  const state = field('st');
  const parameters = new URLSearchParams({ client_id: client.clientId });
  for (const [short, name] of Object.entries(NAMES)) {
    const value = field(short as keyof typeof NAMES);
    if (value !== undefined) parameters.set(name, value);
  }
  return {
    to: {
      redirectUri,
      responseMode: parseResponseMode(field('rm') ?? '') ?? defaultResponseMode(type),
      ...(state === undefined ? {} : { state }),
    },
    restart: `${issuer}/protocol/openid-connect/auth?${parameters}`,
    uiLocales: field('ul'),
  };
}
