import type { Milliseconds } from '../../core/index.ts';
import type { AdminEvent, ClientId, RealmId, UserEvent } from '../../model/index.ts';

/** The part of a list of events to return, newest first. Times are Unix times in milliseconds. */
interface EventRange {
  from?: Milliseconds;
  to?: Milliseconds;
  first: number;
  max: number;
  /** Returns only events that are older than the event at this position. */
  before?: { time: Milliseconds; seq: number };
}

/** Filters of `listEvents`. */
export interface EventQuery extends EventRange {
  realmId: RealmId;
  types?: readonly string[];
  clientId?: ClientId;
  userId?: string;
  ipAddress?: string;
}

/** Filters of `listAdminEvents`. */
export interface AdminEventQuery extends EventRange {
  realmId: RealmId;
  operationTypes?: readonly string[];
  resourceTypes?: readonly string[];
  /** `*` matches any text. */
  resourcePath?: string;
  authRealmId?: string;
  authClientId?: string;
  authUserId?: string;
  authIpAddress?: string;
}

/**
 * Events of users and of administrators. Lists are sorted newest first. The `…Pages` methods return pages as
 * `userPages` does.
 */
export interface EventStore {
  /** Ignores events of realms that do not exist. */
  appendEvents(events: readonly UserEvent[]): Promise<void>;
  listEvents(query: EventQuery): Promise<readonly UserEvent[]>;
  eventPages(query: EventQuery): AsyncIterable<readonly UserEvent[]>;
  clearEvents(realmId: RealmId): Promise<void>;
  listAdminEvents(query: AdminEventQuery): Promise<readonly AdminEvent[]>;
  adminEventPages(query: AdminEventQuery): AsyncIterable<readonly AdminEvent[]>;
  clearAdminEvents(realmId: RealmId): Promise<void>;
}
