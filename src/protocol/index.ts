// Protocol: OAuth 2 and OpenID Connect rules as functions of plain values.
// Owns: the token endpoint and its grants, revocation, logout, introspection, user info, keys, claims, discovery.
// Must not know: HTTP, SQL, the wall clock.
// Start at token-endpoint.ts.
export type { EventSink, ProtocolContext, ProtocolRequest } from './context.ts';
export type { KeyRing, RealmKey } from './keys/index.ts';
