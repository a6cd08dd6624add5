import { AdminRefusal, notFound } from '../../admin/index.ts';
import { preflight } from '../responses/cors.ts';
import { pathOf } from '../responses/not-found.ts';
import type { Route } from '../url-table/route.ts';
import type { AdminRow } from './admin-row.ts';
import { authenticate } from './authenticate.ts';
import type { AdminCall } from './call.ts';

/** The paths of Keycloak 26 below a realm that idkit does not have yet. `*` is one segment, `**` is one or more. */
const NOT_BUILT = `
  admin-events/** attack-detection/** authentication authentication/** client-description-converter
  client-policies/** client-registration-policy/** client-templates client-templates/** client-types clients-initial-access clients-initial-access/**
  clients/*/authz/** clients/*/certificates/** clients/*/evaluate-scopes/** clients/*/installation/**
  clients/*/management/** clients/*/nodes clients/*/nodes/** clients/*/optional-client-scopes/**
  clients/*/protocol-mappers/protocol/* clients/*/registration-access-token clients/*/roles/*/groups
  clients/*/roles/*/management/** clients/*/test-nodes-available client-scopes/*/protocol-mappers/protocol/* components/*/sub-component-types
  credential-registrators default-groups default-groups/* groups/*/management/** identity-provider/**
  ldap-server-capabilities localization localization/** organizations organizations/**
  roles/*/groups roles/*/management/** roles-by-id/*/management/** testLDAPConnection
  testSMTPConnection user-storage/** users-management-permissions users/profile/**
  users/*/configured-user-storage-credential-types
  users/*/credentials/*/moveAfter/* users/*/credentials/*/moveToFirst users/*/disable-credential-types
  users/*/execute-actions-email users/*/federated-identity users/*/federated-identity/* users/*/impersonation
  users/*/reset-password-email users/*/send-verify-email users/*/unmanagedAttributes workflows workflows/**`
  .trim()
  .split(/\s+/)
  .map((pattern) => {
    const source = pattern
      .split('/')
      .map((step) => (step === '**' ? '.+' : step === '*' ? '[^/]+' : step.replace(/[.+]/g, '\\$&')))
      .join('/');
    return new RegExp(`^${source}$`);
  });

/** Creates a refusal with 501 that names the path. */
export function notBuilt(method: string, path: string): AdminRefusal {
  return new AdminRefusal('not-built', {
    errorMessage: `idkit does not implement this yet: ${method} ${path}`,
  });
}

/**
 * Routes for all other paths below a realm. They return 501 for the parts of Keycloak that idkit does not have yet, and
 * 404 otherwise.
 */
export const restRows: readonly AdminRow[] = [
  { method: 'GET', path: '/*', right: 'none', handle: refuse },
  ...(['POST', 'PUT', 'DELETE'] as const).map(
    (method): AdminRow => ({ method, path: '/*', right: 'none', writes: [], handle: refuse }),
  ),
];

function refuse(call: AdminCall): never {
  const { method } = call.request;
  const below = call.param('*').replace(/\/$/, '');
  if (!NOT_BUILT.some((pattern) => pattern.test(below))) throw notFound();
  const flow = /^authentication\/flows\/([^/]+)\/executions$/.exec(below)?.[1];
  if (flow !== undefined && (method === 'GET' || method === 'HEAD')) {
    call.rights.check('viewRealm');
    const flows = call.configuration.realm.settings.kept['authenticationFlows'];
    if (!Array.isArray(flows) || !flows.some((one) => one.alias === flow)) throw notFound('Flow not found');
  }
  throw notBuilt(method === 'HEAD' ? 'GET' : method, pathOf(call.request));
}

/** Routes for the parts of the API outside realms. They return 501. */
export const serverInfoRoutes: readonly Route[] = ['/admin/serverinfo', '/admin/serverinfo/*'].map((url) => ({
  method: 'GET',
  url,
  handle: async (services, request) => {
    await authenticate(services, request);
    throw notBuilt('GET', pathOf(request));
  },
}));

/** Routes for preflight requests, and for the parts of the API outside realms. */
export const restRoutes: readonly Route[] = [
  preflight('/admin/realms', 'DELETE, GET, POST, PUT'),
  preflight('/admin/realms/:realm', 'DELETE, GET, POST, PUT'),
  preflight('/admin/realms/:realm/*', 'DELETE, GET, POST, PUT'),
  ...serverInfoRoutes,
];
