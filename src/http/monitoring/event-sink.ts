import type { UserEvent } from '../../model/index.ts';
import type { EventSink } from '../../protocol/index.ts';
import type { Store } from '../../store/index.ts';
import type { ServiceLog } from '../url-table/route.ts';
import type { Metrics } from './metrics.ts';

/** Milliseconds that an event waits for others at most, and how many go in one write. */
const WAIT_MILLISECONDS = 100;
const BATCH = 500;
/** Events held in memory at most; beyond that new ones are logged and counted, not stored. */
const MAX_WAITING = 20_000;

/** The sink with its end. */
export interface EventSinkHandle extends EventSink {
  /** Stores what waits. Never throws. */
  flush(): Promise<void>;
}

/**
 * Where user events go: a log line, the metrics, and in batches the store where the realm keeps events of the
 * type (facts §13). Never throws and never makes a request wait: a store that fails costs the stored events,
 * which are counted.
 */
export function openEventSink(parts: {
  store: Pick<Store, 'appendEvents' | 'findRealmById'>;
  log: ServiceLog;
  metrics: Metrics;
}): EventSinkHandle {
  const { store, log, metrics } = parts;
  let waiting: UserEvent[] = [];
  /** Events that are not stored yet: those that wait, and those of the batches that are being written. */
  let held = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const storeBatch = async (events: readonly UserEvent[]): Promise<void> => {
    try {
      const kept: UserEvent[] = [];
      for (const event of events) {
        const settings = (await store.findRealmById(event.realmId))?.realm.settings;
        if (settings?.eventsEnabled && isStoredType(event.type, settings.enabledEventTypes)) kept.push(event);
      }
      if (kept.length > 0) await store.appendEvents(kept);
    } catch (error) {
      metrics.countDroppedEvents(events.length);
      log.error({ err: error, events: events.length }, 'events could not be stored');
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
      if (event.type === 'REFRESH_TOKEN') metrics.renewals.add(realmName, 'good');
      else if (event.type === 'REFRESH_TOKEN_ERROR') metrics.renewals.add(realmName, 'failed');
      if (isReuse(event)) metrics.countReuse(realmName);
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

/** A refresh token that was presented again (spec, "Refresh token"): its user session has been ended. */
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

/** Types that a realm with events on and no list of its own keeps (facts §13), each with its `_ERROR`. */
const KEPT_BY_DEFAULT: ReadonlySet<string> = new Set([
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

/** Whether events of the type are stored, given the realm's `enabledEventTypes`; an empty list means the default. */
function isStoredType(type: string, enabledEventTypes: readonly string[]): boolean {
  if (enabledEventTypes.length > 0) return enabledEventTypes.includes(type);
  return KEPT_BY_DEFAULT.has(type.replace(/_ERROR$/, ''));
}
