import type { UserEvent } from '../model/index.ts';
import type { EventSink } from '../protocol/index.ts';
import type { Store } from '../store/index.ts';
import { isStoredType } from './event-types.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { ServiceLog } from './service-log.ts';

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
