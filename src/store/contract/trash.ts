import type { Milliseconds, Seconds } from '../../core/index.ts';
import type { AdminEvent, RealmId } from '../../model/index.ts';
import type { Conflict, Missing } from './configuration.ts';
import type { Swept } from './index.ts';
import type { Range } from './users.ts';

/** The kinds of records that the bin keeps. */
export type TrashKind = 'realm' | 'user' | 'client' | 'group';

/** Who deleted a record. */
export interface DeletedBy {
  realmId: RealmId;
  userId: string;
}

/** Makes a `remove` keep the record in the bin. */
export interface KeptUntil {
  /** The id of the new entry. */
  id: string;
  at: Milliseconds;
  by: DeletedBy;
  expiresAt: Seconds;
  /** The entry that this one belongs to. A restore of that entry also restores this one, and lists omit it. */
  ownerId?: string;
}

/** An entry of the bin. It reveals no content of the record apart from its name. */
export interface TrashEntry {
  id: string;
  /** The realm of the record, or the deleted realm itself. */
  realmId: RealmId;
  kind: TrashKind;
  recordId: string;
  /** The username, the client id, or the name of the realm or group. */
  name: string;
  deletedAt: Milliseconds;
  deletedBy: DeletedBy;
  expiresAt: Seconds;
  /**
   * `deleting`: the deletion was interrupted or is still running, and the record exists. `restoring`: the same for a
   * restore.
   */
  state: 'whole' | 'deleting' | 'restoring';
}

/** What a list of entries contains. */
export interface TrashQuery extends Range {
  kinds: readonly TrashKind[];
  /** A part of the name. Empty for all names. */
  search: string;
}

/** The authority that a restore of an entry needs: what the restored records would hold and inherit. */
export interface TrashAuthority {
  /** Ids of roles: those of the users, those of the groups, and those that restored roles include. */
  roleIds: readonly string[];
  /** Ids of groups whose roles the restored users and groups inherit. */
  groupIds: readonly string[];
}

/** A link that a restore left out, because the record that it refers to does not exist any more. */
export interface Dropped {
  what: 'role' | 'group' | 'client' | 'clientScope' | 'user';
  id: string;
  /** The name at the time of the deletion, if it is known. */
  name?: string;
}

export type Restored =
  | {
      outcome: 'restored';
      entry: TrashEntry;
      /** The first links that were left out. */
      dropped: readonly Dropped[];
    }
  | Conflict
  | Missing
  | { outcome: 'gone' };

/**
 * The bin: deleted realms, users, clients and groups, with their credentials, roles and memberships. Sessions and
 * tokens are not part of it.
 */
export interface TrashStore {
  /** Lists the entries of a realm without deleted realms, the newest first. */
  listTrash(query: TrashQuery & { realmId: RealmId }): Promise<readonly TrashEntry[]>;
  /** Lists deleted realms, the newest first. */
  listDeletedRealms(query: Omit<TrashQuery, 'kinds'>): Promise<readonly TrashEntry[]>;
  findTrash(id: string): Promise<TrashEntry | undefined>;
  /** Returns what a restore of this entry grants. */
  trashAuthority(id: string): Promise<TrashAuthority>;
  /**
   * Restores a deleted record with its id, and removes the entry. Exactly one of several parallel calls returns
   * `restored`. The others return `gone`. If the id or the name is taken, nothing changes. A record with very many links
   * is restored in slices: a realm stays disabled until the last one, and after an interruption the next call continues.
   *
   * @param adminEvents events that are stored in the same transaction as the end of the restore
   * @param name replaces the name of the record
   */
  restoreTrash(id: string, adminEvents: readonly AdminEvent[], name?: string): Promise<Restored>;
  /**
   * Removes an entry for good. Nothing lists or restores it from the start of the call on.
   *
   * @returns `busy` if the deletion or a restore of the record was interrupted or is running. Then nothing changes.
   */
  eraseTrash(id: string, adminEvents: readonly AdminEvent[]): Promise<'erased' | 'missing' | 'busy'>;
  /**
   * Removes expired entries. Only one store of a database does this at a time.
   *
   * @param expired returns the admin events to store for an entry that expired
   */
  sweepTrash(
    now: Seconds,
    limit: number,
    expired?: (entry: TrashEntry) => Promise<readonly AdminEvent[]>,
  ): Promise<Swept>;
}
