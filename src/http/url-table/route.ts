import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AdminContext } from '../../admin/index.ts';
import type { ProtocolContext } from '../../protocol/index.ts';

/** The dependencies of the handlers, which the service creates once. */
export interface Services {
  protocol: ProtocolContext;
  admin: AdminContext;
  /** Maximum sizes of request bodies in bytes. */
  limits: { bodyBytes: number; adminBodyBytes: number };
  /** Absent: handlers do not log. */
  log?: ServiceLog;
  /** The directory of `{realm}.svg` or `{realm}.png`. Absent: realms have no logos. */
  logoDirectory?: string;
}

/**
 * One route: a row of the URL table. `handle` calls `reply.send` or returns a value. The table in
 * responses/wire-errors.ts renders a thrown Refusal. `request.body` is the raw body as a Buffer, whatever its content
 * type, or undefined if there is none. GET routes handle HEAD too.
 */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS' | 'HEAD' | 'PATCH';
  /** A path of `text`, `:name` and, at its end, `*`; see url-tree.ts. */
  url: string;
  handle(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
  /**
   * Authorizes the caller before the service reads a body that is larger than `limits.bodyBytes` or of unknown length.
   * A route with `authorize` accepts bodies up to `limits.adminBodyBytes`, every other route up to `limits.bodyBytes`.
   *
   * @throws Refusal
   */
  authorize?(services: Services, request: FastifyRequest): Promise<unknown>;
}

/**
 * The log of the service. pino writes it, unless the output is a terminal. A terminal shows no log. `fields` never
 * contains a secret, a body, a query string or an `Authorization` header.
 */
export interface ServiceLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
