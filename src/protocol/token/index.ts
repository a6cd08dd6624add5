// Token: issues tokens to an authenticated user, and verifies the access and refresh tokens that clients present.
// Not decided here: the claims of a token (claims/), its lifetime (model/session-lifetimes.ts), its keys (keys/).
// Start at issue.ts, then refresh-token.ts.

export {
  type ActiveToken,
  findIssuerRealm,
  judgeClaims,
  type RefusedToken,
  type VerifiedClaims,
  verifyAccessToken,
} from './access-token.ts';
export { gatherClaims, issueTokens, type TokenResponse } from './issue.ts';
export {
  checkRefreshClient,
  checkRefreshSession,
  checkRefreshTimesAndClient,
  explainMissingFamily,
  hashRefreshToken,
  type RefreshToken,
  readRefreshToken,
  refused,
} from './refresh-token.ts';
export { successionOf } from './successor.ts';
