import type { AuthenticationSession, Client, Credential, User } from '../../model/index.ts';
import { findFailures } from '../login-failures.ts';
import { checkNotLocked, checkUsable, type LoginAttempt, proveCode, provePassword } from '../prove-user.ts';
import { Refusal } from '../refusal.ts';
import { listSecondFactors } from '../second-factor.ts';
import { type BrowserCall, loginErrorPage, startLoginEvent, withBrowserCall } from './call.ts';
import { continueLogin } from './continue-login.ts';
import type { BrowserAnswer, BrowserEndpoint } from './contract.ts';
import { loginPage, otpPage, type ShownLogin } from './login-page.ts';
import { answerGone, findOpenLogin, moveStep, stepUrl, storeStep } from './login-row.ts';
import type { RuleMessageKey } from './message-keys.ts';
import { mustLoginAgain } from './next-step.ts';
import { describeRequest } from './progress.ts';
import { findSsoSession } from './sso-session.ts';

/**
 * `GET …/login-actions/authenticate`: the form of a login once more, in another language or after the back button.
 * Where another tab has logged in meanwhile, this one goes on with that session.
 */
export const showLogin: BrowserEndpoint = (ctx, request) =>
  withBrowserCall(ctx, request, async (call) => {
    const open = await findOpenLogin(call, { form: false });
    if (open.outcome === 'answer') return open.answer;
    const { client } = open;
    const row = await keepLocale(call, open.row);
    if (row.userId !== undefined) return toRequiredAction(call, client, row);
    if (row.notes['passwordUser'] !== undefined) return showCodeForm(call, client, row);
    const again = await findUserToReturn(call, row);
    const sso = await findSsoSession(ctx, call.configuration, request);
    const times = { now: call.now, begunAt: row.startedAt };
    if (sso !== undefined && !mustLoginAgain(row.request, sso, times))
      return continueLogin(call, {
        client,
        request: row.request,
        row,
        user: sso.user,
        proof: { by: 'session', sso },
      });
    return loginPage(call, { client, row, again });
  });

/**
 * `POST …/login-actions/authenticate`: the form with name and password, or with the code of the second factor. What is
 * wrong is told in the same words for unknown, locked and mistaken users, on the form again (facts §5.10).
 */
export const submitLogin: BrowserEndpoint = (ctx, request) =>
  withBrowserCall(ctx, request, async (call) => {
    const open = await findOpenLogin(call, { form: true });
    if (open.outcome === 'answer') return open.answer;
    const { client, row } = open;
    if (row.userId !== undefined) return toRequiredAction(call, client, row);
    return row.notes['passwordUser'] === undefined
      ? submitPassword(call, client, row)
      : submitCode(call, client, row);
  });

async function submitPassword(
  call: BrowserCall,
  client: Client,
  row: AuthenticationSession,
): Promise<BrowserAnswer> {
  const { form } = call.request;
  const { settings } = call.configuration.realm;
  const again = await findUserToReturn(call, row);
  const { again: _again, ...rest } = row.notes;
  const typed = (form.get('username') ?? '').slice(0, 255);
  const login: ShownLogin = {
    client,
    again,
    row: {
      ...row,
      rememberMe:
        again === undefined ? settings.rememberMe && form.get('rememberMe') === 'on' : row.rememberMe,
      notes: again === undefined ? { ...rest, username: typed } : row.notes,
    },
  };
  const attempt = startAttempt(call, login);
  attempt.event.details['username'] = again?.username ?? typed;
  try {
    const proven = await provePassword(
      attempt,
      again ?? form.get('username') ?? '',
      form.get('password') ?? '',
    );
    await proven.rehash();
    const factors = listSecondFactors(proven.credentials);
    if (factors.length > 0) return await askForCode(call, login, proven.user, proven.password, factors);
    return await enter(call, login, attempt, proven.user, proven.password);
  } catch (error) {
    return refuseForm(error, attempt, (key) => againWithForm(call, login, key));
  }
}

/** The password is right: the code of the second factor is next, under a name of its own. */
async function askForCode(
  call: BrowserCall,
  login: ShownLogin,
  user: User,
  password: Credential,
  factors: readonly Credential[],
): Promise<BrowserAnswer> {
  const devices = factors.filter((one) => one.type === 'otp');
  if (devices.length === 0) {
    const event = startLoginEvent(call, login.client);
    event.userId = user.id;
    event.details['reason'] = `second factor of type ${factors[0]!.type} cannot be asked for here`;
    event.failed('not_allowed');
    const values = { kind: factors[0]!.type };
    return loginErrorPage(call, login.client, 'secondFactorUnsupportedMessage', values);
  }
  const notes = { ...login.row.notes, passwordUser: user.id, password: password.id };
  const row = await moveStep(call, { ...login.row, notes }, 'login');
  return row === undefined ? answerGone(call, login.client) : otpPage(call, { ...login, row }, devices);
}

