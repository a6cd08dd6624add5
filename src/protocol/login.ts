import type { User } from '../model/index.ts';
import type { GrantRequest } from './grants/grant.ts';
import { onBehalfOf } from './hash-caller.ts';
import type { LoginAttempt } from './login-attempt.ts';
import { provePassword, stillHolds } from './prove-user.ts';
import { Refusal } from './refusal.ts';
import { listLoginActions } from './required-actions.ts';
import { typedPassword } from './typed-password.ts';

/** A user who logged in. */
export interface Login {
  user: User;
  /** Asked once the session is stored, so that a later change finds and ends it. */
  stillHolds: () => Promise<boolean>;
  /** What is done once the answer is certain: a hash of old parameters is replaced. */
  settled: () => Promise<void>;
}

/**
 * Proves a user by the fields of one form: name, password and, where there is one, second factor (facts §3.6). An
 * account that still has something to do in the browser is told so only to who proved all of it.
 *
 * @throws Refusal
 */
export async function checkLogin(request: GrantRequest): Promise<Login> {
  const { ctx, configuration, event } = request;
  const { form, remoteAddress } = request.request;
  const username = form.get('username');
  if (username === undefined) throw new Refusal('missing-username');
  const caller = { realmId: configuration.realm.id, address: remoteAddress, user: username };
  const attempt: LoginAttempt = { ctx: onBehalfOf(ctx, caller), configuration, event, remoteAddress };

  const code = form.get('otp') ?? form.get('totp') ?? '';
  const typed = typedPassword(form.get('password'));
  const { user, password, rehash } = await provePassword(attempt, username, typed, code);
  const pending = listLoginActions(configuration, user, password, ctx.clock.now());
  if (pending.length > 0)
    throw new Refusal('account-not-set-up', { detail: `required actions: ${pending.join(', ')}` });
  return {
    user,
    stillHolds: () => stillHolds(attempt, { userId: user.id, passwordId: password.id }),
    settled: rehash,
  };
}
