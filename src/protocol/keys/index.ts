// Keys: which key of a realm signs, which ones verify, and what is published.
// Not decided here: what a key component holds and how a key is made (the crypto room).
// Start at key-ring.ts.
export { type KeyRing, openKeyRing, type RealmKey, signatureAlgorithm } from './key-ring.ts';
