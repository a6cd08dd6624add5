import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AdminContext } from '../admin/index.ts';
import type { ProtocolContext } from '../protocol/index.ts';

/** What the handlers work with; made once by the runtime. */
export interface Services {
  protocol: ProtocolContext;
  admin: AdminContext;
  limits: { bodyBytes: number; adminBodyBytes: number };
}

/**
 * One row of the URL table. `url` is a Fastify path. `handle` answers with `reply.send` or by returning a
 * value; a thrown Refusal is rendered by the table in wire-errors.ts.
 */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS' | 'HEAD';
  url: string;
  handle(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}
