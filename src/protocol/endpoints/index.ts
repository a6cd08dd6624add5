// Endpoints: the endpoints below /protocol/openid-connect, one file each, and the documents that a realm publishes.
// Not decided here: HTTP (the http room), and what a grant proves (grants/).
// Start at token.ts.
export { discoveryDocument, publishedKeys, type RealmInfo, realmInfo } from './discovery.ts';
export { type Introspection, introspectToken } from './introspection.ts';
export { findRefreshToken, logoutByRefreshToken } from './logout.ts';
export { revokeToken } from './revocation.ts';
export { requestTokens } from './token.ts';
export { userInfo } from './user-info.ts';
