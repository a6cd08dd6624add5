import { Refusal } from '../refusal.ts';
import { authorizationCodeGrant } from './authorization-code.ts';
import { clientCredentialsGrant } from './client-credentials.ts';
import type { Grant } from './grant.ts';
import { passwordGrant } from './password.ts';
import { refreshTokenGrant } from './refresh-token.ts';

/** Every grant of idkit, by its `grant_type`. */
export const GRANTS: ReadonlyMap<string, Grant> = new Map([
  ['authorization_code', authorizationCodeGrant],
  ['client_credentials', clientCredentialsGrant],
  ['password', passwordGrant],
  ['refresh_token', refreshTokenGrant],
]);

/**
 * Keycloak's grants that idkit does not have. Requests for them are rejected as Keycloak rejects a client that may not
 * use the grant (docs/keycloak/tokens.md#device-authorization, docs/keycloak/tokens.md#token-exchange).
 */
export const REFUSED_GRANTS: ReadonlyMap<string, Grant> = new Map([
  [
    'urn:ietf:params:oauth:grant-type:device_code',
    refusedGrant(
      'OAUTH2_DEVICE_CODE_TO_TOKEN',
      () =>
        new Refusal('grant-refused', {
          description: 'Client not allowed OAuth 2.0 Device Authorization Grant',
        }),
    ),
  ],
  [
    'urn:ietf:params:oauth:grant-type:token-exchange',
    refusedGrant('TOKEN_EXCHANGE', () => new Refusal('exchange-refused')),
  ],
]);

function refusedGrant(eventType: string, refusal: () => Refusal): Grant {
  const refuse = (): never => {
    throw refusal();
  };
  return { eventType, shortcut: 'na', use: 'direct', check: refuse, prove: refuse };
}
