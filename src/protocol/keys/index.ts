// Keys of a realm: which one signs, which ones verify, what is published (facts §5.6).
// Owns: choosing and publishing. What a key component holds, and making new ones, is crypto's.
// Start at contract.ts, then key-ring.ts.
export type { KeyRing, RealmKey } from './contract.ts';
export { openKeyRing } from './key-ring.ts';
