import { RepresentationFault } from '../representations/fault.ts';
import { type Json, strings } from '../representations/json.ts';

/** A client's URI that is refused, in Keycloak's words (observed admin-clients). */
export class ClientUriFault extends RepresentationFault {}

const ILLEGAL = /^\s*(?:javascript|data|vbscript)\s*:/i;

/** @throws ClientUriFault for an illegal scheme, a fragment, or a line break in a URI of the client */
export function checkClientUris(given: Json, path: string): void {
  for (const [field, called] of [
    ['rootUrl', 'Root URL'],
    ['baseUrl', 'Base URL'],
    ['adminUrl', 'Backchannel logout URL'],
  ] as const) {
    const value = given[field];
    if (typeof value === 'string') checkUri(value, called, `${path}.${field}`);
  }
  for (const [index, uri] of strings(given['redirectUris']).entries())
    checkUri(uri, 'A redirect URI', `${path}.redirectUris[${index}]`, 'no fragment');
  for (const [index, origin] of strings(given['webOrigins']).entries())
    checkUri(origin, 'A web origin', `${path}.webOrigins[${index}]`);
}

function checkUri(uri: string, called: string, path: string, fragment?: 'no fragment'): void {
  if (ILLEGAL.test(uri)) throw new ClientUriFault(path, `${called} uses an illegal scheme`);
  if (/[\x00-\x1f\x7f]/.test(uri)) throw new ClientUriFault(path, `${called} is not a valid URL`);
  if (fragment && uri.includes('#'))
    throw new ClientUriFault(path, `${called} must not contain an URL fragment`);
}
