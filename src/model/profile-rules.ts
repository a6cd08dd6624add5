import type { User } from './user.ts';

/** A violation of the user profile, with Keycloak's keys (docs/keycloak/users.md#errors). */
export interface ProfileFault {
  field: string;
  errorMessage: string;
  params: readonly unknown[];
}

const EMAIL = /^[^\s@<>(),;:\\"[\]]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;
const PROHIBITED_IN_USERNAME = /[<>&"\s$%!#?§,;:*~/\\|^=[\]{}()`\p{Cc}]/u;
const PROHIBITED_IN_NAME = /[<>&"$%!#?§;*~/\\|^=[\]{}()\p{Cc}]/u;

/** Lists how a user violates the default user profile. Skips fields that have not changed since `before`. */
export function listProfileFaults(
  user: User,
  before: User | undefined,
  { editUsernameAllowed }: { editUsernameAllowed: boolean },
): readonly ProfileFault[] {
  const faults: ProfileFault[] = [];
  const fault = (field: string, errorMessage: string, ...params: unknown[]) =>
    faults.push({ field, errorMessage, params: [field, ...params] });
  const { email, username } = user;
  if (email !== undefined && email !== before?.email) {
    if (email.length > 255) fault('email', 'error-invalid-length-too-long', 0, 255);
    else if (!EMAIL.test(email)) fault('email', 'error-invalid-email', email);
  }
  if (username !== before?.username) {
    if (before !== undefined && !editUsernameAllowed) fault('username', 'error-user-attribute-read-only');
    else if (username.length > 255 || username.length < 3) fault('username', 'error-invalid-length', 255, 3);
    else if (PROHIBITED_IN_USERNAME.test(username)) fault('username', 'error-username-invalid-character');
  }
  for (const field of ['firstName', 'lastName'] as const) {
    const value = user[field];
    if (value === undefined || value === before?.[field]) continue;
    if (value.length > 255) fault(field, 'error-invalid-length-too-long', 0, 255);
    else if (PROHIBITED_IN_NAME.test(value)) fault(field, 'error-person-name-invalid-character');
  }
  return faults;
}
