import type { AdminEvent, User, UserEvent } from '../model/index.ts';
import type { AdminEventQuery, EventQuery, SessionWithClients, UserQuery } from './contract.ts';

/** Which part of a list. */
export interface Range {
  /** How many of its beginning are left out. */
  first: number;
  max: number;
}

/**
 * Lists of any length, in pages that are read one by one: whoever sends them on holds one page. No page is empty. What
 * is added or removed meanwhile may be in it or not; what is neither is in it once.
 */
export interface ListStore {
  /** Sorted by username. */
  userPages(query: UserQuery & Range): AsyncIterable<readonly User[]>;
  /** Sorted by username; service accounts too. */
  roleUserPages(roleId: string, range: Range): AsyncIterable<readonly User[]>;
  memberPages(groupId: string, range: Range): AsyncIterable<readonly User[]>;
  /** Sorted by id. */
  clientSessionPages(
    query: { clientUuid: string; offline: boolean } & Range,
  ): AsyncIterable<readonly SessionWithClients[]>;
  /** Newest first. */
  eventPages(query: EventQuery): AsyncIterable<readonly UserEvent[]>;
  adminEventPages(query: AdminEventQuery): AsyncIterable<readonly AdminEvent[]>;
  /** Those of some users who have a one-time password. */
  findOtpOwners(userIds: readonly string[]): Promise<ReadonlySet<string>>;
}
