// Resource server: `idkit/resource-server`, for APIs that accept access tokens.
// Owns: the verification of bearer tokens with the service's published keys, the checks of roles and scopes, and the
// adapters for Fastify, Express and node:http.
// Must not know: the service, Node.js, the rest of this package.
// Start at resource-server.ts.
export {
  expressBearer,
  fastifyBearer,
  getCaller,
  httpBearer,
  type ReplyShape,
  type RequestShape,
  type ResponseShape,
} from './adapters.ts';
export { BearerRefusal } from './bearer-refusal.ts';
export type { Caller, Requirement } from './caller.ts';
export type { KeySource } from './published-keys.ts';
export { openResourceServer, type ResourceServer, type ResourceServerOptions } from './resource-server.ts';
