import type { Consent } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { Json } from '../representations/json.ts';

/**
 * A consent as UserConsentRepresentation names it (facts §8.4): scopes by name, a client that stands for itself by its
 * clientId. Undefined where its client is gone.
 *
 * @param nameOf the clientId of a client's UUID
 */
export async function consentRepresentation(
  consent: Consent,
  configuration: RealmConfiguration,
  nameOf: (uuid: string) => Promise<string | undefined> | string | undefined,
): Promise<Json | undefined> {
  const clientId = await nameOf(consent.clientUuid);
  if (clientId === undefined) return undefined;
  const grantedClientScopes: string[] = [];
  for (const id of consent.scopeIds) {
    const name = configuration.clientScopes.get(id)?.name ?? (await nameOf(id));
    if (name !== undefined) grantedClientScopes.push(name);
  }
  const { createdDate, lastUpdatedDate } = consent;
  return { clientId, grantedClientScopes, createdDate, lastUpdatedDate };
}
