import { findContentFault, findPasswordFault, PASSWORD_HISTORY } from '../../crypto/index.ts';
import {
  type Credential,
  type PasswordCandidate,
  parsePasswordPolicy,
  type User,
} from '../../model/index.ts';
import { checkMayChange } from '../access/administrators.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { badInput, notFound } from '../call/refusal.ts';
import { type Json, text } from '../representation/json.ts';
import { buildCredentials } from './build-user.ts';
import { getUser } from './get-user.ts';
import { credentialRepresentation } from './user-representation.ts';

/** @throws AdminRefusal 400 for the first rule of the policy that the password breaks */
export async function checkNewPassword(
  policy: string | undefined,
  password: string,
  user: Pick<User, 'username' | 'email'>,
): Promise<void> {
  const fault = await findContentFault(policy, candidateOf(user, password));
  if (fault !== undefined) throw badInput(fault.key, fault.message);
}

function candidateOf(
  { username, email }: Pick<User, 'username' | 'email'>,
  password: string,
): PasswordCandidate {
  return { password, username, ...(email === undefined ? {} : { email }) };
}

/**
 * Sets a user's password and ends all sessions of the user. With `temporary` the user must change it at the next login.
 *
 * @throws AdminRefusal if the password is missing or breaks the policy
 */
export async function resetPassword(call: RealmCall, userId: string, given: Json): Promise<void> {
  const user = await getUser(call, userId);
  // Check this first, so that a caller without the right cannot compare passwords with the user's previous ones.
  await checkMayChange(call, user);
  const { context, configuration } = call;
  const { passwordPolicy } = configuration.realm.settings;
  const value = text(given['value']);
  if (value === undefined) throw badInput('No password provided');
  if (value === '') throw badInput('Empty password not allowed');
  const existing = await context.store.listCredentials(userId);
  const candidate = candidateOf(user, value);
  const fault = await findPasswordFault(context.passwords, passwordPolicy, candidate, existing);
  if (fault !== undefined) throw badInput(fault.key, fault.message);
  const old = existing.filter(({ type }) => type === 'password');
  const credential = { type: 'password', value, userLabel: given['userLabel'] };
  const made = await buildCredentials([credential], userId, { context, passwordPolicy, path: '$' });
  const temporary = given['temporary'] === true;
  const others = user.requiredActions.filter((action) => action !== 'UPDATE_PASSWORD');
  const requiredActions = temporary ? [...others, 'UPDATE_PASSWORD'] : others;
  const remember = parsePasswordPolicy(passwordPolicy).passwordHistory !== undefined;
  await applyChanges(
    call,
    [
      { do: 'put', user: { ...user, requiredActions } },
      ...old.map((one) =>
        remember
          ? { do: 'put' as const, credential: { ...one, type: PASSWORD_HISTORY } }
          : { do: 'remove' as const, what: 'credential' as const, id: one.id },
      ),
      ...made.map((one) => ({ do: 'create' as const, credential: one })),
      { do: 'endSessions', userId, offlineToo: true },
    ],
    { operation: 'ACTION', resource: 'USER', path: `users/${userId}/reset-password` },
  );
}

/** Lists the credentials of a user without their secrets. */
export async function listCredentials(call: RealmCall, userId: string): Promise<readonly Json[]> {
  await getUser(call, userId);
  const credentials = await call.context.store.listCredentials(userId);
  return credentials.filter(({ type }) => type !== PASSWORD_HISTORY).map(credentialRepresentation);
}

async function getCredential(call: RealmCall, userId: string, id: string): Promise<Credential> {
  await getUser(call, userId);
  const credentials = await call.context.store.listCredentials(userId);
  const credential = credentials.find((one) => one.id === id);
  if (credential === undefined) throw notFound('Credential not found');
  return credential;
}

/** @throws AdminRefusal 404 */
export async function deleteCredential(call: RealmCall, userId: string, id: string): Promise<void> {
  await getCredential(call, userId, id);
  await checkMayChange(call, await getUser(call, userId));
  await applyChanges(call, [{ do: 'remove', what: 'credential', id }], {
    operation: 'ACTION',
    resource: 'USER',
    path: `users/${userId}/credentials/${id}`,
  });
}

/** Sets the label of a credential. @throws AdminRefusal 404 */
export async function labelCredential(
  call: RealmCall,
  userId: string,
  id: string,
  userLabel: string,
): Promise<void> {
  const credential = await getCredential(call, userId, id);
  await applyChanges(call, [{ do: 'put', credential: { ...credential, userLabel } }], {
    operation: 'UPDATE',
    resource: 'USER',
    path: `users/${userId}/credentials/${id}/userLabel`,
  });
}
