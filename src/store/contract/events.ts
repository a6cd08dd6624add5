import type { AdminEvent, UserEvent } from '../../model/index.ts';

/** The part of a list of events to return, newest first. Times are Unix times in milliseconds. */
interface EventRange {
  from?: number;
  to?: number;
  first: number;
  max: number;
  /** Returns only events that are older than the one at this place. */
  before?: { time: number; seq: number };
}

/** Filters of `listEvents`. */
export interface EventQuery extends EventRange {
  realmId: string;
  types?: readonly string[];
  clientId?: string;
  userId?: string;
  ipAddress?: string;
}

/** Filters of `listAdminEvents`. */
export interface AdminEventQuery extends EventRange {
  realmId: string;
  operationTypes?: readonly string[];
  resourceTypes?: readonly string[];
  /** `*` stands for any text. */
  resourcePath?: string;
  authRealmId?: string;
  authClientId?: string;
  authUserId?: string;
  authIpAddress?: string;
}

/** Events of users and of administrators. Lists are sorted newest first; `…Pages` are read as `userPages`. */
export interface EventStore {
  /** Ignores events of realms that do not exist. */
  appendEvents(events: readonly UserEvent[]): Promise<void>;
  listEvents(query: EventQuery): Promise<readonly UserEvent[]>;
  eventPages(query: EventQuery): AsyncIterable<readonly UserEvent[]>;
  clearEvents(realmId: string): Promise<void>;
  listAdminEvents(query: AdminEventQuery): Promise<readonly AdminEvent[]>;
  adminEventPages(query: AdminEventQuery): AsyncIterable<readonly AdminEvent[]>;
  clearAdminEvents(realmId: string): Promise<void>;
}
