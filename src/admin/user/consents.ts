import type { Consent } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { notFound } from '../call/refusal.ts';
import type { Json } from '../representation/json.ts';
import { getUser } from './get-user.ts';

/**
 * Lists the consents of a user, and the clients that have offline tokens of the user without a consent, as Keycloak 26
 * does.
 */
export async function listConsents(call: RealmCall, userId: string): Promise<readonly Json[]> {
  await getUser(call, userId);
  const { store } = call.context;
  const realmId = call.configuration.realm.id;
  const offline = new Set(await store.listClientsOfUser(userId, true));
  const listed: Json[] = [];
  const nameOf = async (uuid: string) => (await store.findClientByUuid(realmId, uuid))?.clientId;
  const grants = (uuid: string) => (offline.has(uuid) ? [{ client: uuid, key: 'Offline Token' }] : []);
  for (const consent of await store.listConsents(userId)) {
    const shown = await consentRepresentation(consent, call.configuration, nameOf);
    if (shown !== undefined) listed.push({ ...shown, additionalGrants: grants(consent.clientUuid) });
    offline.delete(consent.clientUuid);
  }
  for (const uuid of offline) {
    const clientId = await nameOf(uuid);
    if (clientId !== undefined)
      listed.push({ clientId, grantedClientScopes: [], additionalGrants: grants(uuid) });
  }
  return listed;
}

/**
 * Revokes a user's consent to a client, and all of the user's tokens for that client, including offline tokens.
 * Notifies the client that its client sessions have ended (Back-Channel Logout 1.0 §2.5), as Keycloak does.
 *
 * @throws AdminRefusal 404 for an unknown client, and if there is neither a consent nor an offline token
 */
export async function revokeConsent(call: RealmCall, userId: string, clientId: string): Promise<void> {
  await getUser(call, userId);
  const { context, configuration } = call;
  const client = await context.store.findClient(configuration.realm.id, clientId);
  if (client === undefined) throw notFound('Client not found');
  const consent = await context.store.findConsent(userId, client.id);
  const ending = { userId, clientUuid: client.id };
  const notify =
    consent === undefined ? undefined : await context.sessionEndings?.prepare(configuration.realm.id, ending);
  const { removed } = await context.store.removeConsent(userId, client.id);
  if (!removed) throw notFound('Consent nor offline token not found');
  await notify?.();
  await applyChanges(call, [], {
    operation: 'ACTION',
    resource: 'USER',
    path: `users/${userId}/consents/${clientId}`,
  });
}

/**
 * Returns a consent as UserConsentRepresentation, with the names of its scopes. A consent to the client itself appears
 * as its client id. Returns undefined if the client does not exist any more.
 *
 * @param nameOf returns the client id of a UUID
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
