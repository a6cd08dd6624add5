// Keys: which key of a realm signs, which ones verify, and which ones are published.
// Not decided here: what a key component contains and how a key is generated (the crypto room).
// Start at key-ring.ts.
export { type KeyRing, openKeyRing, type RealmKey, signatureAlgorithm } from './key-ring.ts';
