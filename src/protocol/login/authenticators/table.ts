import type { Authenticator } from './authenticator.ts';
import { otp } from './otp.ts';

/** Every authenticator, by the type of the credentials that it reads. A user with any other second factor is refused. */
export const AUTHENTICATORS: ReadonlyMap<string, Authenticator> = new Map([['otp', otp]]);
