import type { Branded } from '../core/index.ts';

// Types for ids that must not be confused. The compiler accepts a plain string for any of them, so parsed input needs
// no cast. It rejects an id of one kind where another kind is required. The constructors add the type to a parsed
// string.

export type RealmId = Branded<string, 'RealmId'>;
/** The id of a client in the store and in the administrative API. Not its `client_id`. */
export type ClientUuid = Branded<string, 'ClientUuid'>;
/** The `client_id` of OAuth (RFC 6749 §2.2). */
export type ClientId = Branded<string, 'ClientId'>;
/** The id of a user session, in the claim `sid`. */
export type SessionId = Branded<string, 'SessionId'>;
/** The id of a token family, in the claim `reuse_id`. */
export type FamilyId = Branded<string, 'FamilyId'>;
/** The SHA-256 hash of a refresh token. */
export type TokenHash = Branded<Buffer, 'TokenHash'>;

export const realmId = (text: string): RealmId => text;
export const clientUuid = (text: string): ClientUuid => text;
export const clientId = (text: string): ClientId => text;
export const sessionId = (text: string): SessionId => text;
export const familyId = (text: string): FamilyId => text;
export const tokenHash = (bytes: Buffer): TokenHash => bytes;
