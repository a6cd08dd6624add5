import type { Credential, User, UserSession } from '../../model/index.ts';
import { type EventDraft, Refusal } from '../../protocol/index.ts';
import {
  changePassword,
  type LoginAttempt,
  onBehalfOf,
  provePassword,
  stillHolds,
  typedPassword,
} from '../../protocol/login/index.ts';
import { newUserSession } from '../../protocol/session/index.ts';
import type { BrowserAnswer, CookieChange } from '../contract.ts';
import {
  brokenRules,
  contentMessages,
  faultsMessage,
  passwordRules,
  readNewPassword,
} from '../new-password.ts';
import { clearSsoCookies, makeSsoCookies, newStateChecker } from '../sso/sso-cookies.ts';
import { accountEndpoint } from './account-endpoint.ts';
import type { AccountCall, AccountRules } from './account-page.ts';
import {
  accountFrame,
  answerDenied,
  answerDone,
  pageUrl,
  showAccountPage,
  startAccountEvent,
} from './account-page.ts';

const rules: AccountRules = {
  name: 'password',
  show: async (account, options) =>
    showAccountPage(
      account,
      { page: 'account-password', account: accountFrame(account), rules: passwordRules(account) },
      options,
    ),

  async submit(account) {
    const { configuration, request, sso, rights } = account;
    if (!rights.change) return answerDenied(account);
    const event = startAccountEvent(account, 'UPDATE_PASSWORD');
    const { password, faults, eventError } = await readNewPassword(account, sso.user);
    if (!request.form.get('password')) {
      event.failed('password_missing');
      const message = faultsMessage([{ key: 'accountPasswordMissingMessage' }, ...faults]);
      return rules.show(account, { message });
    }
    const proved = await proveCurrent(account, event);
    if (proved === undefined) {
      // Without the current password, the new one is not compared with previous passwords.
      const more = faults.length > 0 ? faults : await contentMessages(account, sso.user, password);
      const message = faultsMessage([{ key: 'accountPasswordWrongMessage' }, ...more]);
      return rules.show(account, { message });
    }
    if (faults.length > 0) {
      event.failed(eventError);
      return rules.show(account, { message: faultsMessage(faults) });
    }
    const changed = await changePassword(onBehalfOfUser(account), configuration, sso.user.id, password, {
      provedBy: proved.id,
    });
    if (changed.outcome === 'gone') {
      event.failed('user_not_found');
      return rules.show(account, { message: { kind: 'error', key: 'accountFormOutdatedMessage' } });
    }
    if (changed.outcome === 'refused') {
      const message = faultsMessage(brokenRules(event, changed.faults));
      event.failed('password_rejected');
      return rules.show(account, { message });
    }
    event.succeeded();
    const credential = startAccountEvent(account, 'UPDATE_CREDENTIAL');
    credential.details['credential_type'] = 'password';
    credential.succeeded();
    return startNextSession(account, changed.password);
  },
};

/**
 * The page `/account/account-security/signing-in`, which changes the password. The change ends all sessions of the user
 * (docs/keycloak/sessions.md#what-ends-a-session), and this browser gets a new one.
 */
export const accountPassword = accountEndpoint(rules);

/**
 * Verifies the user's current password as a login does: wrong passwords are counted and can lock the user
 * (docs/keycloak/login.md#brute-force-protection).
 */
async function proveCurrent(account: AccountCall, event: EventDraft): Promise<Credential | undefined> {
  const { configuration, request, sso } = account;
  const ctx = onBehalfOfUser(account);
  const attempt: LoginAttempt = { ctx, configuration, event, remoteAddress: request.remoteAddress };
  try {
    const typed = typedPassword(request.form.get('password'));
    const { user, password } = await provePassword(attempt, sso.user, typed);
    if (!user.enabled) throw new Refusal('account-disabled');
    return password;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    event.refused(error);
    return undefined;
  }
}

/** Returns a context that queues the user's password hashes fairly with those of other users. */
function onBehalfOfUser({ ctx, configuration, request, sso }: AccountCall) {
  const caller = { realmId: configuration.realm.id, address: request.remoteAddress, user: sso.user.id };
  return onBehalfOf(ctx, caller);
}

/** Starts a new session for this browser, because the change ended the old one. */
async function startNextSession(account: AccountCall, password: Credential): Promise<BrowserAnswer> {
  const { ctx, configuration } = account;
  const { user } = account.sso;
  const session = nextSession(account);
  const stored = await ctx.store.finishLogin({ session, sessionMustExist: false });
  const holds = stored === 'finished' && (await stillHolds(account, proofOf(user, password)));
  if (!holds) {
    await ctx.store.endSession(session.id, false);
    return { show: 'redirect', to: pageUrl(account, 'password'), cookies: clearSsoCookies() };
  }
  const stateChecker = newStateChecker(ctx);
  const cookies: readonly CookieChange[] = await makeSsoCookies(ctx, configuration, {
    session,
    username: user.username,
    now: account.now,
    authenticatedAt: account.now,
    stateChecker,
  });
  return answerDone(account, 'accountPasswordUpdatedMessage', { stateChecker, cookies });
}

function proofOf(user: User, password: Credential) {
  return { userId: user.id, passwordId: password.id };
}

function nextSession({ ctx, configuration, request, now, sso }: AccountCall): UserSession {
  const { realm } = configuration;
  return newUserSession(ctx.random, now, {
    offline: false,
    realmId: realm.id,
    userId: sso.user.id,
    ipAddress: request.remoteAddress,
    rememberMe: realm.settings.rememberMe && sso.session.rememberMe,
    notes: { ...sso.session.notes, auth_time: String(now) },
  });
}
