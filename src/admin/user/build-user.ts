import { Secret, uuid } from '../../core/index.ts';
import { findHashExcess, hashPolicy, PASSWORD_HISTORY } from '../../crypto/index.ts';
import { type Credential, isPasswordTooLong, MOST_PASSWORD_BYTES, type User } from '../../model/index.ts';
import type { AdminContext } from '../call/context.ts';
import { RepresentationFault } from '../representation/fault.ts';
import { defined, type Json, objects, strings, text } from '../representation/json.ts';

/**
 * Fields of a representation that become properties of `User` or are computed. All other fields are stored unchanged.
 */
const OWN: ReadonlySet<string> = new Set([
  'id',
  'username',
  'firstName',
  'lastName',
  'email',
  'emailVerified',
  'enabled',
  'createdTimestamp',
  'attributes',
  'requiredActions',
  'notBefore',
  'serviceAccountClientId',
  'realmRoles',
  'clientRoles',
  'groups',
  'credentials',
  'clientConsents',
  'totp',
  'disableableCredentialTypes',
  'access',
  'self',
  'userProfileMetadata',
]);

/** Keycloak stores at most 255 characters of the name of a required action. It has about ten actions. */
const LONGEST_ACTION = 255;
const MOST_ACTIONS = 50;

export interface UserPlace {
  context: AdminContext;
  realmId: string;
  path: string;
}

/**
 * Builds a user from its representation, without roles or groups. Converts username and email to lower case.
 *
 * @throws RepresentationFault for a missing username, and for required actions that are too long or too many
 */
export function buildUser(given: Json, { context, realmId, path }: UserPlace): User {
  const username = text(given['username'])?.toLowerCase();
  if (username === undefined || username === '')
    throw new RepresentationFault(`${path}.username`, 'a user needs a username');
  const email = text(given['email'])?.toLowerCase();
  return {
    id: text(given['id']) ?? uuid(context.random),
    realmId,
    username,
    ...defined({
      firstName: text(given['firstName']),
      lastName: text(given['lastName']),
      email: email === '' ? undefined : email,
    }),
    emailVerified: (given['emailVerified'] as boolean | undefined) ?? false,
    enabled: (given['enabled'] as boolean | undefined) ?? false,
    createdTimestamp: (given['createdTimestamp'] as number | undefined) ?? context.clock.now(),
    attributes: (given['attributes'] ?? {}) as Record<string, readonly string[]>,
    requiredActions: requiredActions(given['requiredActions'], `${path}.requiredActions`),
    notBefore: (given['notBefore'] as number | undefined) ?? 0,
    roleIds: [],
    groupIds: [],
    kept: Object.fromEntries(Object.entries(given).filter(([name]) => !OWN.has(name))),
  };
}

function requiredActions(given: unknown, path: string): string[] {
  const names = [...new Set(strings(given))];
  if (names.length > MOST_ACTIONS)
    throw new RepresentationFault(
      path,
      `a user may have at most ${MOST_ACTIONS} required actions, but ${names.length} are given`,
    );
  const long = names.find((name) => name.length > LONGEST_ACTION);
  if (long !== undefined)
    throw new RepresentationFault(
      path,
      `the name of a required action may have at most ${LONGEST_ACTION} characters, but one has ${long.length}`,
    );
  return names;
}

export interface CredentialPlace {
  context: AdminContext;
  passwordPolicy: string | undefined;
  path: string;
  /** The username, for messages. */
  username?: string;
}

/**
 * Builds the credentials of a user. Keeps stored hashes unchanged, and hashes a plain-text password as the realm's
 * policy requires. See docs/keycloak/users.md#password-hashes.
 *
 * @throws RepresentationFault for a credential that has neither a hash nor a password, and for a hash that is too
 *   expensive
 */
export async function buildCredentials(
  given: unknown,
  userId: string,
  options: CredentialPlace,
): Promise<Credential[]> {
  const { context, path } = options;
  const credentials: Credential[] = [];
  for (const [index, one] of objects(given).entries()) {
    const at = `${path}[${index}]`;
    const type = text(one['type']) ?? (one['value'] === undefined ? undefined : 'password');
    if (type === undefined) throw new RepresentationFault(at, 'a credential needs a type');
    credentials.push({
      id: text(one['id']) ?? uuid(context.random),
      userId,
      type,
      ...defined({ userLabel: text(one['userLabel']) }),
      createdDate: (one['createdDate'] as number | undefined) ?? context.clock.now(),
      ...(await credentialValue(one, type, at, options)),
      priority: (one['priority'] as number | undefined) ?? (index + 1) * 10,
    });
  }
  return credentials;
}

async function credentialValue(
  one: Json,
  type: string,
  path: string,
  { context, passwordPolicy, username }: CredentialPlace,
): Promise<Pick<Credential, 'credentialData' | 'secretData' | 'secrets'>> {
  const credentialData = text(one['credentialData']);
  const secretData = text(one['secretData']);
  const value = text(one['value']);
  if (credentialData !== undefined || secretData !== undefined) {
    checkJson(credentialData, `${path}.credentialData`);
    checkJson(secretData, `${path}.secretData`);
    const stored = { credentialData: credentialData ?? '{}' };
    if (type === 'password' || type === PASSWORD_HISTORY) {
      const excess = findHashExcess({ ...stored, secretData: secretData ?? '{}' });
      if (excess !== undefined)
        throw new RepresentationFault(
          `${path}.credentialData`,
          `the password hash of ${username === undefined ? 'the user' : `user "${username}"`} is not accepted: ${excess}`,
        );
    }
    if (type === 'password') return { ...stored, secretData: secretData ?? '{}', secrets: {} };
    const secrets: Record<string, Secret> = {};
    if (secretData !== undefined) secrets['/secretData'] = new Secret(secretData);
    return { ...stored, secrets };
  }
  if (type === 'password' && value !== undefined && isPasswordTooLong(value))
    throw new RepresentationFault(
      `${path}.value`,
      `a password may have at most ${MOST_PASSWORD_BYTES} bytes`,
    );
  if (type === 'password' && value !== undefined && value !== '')
    return { ...(await context.passwords.hash(value, hashPolicy(passwordPolicy))), secrets: {} };
  throw new RepresentationFault(
    path,
    'a credential needs secretData and credentialData, or a password value',
  );
}

function checkJson(given: string | undefined, path: string): void {
  if (given === undefined) return;
  try {
    const parsed: unknown = JSON.parse(given);
    if (typeof parsed === 'object' && parsed !== null) return;
  } catch {
    // Invalid JSON causes the same fault as JSON that is not an object.
  }
  throw new RepresentationFault(path, 'must be a JSON object as a string');
}
