import type { Consent } from '../../model/index.ts';
import type { AdminContext } from '../context.ts';
import { RepresentationFault } from '../representations/fault.ts';
import { objects, strings, text } from '../representations/json.ts';
import { found, type Names } from './names.ts';

/**
 * The consents of a user's representation, `clientConsents`: what it names must be there (Keycloak's
 * `RepresentationToModel.toModel`). A client may stand among the scopes, for itself.
 *
 * @throws RepresentationFault for a client or scope that is none
 */
export function buildConsents(
  given: unknown,
  userId: string,
  { names, context, path }: { names: Names; context: AdminContext; path: string },
): Consent[] {
  return objects(given).map((one, index) => {
    const at = `${path}[${index}]`;
    const clientId = text(one['clientId']);
    if (clientId === undefined) throw new RepresentationFault(`${at}.clientId`, 'a consent needs a client');
    const createdDate = (one['createdDate'] as number | undefined) ?? context.clock.now();
    return {
      userId,
      clientUuid: found(names.clients, clientId, `${at}.clientId`, 'client'),
      scopeIds: strings(one['grantedClientScopes']).map((name, scopeAt) => {
        const own = names.clientScopes.has(name) ? undefined : names.clients.get(name);
        const place = `${at}.grantedClientScopes[${scopeAt}]`;
        return own ?? found(names.clientScopes, name, place, 'client scope').id;
      }),
      createdDate,
      lastUpdatedDate: (one['lastUpdatedDate'] as number | undefined) ?? createdDate,
    };
  });
}
