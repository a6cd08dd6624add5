import type { Revised } from './revised.ts';

/** A realm role, or a client role where `clientUuid` is set (RoleRepresentation, facts §8.4). */
export interface Role extends Revised {
  id: string;
  realmId: string;
  name: string;
  description?: string;
  /** The client that the role belongs to; absent for a realm role. */
  clientUuid?: string;
  attributes: Readonly<Record<string, readonly string[]>>;
  /** Ids of the roles that this one includes. */
  compositeIds: readonly string[];
}

/** A group of users (GroupRepresentation). */
export interface Group extends Revised {
  id: string;
  realmId: string;
  name: string;
  description?: string;
  /** Absent for a top-level group. */
  parentId?: string;
  attributes: Readonly<Record<string, readonly string[]>>;
  roleIds: readonly string[];
  /** New users of the realm join it. */
  isDefault: boolean;
}