async function submitCode(
  call: BrowserCall,
  client: Client,
  row: AuthenticationSession,
): Promise<BrowserAnswer> {
  const { form } = call.request;
  const found = await findHalfProven(call, row);
  if (found === undefined) return loginErrorPage(call, client, 'accountChangedMessage');
  const { user, password, credentials, devices } = found;
  const credentialId = form.get('selectedCredentialId') || undefined;
  const login: ShownLogin = {
    client,
    row: credentialId === undefined ? row : { ...row, notes: { ...row.notes, device: credentialId } },
  };
  const attempt = startAttempt(call, login);
  attempt.event.userId = user.id;
  attempt.event.details['username'] = user.username;
  try {
    await checkNotLocked(attempt, user);
    await proveCode(attempt, user, credentials, { code: form.get('otp') ?? '', credentialId });
    return await enter(call, login, attempt, user, password);
  } catch (error) {
    return refuseForm(error, attempt, async (key) => {
      const stored = await storeStep(call, login.row, 'login');
      if (stored === undefined) return answerGone(call, client);
      const shown = key === 'invalidUserMessage' ? 'invalidTotpMessage' : key;
      return otpPage(call, { client, row: stored }, devices, { message: { kind: 'error', key: shown } });
    });
  }
}

/** Everything is proved: the account must be usable, failures are forgotten, and the login goes on. */
async function enter(
  call: BrowserCall,
  { client, row }: ShownLogin,
  attempt: LoginAttempt,
  user: User,
  password: Credential,
): Promise<BrowserAnswer> {
  await checkUsable(attempt, user);
  if ((await findFailures(attempt, user)) !== undefined)
    await call.ctx.store.removeLoginFailures(call.configuration.realm.id, user.id);
  const proof = { by: 'password', password, authenticatedAt: call.now } as const;
  return continueLogin(call, { client, request: row.request, row, user, proof });
}

async function showCodeForm(
  call: BrowserCall,
  client: Client,
  row: AuthenticationSession,
): Promise<BrowserAnswer> {
  const found = await findHalfProven(call, row);
  if (found === undefined) return loginErrorPage(call, client, 'accountChangedMessage');
  return otpPage(call, { client, row }, found.devices);
}

/** The user whose password was proved a step before, while that password is theirs. */
async function findHalfProven(call: BrowserCall, { notes }: AuthenticationSession) {
  const { store } = call.ctx;
  const userId = notes['passwordUser']!;
  const [user, credentials] = await Promise.all([
    store.findUser(call.configuration.realm.id, userId),
    store.listCredentials(userId),
  ]);
  const password = credentials.find((one) => one.id === notes['password'] && one.type === 'password');
  if (user === undefined || password === undefined) return undefined;
  const devices = listSecondFactors(credentials).filter((one) => one.type === 'otp');
  return { user, password, credentials, devices };
}

/** The user of the session that this login renews; undefined where it ended or nobody has to return. */
async function findUserToReturn(call: BrowserCall, row: AuthenticationSession): Promise<User | undefined> {
  if (row.notes['again'] === undefined) return undefined;
  const sso = await findSsoSession(call.ctx, call.configuration, call.request);
  return sso?.session.id === row.notes['again'] ? sso.user : undefined;
}

function startAttempt(call: BrowserCall, { client, row }: ShownLogin): LoginAttempt {
  const event = startLoginEvent(call, client);
  describeRequest(event, row.request);
  event.details['auth_type'] = 'code';
  const { ctx, configuration, request } = call;
  return { ctx, configuration, event, remoteAddress: request.remoteAddress };
}

/** Tells the refusal and shows the form with what may be said of it. @throws what is no refusal */
async function refuseForm(
  error: unknown,
  attempt: LoginAttempt,
  show: (key: RuleMessageKey) => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  if (!(error instanceof Refusal)) throw error;
  if (error.case !== 'user-credentials-wrong' && error.case !== 'account-disabled') throw error;
  attempt.event.refused(error);
  return show(error.case === 'account-disabled' ? 'accountDisabledMessage' : 'invalidUserMessage');
}

async function againWithForm(
  call: BrowserCall,
  login: ShownLogin,
  key: RuleMessageKey,
): Promise<BrowserAnswer> {
  const row = await storeStep(call, login.row, 'login');
  if (row === undefined) return answerGone(call, login.client);
  return loginPage(call, { ...login, row }, { message: { kind: 'error', key } });
}

function toRequiredAction(call: BrowserCall, client: Client, row: AuthenticationSession): BrowserAnswer {
  return { show: 'redirect', to: stepUrl(call, client, row, { path: 'required-action' }), cookies: [] };
}

/** A language chosen on a page of this login is that of its next pages. */
async function keepLocale(call: BrowserCall, row: AuthenticationSession): Promise<AuthenticationSession> {
  const locale = call.request.query.get('kc_locale');
  if (locale === undefined || !/^[A-Za-z-]{2,10}$/.test(locale) || row.notes['locale'] === locale) return row;
  const next = { ...row, notes: { ...row.notes, locale } };
  const stored = await call.ctx.store.putAuthenticationSession(next);
  return stored === 'stored' ? { ...next, revision: next.revision + 1 } : row;
}
