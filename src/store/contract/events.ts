import type { Milliseconds } from '../../core/index.ts';
import type { AdminEvent, ClientId, RealmId, UserEvent } from '../../model/index.ts';

/** Selects a range of events. Events are sorted newest first, and times are Unix times in milliseconds. */
interface EventRange {
  from?: Milliseconds;
  to?: Milliseconds;
  first: number;
  max: number;
  /** The last event of the previous page. The result starts after it. */
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
  /** A path in which `*` matches any text. */
  resourcePath?: string;
  authRealmId?: string;
  authClientId?: string;
  authUserId?: string;
  authIpAddress?: string;
}

/**
 * Stores the events of users and administrators. Lists are sorted newest first. The `…Pages` methods read a list page
 * by page, as `userPages` does.
 */
export interface EventStore {
  /** Stores the events. Skips events of realms that no longer exist. */
  appendEvents(events: readonly UserEvent[]): Promise<void>;
  listEvents(query: EventQuery): Promise<readonly UserEvent[]>;
  eventPages(query: EventQuery): AsyncIterable<readonly UserEvent[]>;
  clearEvents(realmId: RealmId): Promise<void>;
  listAdminEvents(query: AdminEventQuery): Promise<readonly AdminEvent[]>;
  adminEventPages(query: AdminEventQuery): AsyncIterable<readonly AdminEvent[]>;
  clearAdminEvents(realmId: RealmId): Promise<void>;
}
