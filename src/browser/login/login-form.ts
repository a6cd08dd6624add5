import type { AuthenticationSession, Client, User } from '../../model/index.ts';
import { provePassword, typedPassword } from '../../protocol/login/index.ts';
import { type BrowserCall, withBrowserCall } from '../call.ts';
import type { BrowserAnswer, BrowserEndpoint } from '../contract.ts';
import type { RuleMessageKey } from '../message-keys.ts';
import { findSsoSession } from '../sso/sso-session.ts';
import { askForCode, showCodeForm, submitCode } from './code-form.ts';
import { continueLogin } from './continue-login.ts';
import { continueProved, refuseForm, startAttempt } from './form-attempt.ts';
import { loginPage, type ShownLogin } from './login-page.ts';
import { stepUrl, storeStep } from './login-row.ts';
import { answerGone, findOpenLogin } from './open-login.ts';
import { mustLoginAgain, stageOf, withStage } from './stage.ts';

/**
 * `GET …/login-actions/authenticate`: shows the login form again, in another language or because the user went back. If
 * another tab has logged in, the login continues with that session.
 */
export const showLogin: BrowserEndpoint = (ctx, request) =>
  withBrowserCall(ctx, request, async (call) => {
    const open = await findOpenLogin(call, { form: false });
    if (open.outcome === 'answer') return open.answer;
    const { client } = open;
    const row = await keepLocale(call, open.row);
    const stage = stageOf(row);
    if (stage.at === 'proved') return toRequiredAction(call, client, row);
    if (stage.at === 'second-factor') return showCodeForm(call, client, row);
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
 * `POST …/login-actions/authenticate`: the form with name and password, or with the code of the second factor. Unknown
 * users, locked users and wrong passwords get the same message on the form (docs/keycloak/login.md#login-form).
 */
export const submitLogin: BrowserEndpoint = (ctx, request) =>
  withBrowserCall(ctx, request, async (call) => {
    const open = await findOpenLogin(call, { form: true });
    if (open.outcome === 'answer') return open.answer;
    const { client, row } = open;
    switch (stageOf(row).at) {
      case 'password':
        return submitPassword(call, client, row);
      case 'second-factor':
        return submitCode(call, client, row);
      case 'proved':
        return toRequiredAction(call, client, row);
    }
  });

async function submitPassword(
  call: BrowserCall,
  client: Client,
  row: AuthenticationSession,
): Promise<BrowserAnswer> {
  const { form } = call.request;
  const { settings } = call.configuration.realm;
  const again = await findUserToReturn(call, row);
  // Phones append a space to an autocompleted name. Keycloak's form trims the name, and its password grant does not.
  const name = (form.get('username') ?? '').trim();
  const typed = name.slice(0, 255);
  const login: ShownLogin = {
    client,
    again,
    row:
      again === undefined
        ? {
            ...withStage({ ...row, notes: { ...row.notes, username: typed } }, { at: 'password' }),
            rememberMe: settings.rememberMe && form.get('rememberMe') === 'on',
          }
        : row,
  };
  const attempt = startAttempt(call, login);
  attempt.event.details['username'] = again?.username ?? typed;
  try {
    const proven = await provePassword(attempt, again ?? name, typedPassword(form.get('password')));
    await proven.rehash();
    const { user, password, due } = proven;
    if (due.length > 0) return await askForCode(call, login, user, password, due);
    return await continueProved(call, login, user, password);
  } catch (error) {
    return refuseForm(error, attempt, (key) => againWithForm(call, login, key));
  }
}

/**
 * Returns the user of the session that this login renews. Returns undefined if the session has ended, or if the login
 * does not renew one.
 */
async function findUserToReturn(call: BrowserCall, row: AuthenticationSession): Promise<User | undefined> {
  const stage = stageOf(row);
  if (stage.at !== 'password' || stage.renews === undefined) return undefined;
  const sso = await findSsoSession(call.ctx, call.configuration, call.request);
  return sso?.session.id === stage.renews ? sso.user : undefined;
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

/** Stores the language that the user chose on a page of this login, for the next pages of the login. */
async function keepLocale(call: BrowserCall, row: AuthenticationSession): Promise<AuthenticationSession> {
  const locale = call.request.query.get('kc_locale');
  if (locale === undefined || !/^[A-Za-z-]{2,10}$/.test(locale) || row.notes['locale'] === locale) return row;
  const next = { ...row, notes: { ...row.notes, locale } };
  const stored = await call.ctx.store.putAuthenticationSession(next);
  return stored === 'stored' ? { ...next, revision: next.revision + 1 } : row;
}
