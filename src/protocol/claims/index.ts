// Claims: from scopes, roles and protocol mappers to what stands in a token (facts §6).
// Owns: scope resolution, role narrowing, the protocol mappers, the claims of access, ID and refresh tokens.
// Must not know: signing, sessions, grants.
// Start at scopes.ts, then tokens.ts.
export type {
  ClaimsInput,
  ClaimsTarget,
  GrantedScopes,
  ScopeResolution,
  TokenOrigin,
  TokenStamp,
} from './contract.ts';
export { mapClaims } from './map-claims.ts';
export { readsRequestedClaims } from './requested-claims.ts';
export { narrowRoles, permittedScopes, roleOwners } from './roles.ts';
export { resolveRefreshScopes, resolveScopes } from './scopes.ts';
export {
  accessTokenClaims,
  accessTokenId,
  accessTokenPayload,
  idTokenClaims,
  isLightweight,
  type RefreshTokenFacts,
  refreshTokenClaims,
  tokenHash,
} from './tokens.ts';
export { resolveRootUrl, resolveWebOrigins } from './web-origins.ts';
