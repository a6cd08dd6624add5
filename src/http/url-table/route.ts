import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AdminContext } from '../../admin/index.ts';
import type { ProtocolContext } from '../../protocol/index.ts';

/** What the handlers work with; made once by the runtime. */
export interface Services {
  protocol: ProtocolContext;
  admin: AdminContext;
  limits: { bodyBytes: number; adminBodyBytes: number };
  /** Absent: nobody reads what is worth a line. */
  log?: ServiceLog;
  /** Holds `{realm}.svg` or `{realm}.png`; absent: no realm has a logo. */
  logoDirectory?: string;
}

/**
 * One row of the URL table. `url` is a path of `text`, `:name` and, at its end, `*` (see url-tree.ts). `handle`
 * answers with `reply.send` or by returning a value; a thrown Refusal is rendered by the table in wire-errors.ts.
 * `request.body` is the raw body as a Buffer whatever its content type, or undefined where there was none. GET rows
 * answer HEAD too.
 */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS' | 'HEAD' | 'PATCH';
  url: string;
  handle(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
  /**
   * Proves the caller before a body above `limits.bodyBytes`, or of unknown length, is read; throws a Refusal.
   * A row that has it takes bodies up to `limits.adminBodyBytes` (contract §5), every other row up to
   * `limits.bodyBytes`.
   */
  authorize?(services: Services, request: FastifyRequest): Promise<unknown>;
}

/**
 * Where the service tells what happens: pino off a terminal, nothing on one. `fields` never hold a secret, a
 * body, a query string or an `Authorization` header.
 */
export interface ServiceLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
