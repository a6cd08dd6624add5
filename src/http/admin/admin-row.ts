import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Right } from '../../admin/index.ts';
import type { RecordKind } from '../../model/index.ts';
import type { Route, Services } from '../url-table/route.ts';
import type { AdminCall } from './call.ts';

/** The records of one kind that a row replaces as a whole. */
export interface Written {
  kind: RecordKind;
  /** Their ids in the realm of the call. Omits records that do not exist, which the row itself reports. */
  ids(call: AdminCall): readonly string[] | Promise<readonly string[]>;
}

/** The right that a row requires. `none`: every caller gets a response, or the response depends on the rights. */
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

/** A row that only reads. */
export interface ReadingRow extends AnyRow {
  method: 'GET';
}

/**
 * A row that may change something. `writes` names the existing records that the row replaces, and those to which it
 * adds a part. The row runs in the turns of all of them. `writes` is empty if the row only creates separate records, or
 * changes sessions or events, which are not records.
 */
export interface WritingRow extends AnyRow {
  method: Exclude<Route['method'], 'GET' | 'HEAD' | 'OPTIONS' | 'PATCH'>;
  writes: readonly Written[];
}

/** One row of the administrative API below a realm. */
export type AdminRow = ReadingRow | WritingRow;

/** A request of an authenticated caller at `/admin/realms`, outside of any realm. */
export interface RealmsCall {
  services: Services;
  caller: Caller;
  request: FastifyRequest;
  reply: FastifyReply;
}

/**
 * A row of `/admin/realms` itself. Its right is a role of the realm master. It takes the turns of its records itself,
 * because it shares code with the import of realm files. That code prepares a realm before it takes turns.
 */
export type RealmsRow = { handle(call: RealmsCall): Promise<unknown> } & (
  | { method: 'GET'; right: 'none' }
  | { method: WritingRow['method']; right: 'create-realm' | 'admin'; writes: readonly Written[] }
);
