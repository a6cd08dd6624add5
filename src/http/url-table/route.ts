import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AdminContext } from '../../admin/index.ts';
import type { ProtocolContext } from '../../protocol/index.ts';
import type { Themes } from '../themes/index.ts';

/** The dependencies of the handlers. The service creates them when it starts. */
export interface Services {
  protocol: ProtocolContext;
  admin: AdminContext;
  /** Maximum sizes of request bodies in bytes. */
  limits: { bodyBytes: number; adminBodyBytes: number };
  /** If absent, handlers do not log. */
  log?: ServiceLog;
  /** The directory with the logos, `{realm}.svg` or `{realm}.png`. If absent, realms have no logos. */
  logoDirectory?: string;
  /** The themes of the platform directory. If absent, realms have no themes. */
  themes?: Themes;
}

/**
 * One route: a row of the URL table. `handle` calls `reply.send` or returns a value. If it throws a Refusal, the table
 * in responses/wire-errors.ts determines the response. `request.body` is the raw body as a Buffer, whatever its content
 * type, or undefined if there is none. GET routes handle HEAD too.
 */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS' | 'HEAD' | 'PATCH';
  /** A path whose segments are `text`, `:name` or, at its end, `*`; see url-tree.ts. */
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
 * The log of the service. pino writes it, unless the output is a terminal, which shows no log. `fields` must not
 * contain a secret, a body, a query string or an `Authorization` header.
 */
export interface ServiceLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
