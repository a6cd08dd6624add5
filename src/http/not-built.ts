import type { FastifyRequest } from 'fastify';
import { Refusal } from '../protocol/index.ts';

/** @throws Refusal `not-built-yet` that names the path */
export function notBuilt(request: FastifyRequest, what: string): never {
  const path = request.url.split('?', 1)[0];
  throw new Refusal('not-built-yet', { description: `${what} is not built yet: ${path}` });
}
