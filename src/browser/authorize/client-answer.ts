import type { AuthorizationRequest, Client } from '../../model/index.ts';
import type { BrowserCall } from '../call.ts';
import type { BrowserAnswer, CookieChange } from '../contract.ts';

/** The redirect URI, the response mode and the state of a response to a client. */
export type ReplyTo = Pick<AuthorizationRequest, 'redirectUri' | 'responseMode' | 'state'>;

/** An error for the client (RFC 6749 §4.1.2.1). */
export interface ClientError {
  error: string;
  description?: string | undefined;
}

type Field = readonly [name: string, value: string];

/** Returns the answer that sends an error to the client, with `iss` (RFC 9207 §2) and the unchanged state. */
export function refuseToClient(
  call: BrowserCall,
  client: Client,
  to: ReplyTo,
  { error, description }: ClientError,
  cookies: readonly CookieChange[] = [],
): BrowserAnswer {
  const fields: Field[] = [
    ['error', error],
    ...one('error_description', description),
    ...one('state', to.state),
    ...issuer(call, client),
  ];
  return sendToClient(to, fields, cookies);
}

/**
 * Returns the answer that sends the result of a login to the client: state, session_state, iss, then the code and
 * tokens (docs/keycloak/login.md#response-types).
 */
export function answerClient(
  call: BrowserCall,
  client: Client,
  to: ReplyTo,
  login: { sessionId: string; fields: readonly Field[] },
  cookies: readonly CookieChange[],
): BrowserAnswer {
  const hidden = client.attributes['exclude.session.state.from.auth.response'] === 'true';
  const fields: Field[] = [
    ...one('state', to.state),
    ...(hidden ? [] : one('session_state', login.sessionId)),
    ...issuer(call, client),
    ...login.fields,
  ];
  return sendToClient(to, fields, cookies);
}

/** Returns the URL of a redirect to the client. The query of the redirect URI is kept (RFC 6749 §4.1.2). */
function redirectUrl(to: ReplyTo, fields: readonly Field[]): string {
  const text = new URLSearchParams(fields.map(([name, value]) => [name, value])).toString();
  const { redirectUri, responseMode } = to;
  if (responseMode === 'fragment') return `${redirectUri}#${text}`;
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${text}`;
}

function sendToClient(
  to: ReplyTo,
  fields: readonly Field[],
  cookies: readonly CookieChange[],
): BrowserAnswer {
  if (to.responseMode === 'form_post') return { show: 'form-post', to: to.redirectUri, fields, cookies };
  return { show: 'redirect', to: redirectUrl(to, fields), cookies };
}

function issuer(call: BrowserCall, client: Client): readonly Field[] {
  return client.attributes['exclude.issuer.from.auth.response'] === 'true' ? [] : [['iss', call.issuer]];
}

function one(name: string, value: string | undefined): readonly Field[] {
  return value === undefined ? [] : [[name, value]];
}
