// Claims: computes the content of a token from scopes, roles and protocol mappers.
// Not decided here: who gets a token (grants/), how it is signed (keys/, token/).
// Start at scopes.ts, then tokens.ts. To add a protocol mapper, add one function and one row to mapper-table.ts.
export type {
  ClaimsInput,
  ClaimsTarget,
  GrantedScopes,
  ScopeResolution,
  TokenOrigin,
  TokenStamp,
} from './claims-input.ts';
export { mapClaims } from './map-claims.ts';
export { readsRequestedClaims } from './requested-claims.ts';
export {
  keptScopes,
  missingConsent,
  narrowRoles,
  permittedScopes,
  resolveRefreshScopes,
  resolveScopes,
  roleOwners,
} from './scopes.ts';
export {
  accessTokenClaims,
  accessTokenId,
  accessTokenPayload,
  idTokenClaims,
  isLightweight,
  refreshTokenClaims,
  tokenHash,
} from './tokens.ts';
