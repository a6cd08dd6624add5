import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Right } from '../../admin/index.ts';
import type { RecordKind } from '../../model/index.ts';
import type { Route, Services } from '../url-table/route.ts';
import type { AdminCall } from './call.ts';

/** Records of one kind that a row reads and writes as wholes. */
export interface Written {
  kind: RecordKind;
  /** Their ids in the realm of the call; none for what is not there, which the row itself refuses. */
  ids(call: AdminCall): readonly string[] | Promise<readonly string[]>;
}

/** The right that a row needs; `none` where everybody is answered, or the answer itself depends on the rights. */
export type RowRight = Right | 'none';

interface AnyRow {
  /** Below `/admin/realms/{realm}`; a Fastify path. */
  path: string;
  right: RowRight | ((call: AdminCall) => RowRight);
  /**
   * Finds the record of the path before the right is checked, where Keycloak does: who may ask for such records learns
   * that one is not there (404) before that the right lacks (403). @throws AdminRefusal
   */
  of?(call: AdminCall): unknown;
  /** Answers a value (200), undefined (204) or `Created` (201). */
  handle(call: AdminCall): unknown;
}

/** A row that only reads. */
export interface ReadingRow extends AnyRow {
  method: 'GET';
}

/**
 * A row that may change something. `writes` is every record that is there already and that the row replaces as a whole,
 * or that what it adds belongs to: the row runs in the turns of all of them. It is empty where a row only makes records
 * of their own, or changes what is no record (sessions, events).
 */
export interface WritingRow extends AnyRow {
  method: Exclude<Route['method'], 'GET' | 'HEAD' | 'OPTIONS' | 'PATCH'>;
  writes: readonly Written[];
}

/** One row of the administrative API below a realm. */
export type AdminRow = ReadingRow | WritingRow;

/** A request of a proved caller at `/admin/realms`, in no realm. */
export interface RealmsCall {
  services: Services;
  caller: Caller;
  request: FastifyRequest;
  reply: FastifyReply;
}

/**
 * A row of `/admin/realms` itself. Its right is a role of master's own. What it writes it takes the turns of inside:
 * a realm from a file is made by the same code, and is built before others have to wait.
 */
export type RealmsRow = { handle(call: RealmsCall): Promise<unknown> } & (
  | { method: 'GET'; right: 'none' }
  | { method: WritingRow['method']; right: 'create-realm' | 'admin'; writes: readonly Written[] }
);
