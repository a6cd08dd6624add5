import type { User } from '../../model/index.ts';
import {
  type LoginAttempt,
  listLoginActions,
  onBehalfOf,
  provePassword,
  stillHolds,
  typedPassword,
} from '../login/index.ts';
import { Refusal } from '../refusal.ts';
import { startRecord } from '../session/index.ts';
import type { Grant, GrantRequest } from './grant.ts';

/**
 * `grant_type=password`: issues tokens for a user's name and password (RFC 6749 §4.3;
 * docs/keycloak/tokens.md#password-grant).
 */
export const passwordGrant: Grant = {
  eventType: 'LOGIN',
  shortcut: 'ro',
  use: 'direct',

  check({ client, event, request }) {
    event.details['auth_method'] = 'openid-connect';
    const username = request.form.get('username');
    if (username !== undefined) event.details['username'] = username;
    if (!client.directAccessGrantsEnabled)
      throw new Refusal('client-not-allowed', { description: 'Client not allowed for direct access grants' });
    if (client.consentRequired) throw new Refusal('consent-required');
  },

  async prove(request, granted) {
    const { user, stillHolds, settled } = await checkLogin(request);
    const offline = granted.scopes.some((scope) => scope.name === 'offline_access');
    const notes = {};
    const { record, commit } = startRecord(request, user, granted, { offline, notes });
    return {
      user,
      granted,
      notes,
      record,
      commit,
      settled: async () => {
        if (!(await stillHolds())) {
          await request.ctx.store.endSession(record.session.id, offline);
          throw new Refusal('user-credentials-wrong', { detail: 'the account changed during the login' });
        }
        await settled();
      },
    };
  },
};

/** The result of a login with the right credentials. */
interface Login {
  user: User;
  /**
   * Whether the account is unchanged since the check. Call it after the session is stored: a change after that ends the
   * session anyway.
   */
  stillHolds: () => Promise<boolean>;
  /** Replaces a password hash with outdated parameters. Call it when the tokens are certain to be issued. */
  settled: () => Promise<void>;
}

/**
 * Authenticates a user with the fields of one form: name, password and, if the user has one, second factor
 * (docs/keycloak/tokens.md#password-grant). The response mentions pending required actions only if all of these are
 * correct.
 *
 * @throws Refusal
 */
async function checkLogin(request: GrantRequest): Promise<Login> {
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
