import type { AdminEvent, UserEvent } from '../../model/index.ts';
import type { AdminEventQuery, EventQuery } from '../../store/index.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { type Pages, shown } from '../call/pages.ts';
import { badInput, badRequest } from '../call/refusal.ts';
import { defined, type Json, strings } from '../representation/json.ts';
import { checkSettings } from './realm-settings.ts';

/** Lists stored events, newest first. @throws AdminRefusal 400 for an unknown type */
export function listEvents(call: RealmCall, query: Omit<EventQuery, 'realmId'>): Pages {
  for (const type of query.types ?? [])
    if (!EVENT_TYPES.includes(type)) throw badRequest(`Unknown event type: ${type.slice(0, 100)}`);
  const { store } = call.context;
  const events = store.eventPages({ ...query, realmId: call.configuration.realm.id });
  return shown(events, (page) => page.map(represent));
}

function represent(event: UserEvent): Json {
  const { id, time, type, realmId, clientId, userId, sessionId, ipAddress, error, details } = event;
  return defined({ id, time, type, realmId, clientId, userId, sessionId, ipAddress, error, details });
}

export async function clearEvents(call: RealmCall): Promise<void> {
  await call.context.store.clearEvents(call.configuration.realm.id);
}

/** Lists stored admin events, newest first. */
export function listAdminEvents(call: RealmCall, query: Omit<AdminEventQuery, 'realmId'>): Pages {
  const realmId = call.configuration.realm.id;
  const events = call.context.store.adminEventPages({ ...query, realmId });
  return shown(events, (page) => page.map(representAdmin));
}

function representAdmin(event: AdminEvent): Json {
  const { id, time, realmId, operationType, resourceType, resourcePath, representation, error } = event;
  const authDetails = {
    realmId: event.authRealmId,
    clientId: event.authClientId,
    userId: event.authUserId,
    ipAddress: event.authIpAddress,
  };
  return defined({
    id,
    time,
    realmId,
    authDetails,
    operationType,
    resourceType,
    resourcePath,
    representation,
    error,
  });
}

export async function clearAdminEvents(call: RealmCall): Promise<void> {
  await call.context.store.clearAdminEvents(call.configuration.realm.id);
}

/** Returns the realm's event settings. An empty list of types means that the realm stores every type. */
export function showEventsConfig(call: RealmCall): Json {
  const { settings } = call.configuration.realm;
  const { eventsEnabled, eventsExpiration, eventsListeners, enabledEventTypes } = settings;
  return {
    eventsEnabled,
    ...(eventsExpiration === 0 ? {} : { eventsExpiration }),
    eventsListeners,
    enabledEventTypes: enabledEventTypes.length === 0 ? EVENT_TYPES : enabledEventTypes,
    adminEventsEnabled: settings.adminEventsEnabled,
    adminEventsDetailsEnabled: settings.adminEventsDetailsEnabled,
  };
}

const LISTENERS = new Set(['jboss-logging', 'email']);

/** Changes the realm's event settings. @throws AdminRefusal for an unknown listener or type */
export async function updateEventsConfig(call: RealmCall, given: Json): Promise<void> {
  const { realm } = call.configuration;
  for (const listener of strings(given['eventsListeners']))
    if (!LISTENERS.has(listener)) throw badInput('Unknown event listener');
  for (const type of strings(given['enabledEventTypes']))
    if (!EVENT_TYPES.includes(type)) throw badInput(`Unknown event type: ${type.slice(0, 100)}`);
  checkSettings(given);
  await applyChanges(call, [{ do: 'put', realm: { ...realm, settings: { ...realm.settings, ...given } } }], {
    operation: 'UPDATE',
    resource: 'REALM',
    path: 'events/config',
    representation: given,
  });
}

const NAMES = `
  AUTHREQID_TO_TOKEN CLIENT_DELETE CLIENT_INITIATED_ACCOUNT_LINKING CLIENT_LOGIN CLIENT_REGISTER
  CLIENT_UPDATE CODE_TO_TOKEN CUSTOM_REQUIRED_ACTION DELETE_ACCOUNT EXECUTE_ACTIONS
  EXECUTE_ACTION_TOKEN FEDERATED_IDENTITY_LINK FEDERATED_IDENTITY_OVERRIDE_LINK GRANT_CONSENT
  IDENTITY_PROVIDER_FIRST_LOGIN IDENTITY_PROVIDER_LINK_ACCOUNT IDENTITY_PROVIDER_LOGIN
  IDENTITY_PROVIDER_POST_LOGIN IMPERSONATE INVITE_ORG JWT_AUTHORIZATION_GRANT LOGIN LOGOUT
  OAUTH2_DEVICE_AUTH OAUTH2_DEVICE_CODE_TO_TOKEN OAUTH2_DEVICE_VERIFY_USER_CODE
  OAUTH2_EXTENSION_GRANT PERMISSION_TOKEN REGISTER REMOVE_CREDENTIAL REMOVE_FEDERATED_IDENTITY
  REMOVE_TOTP RESET_PASSWORD RESTART_AUTHENTICATION REVOKE_GRANT SEND_IDENTITY_PROVIDER_LINK
  SEND_RESET_PASSWORD SEND_VERIFY_EMAIL TOKEN_EXCHANGE UPDATE_CONSENT UPDATE_CREDENTIAL
  UPDATE_EMAIL UPDATE_PASSWORD UPDATE_PROFILE UPDATE_TOTP USER_DISABLED_BY_PERMANENT_LOCKOUT
  USER_DISABLED_BY_TEMPORARY_LOCKOUT VERIFIABLE_CREDENTIAL_CREATE_OFFER
  VERIFIABLE_CREDENTIAL_OFFER_REQUEST VERIFIABLE_CREDENTIAL_PRE_AUTHORIZED_GRANT
  VERIFIABLE_CREDENTIAL_REQUEST VERIFY_EMAIL VERIFY_PROFILE`;

/**
 * Every type of user events in Keycloak 26. Each type also exists with the suffix `_ERROR`. See
 * docs/keycloak/realms.md#events.
 */
export const EVENT_TYPES: readonly string[] = NAMES.trim()
  .split(/\s+/)
  .flatMap((name) => [name, `${name}_ERROR`]);
