import type { RequiredAction } from './required-action.ts';
import { terms } from './terms.ts';
import { updatePassword } from './update-password.ts';
import { updateProfile } from './update-profile.ts';

/**
 * Every required action of idkit by its alias. A user with any other action is rejected. A new action needs one file
 * and one row here.
 */
export const REQUIRED_ACTIONS: ReadonlyMap<string, RequiredAction> = new Map([
  ['UPDATE_PASSWORD', updatePassword],
  ['UPDATE_PROFILE', updateProfile],
  ['VERIFY_PROFILE', updateProfile],
  ['TERMS_AND_CONDITIONS', terms],
]);
