import type { AuthorizationRequest } from '../../model/index.ts';

/** What a client requests from the authorization endpoint: a code, an access token, an ID token, or several of them. */
export interface ResponseType {
  /** Sorted words, for example `code id_token`. */
  name: string;
  code: boolean;
  token: boolean;
  idToken: boolean;
}

/** Every `response_type` (OAuth 2.0 Multiple Response Types §3, §5). */
const NAMES = new Set([
  'code',
  'none',
  'token',
  'id_token',
  'id_token token',
  'code id_token',
  'code token',
  'code id_token token',
]);

/**
 * Parses a `response_type`. Returns undefined for an unknown type. The order of the words has no meaning (RFC 6749
 * §3.1.1).
 */
export function parseResponseType(text: string): ResponseType | undefined {
  const words = text.split(' ').filter((word) => word !== '');
  const name = [...new Set(words)].sort().join(' ');
  if (!NAMES.has(name)) return undefined;
  return {
    name,
    code: words.includes('code'),
    token: words.includes('token'),
    idToken: words.includes('id_token'),
  };
}

/** Whether the type returns tokens through the browser: an implicit or hybrid type (OpenID Connect Core §3.2, §3.3). */
export function givesTokens(type: ResponseType): boolean {
  return type.token || type.idToken;
}

/** Returns the default response mode of a response type. Tokens never go into a query (Multiple Response Types §5). */
export function defaultResponseMode(type: ResponseType | undefined): AuthorizationRequest['responseMode'] {
  return type !== undefined && givesTokens(type) ? 'fragment' : 'query';
}

/** Parses a `response_mode`. Returns undefined for an unknown mode. */
export function parseResponseMode(text: string): AuthorizationRequest['responseMode'] | undefined {
  return text === 'query' || text === 'fragment' || text === 'form_post' ? text : undefined;
}
