// Crypto: password hashes, one-time passwords, key pairs, certificates, JWS and sealing.
// Owns: the algorithms and their threads.
// Must not know: storage, HTTP, tokens' rules.
// Start at contract.ts.
export type { HashPolicy, JwsKey, Passwords, SignatureAlgorithm } from './contract.ts';
