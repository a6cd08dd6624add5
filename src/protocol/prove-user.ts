import { hashPolicy } from '../crypto/index.ts';
import type { Credential, LoginFailures, User } from '../model/index.ts';
import { isLocked } from './brute-force.ts';
import type { LoginAttempt } from './login-attempt.ts';
import { findFailures, PERMANENT_LOCKOUT, recordFailure } from './login-failures.ts';
import { Refusal } from './refusal.ts';
import { listSecondFactors, proveSecondFactor, type SecondFactorOutcome } from './second-factor.ts';

/** A user whose password proved right; a second factor may still be due. */
export interface ProvenPassword {
  user: User;
  /** The credential that was matched. */
  password: Credential;
  /** All of the user's credentials. */
  credentials: readonly Credential[];
  /** Brute-force counters at that moment. */
  failures: LoginFailures | undefined;
  /** Replaces a hash of other parameters than the policy's; lost where it was changed meanwhile (facts §9). */
  rehash: () => Promise<void>;
}

/**
 * Proves a user by name and password (facts §3.6, in its order): the same words for an unknown user, a wrong
 * password and a locked user, with the same work behind them. Whether the account is usable is not looked at yet.
 *
 * @param who the name as typed, or the user that a login has to be of
 * @throws Refusal `user-credentials-wrong`
 */
export async function provePassword(
  attempt: LoginAttempt,
  who: string | User,
  password: string,
): Promise<ProvenPassword> {
  const { ctx, configuration, event } = attempt;
  const policy = hashPolicy(configuration.realm.settings.passwordPolicy);
  const user = typeof who === 'string' ? await findUser(attempt, who) : who;
  if (user === undefined) {
    await ctx.passwords.verifyNobody(password, policy);
    throw new Refusal('user-credentials-wrong', { eventError: 'user_not_found' });
  }
  event.userId = user.id;
  const failures = await findFailures(attempt, user);
  if (isLocked(failures, ctx.clock.now()) || isLockedForGood(user)) {
    await ctx.passwords.verifyNobody(password, policy);
    throw lockedRefusal(user);
  }
  const credentials = await ctx.store.listCredentials(user.id);
  const stored = credentials.find((credential) => credential.type === 'password');
  const verified = await verifyPassword(attempt, stored, password);
  if (stored === undefined || verified.outcome !== 'match') {
    await recordFailure(attempt, user);
    throw new Refusal('user-credentials-wrong');
  }
  return {
    user,
    password: stored,
    credentials,
    failures,
    rehash: async () => {
      if (!verified.outdated) return;
      const next = await ctx.passwords.hash(password, policy);
      await ctx.store.rehashPassword(stored, { ...stored, ...next });
    },
  };
}

/**
 * Proves the second factor where the user has one stored (facts §3.6). A wrong one counts as a wrong password does.
 *
 * @param code as typed; `credentialId` names the device it is of, absent: any
 * @throws Refusal `user-credentials-wrong`
 */
export async function proveCode(
  attempt: LoginAttempt,
  user: User,
  credentials: readonly Credential[],
  { code, credentialId }: { code: string; credentialId?: string | undefined },
): Promise<void> {
  const factors = listSecondFactors(credentials);
  if (factors.length === 0) return;
  // A device that the user does not have leaves none to prove; that is a wrong code, not a login without one.
  const chosen =
    credentialId === undefined
      ? factors
      : factors.filter((one) => one.type === 'otp' && one.id === credentialId);
  const second: SecondFactorOutcome =
    chosen.length === 0 ? { outcome: 'refused' } : await proveSecondFactor(attempt, chosen, code);
  if (second.outcome === 'proved') return;
  await recordFailure(attempt, user);
  throw new Refusal('user-credentials-wrong', { detail: second.detail });
}

/** Locked before the guess is looked at: it neither counts nor is told from a wrong one. @throws Refusal */
export async function checkNotLocked(attempt: LoginAttempt, user: User): Promise<void> {
  const failures = await findFailures(attempt, user);
  if (isLocked(failures, attempt.ctx.clock.now()) || isLockedForGood(user)) throw lockedRefusal(user);
}

/**
 * The account is usable, told only to who proved everything; guesses that ran beside this one may have locked the
 * user, and then a right one among them does not count.
 *
 * @throws Refusal `user-credentials-wrong`, `account-disabled`
 */
export async function checkUsable(attempt: LoginAttempt, user: User): Promise<void> {
  const failures = await findFailures(attempt, user);
  if (isLocked(failures, attempt.ctx.clock.now())) throw lockedRefusal(user);
  if (!user.enabled) throw new Refusal('account-disabled');
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
  if (name === '') return undefined;
  const byEmail =
    settings.loginWithEmailAllowed && name.includes('@')
      ? await ctx.store.findUserByEmail(realmId, name)
      : undefined;
  const user = byEmail ?? (await ctx.store.findUserByUsername(realmId, name));
  return user?.serviceAccountClientUuid === undefined ? user : undefined;
}

async function verifyPassword(
  { ctx, configuration }: LoginAttempt,
  stored: Credential | undefined,
  password: string,
): Promise<{ outcome: 'match'; outdated: boolean } | { outcome: 'mismatch' | 'unsupported' }> {
  const policy = hashPolicy(configuration.realm.settings.passwordPolicy);
  if (stored !== undefined && password !== '') return ctx.passwords.verify(password, stored, policy);
  await ctx.passwords.verifyNobody(password, policy);
  return { outcome: 'mismatch' };
}

/** Locked until an administrator enables the user again; told as a wrong password (facts §3.6). */
function isLockedForGood(user: User): boolean {
  return !user.enabled && user.attributes['disabledReason']?.[0] === PERMANENT_LOCKOUT;
}

function lockedRefusal(user: User): Refusal {
  const eventError = isLockedForGood(user) ? 'user_disabled' : 'user_temporarily_disabled';
  return new Refusal('user-credentials-wrong', { eventError });
}
