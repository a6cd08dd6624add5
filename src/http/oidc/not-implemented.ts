import { getRealm } from '../../protocol/index.ts';
import { notBuilt } from '../answers/not-found.ts';
import { realmOf } from '../request/realm-request.ts';
import type { Route } from '../url-table/route.ts';

const base = '/realms/:realm/protocol/openid-connect';

/** Endpoints of Keycloak that this version does not build, each with its name in the answer. */
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
  ['GET', '/realms/:realm/login-actions/*', 'This step of a login in the browser'],
  ['POST', '/realms/:realm/login-actions/*', 'This step of a login in the browser'],
  ['GET', '/realms/:realm/broker/*', 'Login by identity providers'],
  ['POST', '/realms/:realm/broker/*', 'Login by identity providers'],
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

/** Rows that answer 501 and name what is missing, so that nobody takes them for a wrong path. */
export const notImplementedRoutes: readonly Route[] = NOT_BUILT.map(([method, url, what]) => ({
  method,
  url,
  handle: async (services, request) => {
    await getRealm(services.protocol, realmOf(request));
    return notBuilt(request, what);
  },
}));
