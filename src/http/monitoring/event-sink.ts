import type { UserEvent } from '../../model/index.ts';
import type { EventSink } from '../../protocol/index.ts';
import type { Store } from '../../store/index.ts';
import type { ServiceLog } from '../url-table/route.ts';
import type { Metrics } from './metrics.ts';

/** Maximum time in milliseconds that an event waits for others. */
const WAIT_MILLISECONDS = 100;
/** Maximum number of events per write. */
const BATCH = 500;
/** Maximum number of events in memory. If it is reached, new events are logged and counted, but not stored. */
const MAX_WAITING = 20_000;

/** A sink that can be flushed when the service ends. */
export interface EventSinkHandle extends EventSink {
  /** Stores the waiting events. Never throws. */
  flush(): Promise<void>;
}

/**
 * Opens the sink of user events. It logs and counts each event, and stores it in batches if the realm stores events of
 * its type (docs/keycloak/realms.md#events). It never throws and never delays a request. If the store fails, the batch
 * is lost, and its events are counted as dropped.
 */
export function openEventSink(options: {
  store: Pick<Store, 'appendEvents' | 'findRealmById'>;
  log: ServiceLog;
  metrics: Metrics;
}): EventSinkHandle {
  const { store, log, metrics } = options;
  let waiting: UserEvent[] = [];
  /** The number of events that are waiting or being written. */
  let held = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const storeBatch = async (events: readonly UserEvent[]): Promise<void> => {
    try {
      const stored: UserEvent[] = [];
      for (const event of events) {
        const settings = (await store.findRealmById(event.realmId))?.realm.settings;
        if (settings?.eventsEnabled && isStoredType(event.type, settings.enabledEventTypes))
          stored.push(event);
      }
      if (stored.length > 0) await store.appendEvents(stored);
    } catch (error) {
      metrics.countDroppedEvents(events.length);
      log.error({ err: error, events: events.length }, 'the events were not stored');
    } finally {
      held -= events.length;
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const all = waiting;
    waiting = [];
    for (let start = 0; start < all.length; start += BATCH) {
      const batch = all.slice(start, start + BATCH);
      writing = writing.then(() => storeBatch(batch));
    }
    return writing;
  };

  return {
    emit(event, realmName) {
      metrics.events.add(event.type, event.error, realmName, event.clientId);
      metrics.history.count(event.type);
      if (event.type === 'REFRESH_TOKEN') metrics.renewals.add(realmName, 'good');
      else if (event.type === 'REFRESH_TOKEN_ERROR') metrics.renewals.add(realmName, 'failed');
      if (isReuse(event)) metrics.countReuse(realmName);
      if (event.details['refresh_token_repeated'] === 'true') metrics.countRepeat(realmName);
      logEvent(log, event, realmName);
      if (held >= MAX_WAITING) {
        metrics.countDroppedEvents(1);
        return;
      }
      held++;
      waiting.push(event);
      if (waiting.length >= BATCH) void flush();
      else timer ??= setTimeout(() => void flush(), WAIT_MILLISECONDS);
    },
    flush,
  };
}

/** Whether the event reports the reuse of a refresh token, which has ended the user session. */
function isReuse(event: UserEvent): boolean {
  return event.type === 'REFRESH_TOKEN_ERROR' && event.details['refresh_token_reuse'] === 'true';
}

function logEvent(log: ServiceLog, event: UserEvent, realm: string): void {
  const fields = {
    event: event.type,
    realm,
    clientId: event.clientId,
    userId: event.userId,
    sessionId: event.sessionId,
    ipAddress: event.ipAddress,
    error: event.error,
    details: event.details,
  };
  if (event.error === undefined) log.info(fields, event.type);
  else log.warn(fields, event.type);
}

/**
 * The event types that a realm stores by default, each together with its type for failures, `…_ERROR`
 * (docs/keycloak/realms.md#events).
 */
const STORED_BY_DEFAULT: ReadonlySet<string> = new Set([
  'LOGIN',
  'REGISTER',
  'LOGOUT',
  'CODE_TO_TOKEN',
  'CLIENT_LOGIN',
  'FEDERATED_IDENTITY_LINK',
  'REMOVE_FEDERATED_IDENTITY',
  'UPDATE_EMAIL',
  'UPDATE_PROFILE',
  'UPDATE_PASSWORD',
  'UPDATE_TOTP',
  'VERIFY_EMAIL',
  'VERIFY_PROFILE',
  'REMOVE_TOTP',
  'GRANT_CONSENT',
  'UPDATE_CONSENT',
  'REVOKE_GRANT',
  'SEND_VERIFY_EMAIL',
  'SEND_RESET_PASSWORD',
  'SEND_IDENTITY_PROVIDER_LINK',
  'RESET_PASSWORD',
  'RESTART_AUTHENTICATION',
  'IDENTITY_PROVIDER_LINK_ACCOUNT',
  'IDENTITY_PROVIDER_FIRST_LOGIN',
  'IDENTITY_PROVIDER_POST_LOGIN',
  'IMPERSONATE',
  'CUSTOM_REQUIRED_ACTION',
  'EXECUTE_ACTIONS',
  'EXECUTE_ACTION_TOKEN',
  'CLIENT_REGISTER',
  'CLIENT_UPDATE',
  'CLIENT_DELETE',
  'CLIENT_INITIATED_ACCOUNT_LINKING',
  'TOKEN_EXCHANGE',
  'OAUTH2_DEVICE_AUTH',
  'OAUTH2_DEVICE_VERIFY_USER_CODE',
  'OAUTH2_DEVICE_CODE_TO_TOKEN',
  'AUTHREQID_TO_TOKEN',
  'PERMISSION_TOKEN',
  'DELETE_ACCOUNT',
  'USER_DISABLED_BY_PERMANENT_LOCKOUT',
  'USER_DISABLED_BY_TEMPORARY_LOCKOUT',
  'OAUTH2_EXTENSION_GRANT',
  'FEDERATED_IDENTITY_OVERRIDE_LINK',
  'UPDATE_CREDENTIAL',
  'REMOVE_CREDENTIAL',
  'INVITE_ORG',
]);

/** Whether a realm stores events of a type. An empty `enabledEventTypes` means the default. */
function isStoredType(type: string, enabledEventTypes: readonly string[]): boolean {
  if (enabledEventTypes.length > 0) return enabledEventTypes.includes(type);
  return STORED_BY_DEFAULT.has(type.replace(/_ERROR$/, ''));
}
