import { getRealm } from '../../protocol/index.ts';
import { realmOf } from '../request/realm-request.ts';
import { refuseNotBuilt } from '../responses/not-found.ts';
import type { Route } from '../url-table/route.ts';

const base = '/realms/:realm/protocol/openid-connect';

/** Keycloak's endpoints that idkit does not have yet, each with the name of its feature for the error message. */
const NOT_BUILT = [
  ['POST', `${base}/auth/device`, 'Device authorization'],
  ['POST', `${base}/logout/backchannel-logout`, 'Back-channel logout'],
  ['GET', `${base}/registrations`, 'Registration of users'],
  ['POST', `${base}/registrations`, 'Registration of users'],
  ['GET', `${base}/forgot-credentials`, 'Recovery of credentials'],
  ['GET', `${base}/delegated`, 'Delegated login'],
  ['GET', `${base}/oauth/oob`, 'The out-of-band page'],
  ['POST', `${base}/ext/par/request`, 'Pushed authorization'],
  ['POST', `${base}/ext/ciba/auth`, 'Back-channel authentication'],
  ['POST', `${base}/ext/ciba/auth/callback`, 'Back-channel authentication'],
  ['GET', '/realms/:realm/device', 'Device verification'],
  ['GET', '/realms/:realm/login-actions/*', 'This step of the browser login'],
  ['POST', '/realms/:realm/login-actions/*', 'This step of the browser login'],
  ['GET', '/realms/:realm/broker/*', 'Login with an identity provider'],
  ['POST', '/realms/:realm/broker/*', 'Login with an identity provider'],
  ['GET', '/realms/:realm/clients-registrations/*', 'Client registration'],
  ['POST', '/realms/:realm/clients-registrations/*', 'Client registration'],
  ['PUT', '/realms/:realm/clients-registrations/*', 'Client registration'],
  ['DELETE', '/realms/:realm/clients-registrations/*', 'Client registration'],
  ['GET', '/realms/:realm/protocol/saml', 'SAML'],
  ['POST', '/realms/:realm/protocol/saml', 'SAML'],
  ['GET', '/realms/:realm/protocol/saml/*', 'SAML'],
  ['POST', '/realms/:realm/protocol/saml/*', 'SAML'],
  ['GET', '/realms/:realm/.well-known/uma2-configuration', 'User-managed access'],
  ['GET', '/realms/:realm/authz/*', 'User-managed access'],
  ['POST', '/realms/:realm/authz/*', 'User-managed access'],
] as const;

/** Routes that respond with 501 and name the missing part, so that callers do not assume a wrong path. */
export const notImplementedRoutes: readonly Route[] = NOT_BUILT.map(([method, url, part]) => ({
  method,
  url,
  handle: async (services, request) => {
    await getRealm(services.protocol, realmOf(request));
    return refuseNotBuilt(request, part);
  },
}));
