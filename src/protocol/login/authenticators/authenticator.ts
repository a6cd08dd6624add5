import type { Credential } from '../../../model/index.ts';
import type { LoginAttempt } from '../attempt.ts';

/** What an authenticator works with. */
export type AuthenticatorContext = Pick<LoginAttempt, 'ctx' | 'configuration'>;

/** A code that fits a credential of the user, and is not used up yet. */
export interface CodeMatch {
  /** Uses the code up. Returns false for a code that was used before. */
  spend(): Promise<boolean>;
}

/** A kind of second factor that a user proves with a code. One file, and one row in table.ts. */
export interface Authenticator {
  /**
   * Compares a code with a stored credential. It takes the same time for every code, and uses nothing up: the password
   * that comes with the code may be wrong. Returns undefined for a wrong code, or a credential that it cannot read.
   */
  match(context: AuthenticatorContext, stored: Credential, code: string): CodeMatch | undefined;
}
