import type { RequiredAction } from './required-action.ts';
import { terms } from './terms.ts';
import { updatePassword } from './update-password.ts';
import { updateProfile } from './update-profile.ts';

/** Every required action that can be done here, by its alias; the user of any other is kept out (contract §5). */
export const REQUIRED_ACTIONS: ReadonlyMap<string, RequiredAction> = new Map([
  ['UPDATE_PASSWORD', updatePassword],
  ['UPDATE_PROFILE', updateProfile],
  ['VERIFY_PROFILE', updateProfile],
  ['TERMS_AND_CONDITIONS', terms],
]);
