import { hashPolicy } from '../crypto/index.ts';
import { type Credential, parsePasswordPolicy, type User } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import { isLocked } from './brute-force.ts';
import { checkEnforceable } from './enforceable.ts';
import type { GrantRequest } from './grants/grant.ts';
import { findFailures, PERMANENT_LOCKOUT, recordFailure } from './login-failures.ts';
import { Refusal } from './refusal.ts';
import { listPendingActions } from './required-actions.ts';
import { proveSecondFactor } from './second-factor.ts';

/** A user who logged in. */
export interface Login {
  user: User;
  /**
   * Whether what the login was proved by still holds: hashing takes a while, and a password that was changed or a
   * user who was disabled meanwhile must not leave a session behind. Asked once the session is stored, so that a
   * later change finds and ends it.
   */
  stillHolds: () => Promise<boolean>;
  /** What is done once the answer is certain: a hash of old parameters is replaced, failures are forgotten. */
  settled: () => Promise<void>;
}

/**
 * Proves a user by name, password and, where there is one, second factor (facts §3.6, in its order): the same
 * words for an unknown user, a wrong password and a locked user, with the same work behind them; whether the
 * account is usable is told only to who knows the password.
 *
 * @throws Refusal
 */
export async function checkLogin(request: GrantRequest): Promise<Login> {
  const { ctx, configuration, event } = request;
  const { form } = request.request;
  const username = form.get('username');
  if (username === undefined) throw new Refusal('missing-username');
  checkEnforceable(configuration, request.client);
  const password = form.get('password') ?? '';
  const policy = hashPolicy(configuration.realm.settings.passwordPolicy);

  const user = await findUser(request, username);
  if (user === undefined) {
    await ctx.passwords.verifyNobody(password, policy);
    throw new Refusal('user-credentials-wrong', { eventError: 'user_not_found' });
  }
  event.userId = user.id;
  const failures = await findFailures(request, user);
  if (isLocked(failures, ctx.clock.now()) || isLockedForGood(user)) {
    await ctx.passwords.verifyNobody(password, policy);
    throw lockedRefusal(user);
  }

  const credentials = await ctx.store.listCredentials(user.id);
  const stored = credentials.find((credential) => credential.type === 'password');
  const verified = await verifyPassword(request, stored, password);
  if (verified.outcome !== 'match') {
    await recordFailure(request, user);
    throw new Refusal('user-credentials-wrong');
  }
  const second = await proveSecondFactor(request, credentials);
  if (second.outcome !== 'proved') {
    await recordFailure(request, user);
    throw new Refusal('user-credentials-wrong', { detail: second.detail });
  }
  await checkNotLockedMeanwhile(request, user);

  if (!user.enabled) throw new Refusal('account-disabled');
  const pending = listPendingActions(configuration, user);
  if (pending.length > 0 || isPasswordTooOld(configuration, stored, ctx.clock.now()))
    throw new Refusal('account-not-set-up', {
      detail: `required actions: ${pending.join(', ') || 'UPDATE_PASSWORD'}`,
    });
  return {
    user,
    stillHolds: async () => {
      const [now, then] = await Promise.all([
        ctx.store.findUser(configuration.realm.id, user.id),
        ctx.store.listCredentials(user.id),
      ]);
      return now?.enabled === true && then.some(({ id, type }) => id === stored?.id && type === 'password');
    },
    settled: async () => {
      if (verified.outdated && stored !== undefined) await rehash(request, stored, password);
      if (failures !== undefined) await ctx.store.removeLoginFailures(configuration.realm.id, user.id);
    },
  };
}

/** By e-mail where the realm allows it and it looks like one, then by username; in any case (facts §3.6). */
async function findUser({ ctx, configuration }: GrantRequest, typed: string): Promise<User | undefined> {
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
  { ctx, configuration }: GrantRequest,
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

/** Guesses that ran beside this one may have locked the user: then a right one among them does not count. */
async function checkNotLockedMeanwhile(request: GrantRequest, user: User): Promise<void> {
  const failures = await findFailures(request, user);
  if (isLocked(failures, request.ctx.clock.now())) throw lockedRefusal(user);
}

/** The policy's `forceExpiredPasswordChange`, in days (facts §11). */
function isPasswordTooOld(
  configuration: RealmConfiguration,
  stored: Credential | undefined,
  nowMilliseconds: number,
): boolean {
  const days = parsePasswordPolicy(configuration.realm.settings.passwordPolicy).forceExpiredPasswordChange;
  return (
    days !== undefined &&
    days > 0 &&
    stored !== undefined &&
    nowMilliseconds - stored.createdDate > days * DAY
  );
}

/** Milliseconds. */
const DAY = 86_400_000;

/** Hashes the password anew with the policy's parameters; lost where it was changed meanwhile (facts §9). */
async function rehash({ ctx, configuration }: GrantRequest, stored: Credential, password: string) {
  const policy = hashPolicy(configuration.realm.settings.passwordPolicy);
  const next = await ctx.passwords.hash(password, policy);
  await ctx.store.rehashPassword(stored, { ...stored, ...next });
}
