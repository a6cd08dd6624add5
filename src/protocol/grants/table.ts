import { Refusal } from '../refusal.ts';
import { authorizationCodeGrant } from './authorization-code.ts';
import { clientCredentialsGrant } from './client-credentials.ts';
import type { Grant } from './grant.ts';
import { passwordGrant } from './password.ts';
import { refreshTokenGrant } from './refresh-token.ts';

/**
 * Grants that Keycloak knows and this version does not build: their clients are told what Keycloak tells those
 * that have the grant switched off (facts §3.7, §3.8).
 */
function notBuilt(eventType: string, refusal: () => Refusal): Grant {
  const refuse = (): never => {
    throw refusal();
  };
  return { eventType, use: 'direct', check: refuse, prove: refuse };
}

/** Every `grant_type`; a grant that is built later takes the place of its row here. */
export const GRANTS: ReadonlyMap<string, Grant> = new Map([
  ['password', passwordGrant],
  ['client_credentials', clientCredentialsGrant],
  ['refresh_token', refreshTokenGrant],
  ['authorization_code', authorizationCodeGrant],
  [
    'urn:ietf:params:oauth:grant-type:device_code',
    notBuilt(
      'OAUTH2_DEVICE_CODE_TO_TOKEN',
      () =>
        new Refusal('grant-refused', {
          description: 'Client not allowed OAuth 2.0 Device Authorization Grant',
        }),
    ),
  ],
  [
    'urn:ietf:params:oauth:grant-type:token-exchange',
    notBuilt('TOKEN_EXCHANGE', () => new Refusal('exchange-refused')),
  ],
]);
