import type { Consent } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { notFound } from '../call/refusal.ts';
import type { Json } from '../representation/json.ts';
import { getUser } from './get-user.ts';

/**
 * What a user agreed to, with the clients that have offline tokens of the user beside them (facts §7.2; Keycloak's
 * `UserResource.getConsents`).
 */
export async function listConsents(call: RealmCall, userId: string): Promise<readonly Json[]> {
  await getUser(call, userId);
  const { store } = call.context;
  const realmId = call.configuration.realm.id;
  const offline = await offlineClients(call, userId);
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

async function offlineClients({ context }: RealmCall, userId: string): Promise<Set<string>> {
  const sessions = await context.store.listUserSessions(userId, true);
  return new Set(sessions.flatMap(({ clientUuids }) => clientUuids));
}

/**
 * Takes a user's consent to a client away with all that the client has of the user, offline tokens too; the client is
 * told that its part in the user's sessions has ended (Back-Channel Logout 1.0 §2.5), as in Keycloak.
 *
 * @throws AdminRefusal 404 for a client that is none, or that was agreed to nothing
 */
export async function revokeConsent(call: RealmCall, userId: string, clientId: string): Promise<void> {
  await getUser(call, userId);
  const { context, configuration } = call;
  const client = await context.store.findClient(configuration.realm.id, clientId);
  if (client === undefined) throw notFound('Client not found');
  const consent = await context.store.findConsent(userId, client.id);
  const told = { userId, clientUuid: client.id };
  const tell =
    consent === undefined ? undefined : await context.sessionEndings?.prepare(configuration.realm.id, told);
  const { removed } = await context.store.removeConsent(userId, client.id);
  if (!removed) throw notFound('Consent nor offline token not found');
  await tell?.();
  await applyChanges(call, [], {
    operation: 'ACTION',
    resource: 'USER',
    path: `users/${userId}/consents/${clientId}`,
  });
}

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
