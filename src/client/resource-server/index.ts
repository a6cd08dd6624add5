// Resource server: `idkit/resource-server`, for APIs that accept access tokens.
// Owns: the verification of bearer tokens with the service's published keys, the checks of roles and scopes, and the
// adapters for Fastify, Express, Hono, web handlers such as those of Next.js, and node:http.
// Must not know: the service, Node.js, the rest of this package.
// Start at resource-server.ts.
export {
  type AdapterOptions,
  expressBearer,
  fastifyBearer,
  getCaller,
  type HonoContextShape,
  honoBearer,
  httpBearer,
  type ReplyShape,
  type RequestShape,
  type ResponseShape,
  webBearer,
} from './adapters.ts';
export { BearerRefusal, type RefusalReason } from './bearer-refusal.ts';
export type { Caller, Requirement } from './caller.ts';
export type { KeySource } from './published-keys.ts';
export { openResourceServer, type ResourceServer, type ResourceServerOptions } from './resource-server.ts';
