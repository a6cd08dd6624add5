// Keys of a realm: which one signs, which ones verify, what is published.
export type { KeyRing, RealmKey } from './contract.ts';
