import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Right } from '../../admin/index.ts';
import type { RecordKind } from '../../model/index.ts';
import type { Route, Services } from '../url-table/route.ts';
import type { AdminCall } from './call.ts';

/** Existing records of one kind that a route changes and locks. */
export interface Written {
  kind: RecordKind;
  /**
   * Returns the ids of the records in the realm of the call. Omits missing records, because the route's handler reports
   * them.
   */
  ids(call: AdminCall): readonly string[] | Promise<readonly string[]>;
}

/**
 * The right that a route requires. `none`: the route has no such check, because its response depends on the caller's
 * rights or is the same for every caller.
 */
export type RowRight = Right | 'none';

interface AnyRow {
  /** The path below `/admin/realms/{realm}`, as in `Route.url`. */
  path: string;
  right: RowRight | ((call: AdminCall) => RowRight);
  /**
   * Finds the record of the path before the right is checked, as Keycloak does for some paths. A caller who may query
   * such records then gets 404 for a missing record, instead of 403 for the missing right.
   *
   * @throws AdminRefusal
   */
  of?(call: AdminCall): unknown;
  /** Returns a value (200), undefined (204) or `Created` (201). */
  handle(call: AdminCall): unknown;
}

/** A route that only reads. */
export interface ReadingRow extends AnyRow {
  method: 'GET';
}

/**
 * A route that can change something. `writes` names the existing records that the route replaces or to which it adds a
 * part. The route runs while it holds the locks of all of them. `writes` is empty if the route only creates separate
 * records, or changes sessions or events, which have no locks.
 */
export interface WritingRow extends AnyRow {
  method: Exclude<Route['method'], 'GET' | 'HEAD' | 'OPTIONS' | 'PATCH'>;
  writes: readonly Written[];
}

/**
 * A route of the administrative API below a realm: one row of its table, with the right that the route requires and the
 * records that it writes.
 */
export type AdminRow = ReadingRow | WritingRow;

/** A request of an authenticated caller at `/admin/realms`, outside any realm. */
export interface RealmsCall {
  services: Services;
  caller: Caller;
  request: FastifyRequest;
  reply: FastifyReply;
}

/**
 * A route of `/admin/realms` itself, whose right is a role of the master realm. Its handler takes the locks of the
 * records itself, because it shares code with the import of realm files. That code prepares a realm before it takes a
 * lock.
 */
export type RealmsRow = { handle(call: RealmsCall): Promise<unknown> } & (
  | { method: 'GET'; right: 'none' }
  | { method: WritingRow['method']; right: 'create-realm' | 'admin'; writes: readonly Written[] }
);
