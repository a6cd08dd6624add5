import { hashPolicy } from '../../crypto/index.ts';
import type { Credential, User } from '../../model/index.ts';
import type { LoginAttempt } from './attempt.ts';
import { guessAt, guessedName } from './guess.ts';
import { describeRefusedCode, listSecondFactors, matchCode, spendCode, takesCode } from './second-factor.ts';

/** A user whose password proved right. */
export interface ProvenPassword {
  user: User;
  /** The credential that was matched. */
  password: Credential;
  /** Second factors that are still to be proved, on a page of their own. */
  due: readonly Credential[];
  /** Replaces a hash of other parameters than the policy's; lost where it was changed meanwhile (facts §9). */
  rehash: () => Promise<void>;
}

/**
 * Proves a user by name and password (facts §3.6, in its order): the same words for an unknown user, a wrong password
 * and a locked user, with the same work behind them. Who proved everything is let in if the account is enabled, and
 * failures are forgotten.
 *
 * @param who the name as typed, or the user that a login has to be of
 * @param code of the second factor, from the same form; absent: it is proved on a page of its own
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
 * Proves the second factor of a user whose password was proved a step before (facts §3.6). A wrong code counts as a
 * wrong password does.
 *
 * @param proof `passwordId`: of that password, which must still be the user's; `code` as typed; `credentialId`: the
 * device that it is of, absent: any
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
    // A device that the user does not have leaves none to prove; that is a wrong code, not a login without one.
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
 * Whether what a login was proved by still holds: hashing takes a while, and a password that was changed or a user
 * who was disabled meanwhile must not leave a session behind.
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

/** By e-mail where the realm allows it and it looks like one, then by username; in any case (facts §3.6). */
export async function findUser(
  { ctx, configuration }: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  typed: string,
): Promise<User | undefined> {
  const { id: realmId, settings } = configuration.realm;
  const name = typed.toLowerCase();
  // Nobody has a longer one (facts §10), and no database is to look for a megabyte.
  if (name === '' || name.length > 255) return undefined;
  // Both are read in any case: the time does not tell whether one of them found somebody.
  const mayBeEmail = settings.loginWithEmailAllowed && name.includes('@');
  const [byEmail, byName] = await Promise.all([
    mayBeEmail ? ctx.store.findUserByEmail(realmId, name) : undefined,
    ctx.store.findUserByUsername(realmId, name),
  ]);
  const user = byEmail ?? byName;
  return user?.serviceAccountClientUuid === undefined ? user : undefined;
}

/**
 * One hash, whatever the password is compared with. Users whose hashes are older than the policy take another time than
 * it does: nobody's guess takes that of some user, so that it does not tell who has an account.
 *
 * @param hashes `compared`: that of an unlocked user; `stored`: whose work is done else; neither: that of a user whom
 * `name` picks
 * @returns undefined: no match
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

/** The hash of some user; read for every guess that is refused, needed or not: one read less would tell. */
function findSome({ ctx, configuration }: Pick<LoginAttempt, 'ctx' | 'configuration'>, name: string) {
  return ctx.store.findSomePassword(configuration.realm.id, name);
}
