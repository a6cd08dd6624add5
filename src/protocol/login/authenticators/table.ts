import type { Authenticator } from './authenticator.ts';
import { otp } from './otp.ts';

/**
 * Every authenticator, by the type of the credentials that it verifies. A user who has only other second factors cannot
 * log in.
 */
export const AUTHENTICATORS: ReadonlyMap<string, Authenticator> = new Map([['otp', otp]]);
