import { hashPolicy } from '../../crypto/index.ts';
import type { Credential, User } from '../../model/index.ts';
import type { LoginAttempt } from './attempt.ts';
import { guessAt, guessedName } from './guess.ts';
import { describeRefusedCode, listSecondFactors, matchCode, spendCode, takesCode } from './second-factor.ts';

/** A user who entered the correct password. */
export interface ProvenPassword {
  user: User;
  /** The password credential that matched. */
  password: Credential;
  /** The second factors of which the user must prove one on a later page. Empty if none is needed. */
  due: readonly Credential[];
  /**
   * Replaces a hash whose parameters differ from the policy (docs/keycloak/users.md#password-hashes). Does nothing if
   * the hash changed in the meantime.
   */
  rehash: () => Promise<void>;
}

/**
 * Authenticates a user with name and password, in the order of docs/keycloak/tokens.md#password-grant. An unknown user,
 * a wrong password and a locked user cause the same work and get the same message. If nothing is left to prove, checks
 * that the account is enabled and clears its failures.
 *
 * @param who the name that the user entered, or the user who has to log in
 * @param code the code of the second factor, if the same form contains it. Default: a later page asks for it.
 * @throws Refusal `user-credentials-wrong`, `account-disabled`
 */
export async function provePassword(
  attempt: LoginAttempt,
  who: string | User,
  password: string,
  code?: string,
): Promise<ProvenPassword> {
  const { ctx, configuration } = attempt;
  const policy = hashPolicy(configuration.realm.settings.passwordPolicy);
  const found = typeof who === 'string' ? await findUser(attempt, who) : who;
  const typed = typeof who === 'string' ? who : who.username;
  const name = guessedName(found, typed);
  return guessAt(attempt, found, typed, async (guessed) => {
    const { user, credentials, locked } = guessed;
    const stored = credentials.find((credential) => credential.type === 'password');
    const compared = user === undefined || locked || password === '' ? undefined : stored;
    const verdict = await compare(attempt, password, { compared, stored, name });
    const factors = listSecondFactors(credentials);
    const matches = matchCode(attempt, factors, code ?? '');
    if (user === undefined || stored === undefined || verdict === undefined) return guessed.refuse();
    const due = code === undefined ? factors : [];
    if (code !== undefined && factors.length > 0 && !(await spendCode(matches))) {
      await findSome(attempt, name);
      return guessed.refuse(describeRefusedCode(factors));
    }
    if (due.length === 0) await guessed.admit(user);
    return {
      user,
      password: stored,
      due,
      rehash: async () => {
        if (!verdict.outdated) return;
        const next = await ctx.passwords.hash(password, policy);
        await ctx.store.rehashPassword(stored, { ...stored, ...next });
      },
    };
  });
}

/**
 * Verifies the second factor of a user whose password was verified in an earlier request. A wrong code counts as a
 * failed login, like a wrong password.
 *
 * @param proof `passwordId`: the verified password, which must still be current; `code`: the code that the user
 *   entered; `credentialId`: the device that generated the code. Default: any device.
 * @throws Refusal `user-credentials-wrong`, `account-disabled`
 */
export function proveCode(
  attempt: LoginAttempt,
  found: User,
  proof: { passwordId: string; code: string; credentialId?: string | undefined },
): Promise<User> {
  return guessAt(attempt, found, found.username, async (guessed) => {
    const { user, credentials, locked } = guessed;
    const factors = listSecondFactors(credentials);
    // For an unknown device id, no factor remains. The code then counts as wrong, so that the login does not succeed
    // without a second factor.
    const chosen =
      proof.credentialId === undefined
        ? factors
        : factors.filter((one) => takesCode(one) && one.id === proof.credentialId);
    const matches = matchCode(attempt, chosen, proof.code);
    const holds = credentials.some(({ id, type }) => id === proof.passwordId && type === 'password');
    if (user === undefined || locked || !holds) return guessed.refuse();
    if (factors.length > 0 && !(await spendCode(matches))) return guessed.refuse(describeRefusedCode(chosen));
    await guessed.admit(user);
    return user;
  });
}

/**
 * Whether the user is still enabled and still has the verified password. Both can change while a login computes a hash,
 * and that login must then not leave a session behind.
 */
export async function stillHolds(
  { ctx, configuration }: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  proof: { userId: string; passwordId: string },
): Promise<boolean> {
  const [user, credentials] = await Promise.all([
    ctx.store.findUser(configuration.realm.id, proof.userId),
    ctx.store.listCredentials(proof.userId),
  ]);
  return (
    user?.enabled === true &&
    credentials.some(({ id, type }) => id === proof.passwordId && type === 'password')
  );
}

/**
 * Finds a user by e-mail, if the realm allows it and the name looks like one, then by username. Case is ignored
 * (docs/keycloak/tokens.md#password-grant).
 */
export async function findUser(
  { ctx, configuration }: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  typed: string,
): Promise<User | undefined> {
  const { id: realmId, settings } = configuration.realm;
  const name = typed.toLowerCase();
  // No user has a name of more than 255 characters, and the database must not search for a megabyte of text.
  if (name === '' || name.length > 255) return undefined;
  // Both reads always run, so that the response time does not show which of them found a user.
  const mayBeEmail = settings.loginWithEmailAllowed && name.includes('@');
  const [byEmail, byName] = await Promise.all([
    mayBeEmail ? ctx.store.findUserByEmail(realmId, name) : undefined,
    ctx.store.findUserByUsername(realmId, name),
  ]);
  const user = byEmail ?? byName;
  return user?.serviceAccountClientUuid === undefined ? user : undefined;
}

/**
 * Compares a password with a hash, and does equal work if there is nothing to compare. The time of the work depends on
 * the parameters of the hash. For an unknown name, the parameters therefore come from an existing user, so that the
 * time does not reveal which users exist.
 *
 * @param hashes `compared`: the hash of an unlocked user; `stored`: determines the work if there is nothing to compare;
 * if both are undefined, a hash that `name` selects determines it
 * @returns undefined if the password does not match
 */
async function compare(
  { ctx, configuration }: LoginAttempt,
  password: string,
  hashes: { compared: Credential | undefined; stored: Credential | undefined; name: string },
): Promise<{ outdated: boolean } | undefined> {
  const policy = hashPolicy(configuration.realm.settings.passwordPolicy);
  const { compared, stored, name } = hashes;
  const verified =
    compared === undefined ? undefined : await ctx.passwords.verify(password, compared, policy);
  if (verified?.outcome === 'match') return { outdated: verified.outdated };
  const some = await findSome({ ctx, configuration }, name);
  if (verified?.outcome === 'mismatch') return undefined;
  const like = [stored, some].filter((one) => one !== undefined);
  await ctx.passwords.verifyNobody(password, policy, like);
  return undefined;
}

/**
 * Reads the password hash of an arbitrary user. Every rejected guess reads one, even if it does not need it, because
 * attackers could measure a missing read.
 */
function findSome({ ctx, configuration }: Pick<LoginAttempt, 'ctx' | 'configuration'>, name: string) {
  return ctx.store.findSomePassword(configuration.realm.id, name);
}
