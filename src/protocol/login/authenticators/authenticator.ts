import type { Credential } from '../../../model/index.ts';
import type { LoginAttempt } from '../attempt.ts';

/** The members of an attempt that an authenticator uses. */
export type AuthenticatorContext = Pick<LoginAttempt, 'ctx' | 'configuration'>;

/** A code that matches a credential of the user and has not been used yet. */
export interface CodeMatch {
  /** Marks the code as used. Returns false if it was used before. */
  spend(): Promise<boolean>;
}

/** A kind of second factor that a user proves with a code. To add one, add a file and a row to table.ts. */
export interface Authenticator {
  /**
   * Compares a code with a stored credential, in the same time for every code. Does not mark the code as used, because
   * the password in the same form may be wrong. Returns undefined if the code is wrong or the credential is unreadable.
   */
  match(context: AuthenticatorContext, stored: Credential, code: string): CodeMatch | undefined;
}
