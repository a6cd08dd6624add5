import type { AuthenticationSession, Client, Credential, User } from '../../model/index.ts';
import type { BrowserCall } from '../call.ts';
import type { BrowserAnswer, CookieChange, LoginPage } from '../contract.ts';
import { cookieValues } from '../cookies.ts';
import { type PageMessage, pageAnswer } from '../page-frame.ts';
import { readRememberedName } from '../sso/sso-cookies.ts';
import { stepUrl } from './login-row.ts';

/** A stored login whose page is shown. */
export interface ShownLogin {
  client: Client;
  row: AuthenticationSession;
  /** The user who has to log in again. The name is shown and read-only. */
  again?: User | undefined;
}

interface Shown {
  message?: PageMessage;
  cookies?: readonly CookieChange[];
}

/** Returns the form for name and password. */
export function loginPage(call: BrowserCall, login: ShownLogin, shown: Shown = {}): BrowserAnswer {
  const { client, row, again } = login;
  const { settings } = call.configuration.realm;
  const remembered = settings.rememberMe
    ? cookieValues(call.request, 'KEYCLOAK_REMEMBER_ME').map(readRememberedName).find(Boolean)
    : undefined;
  const username = again?.username ?? row.notes['username'] ?? row.request.loginHint ?? remembered;
  const execution = 'auth-username-password-form';
  const page: LoginPage = {
    page: 'login',
    action: stepUrl(call, client, row, { path: 'authenticate', execution, code: row.formCode }),
    ...(username === undefined ? {} : { username }),
    fixed: again !== undefined,
    usernameKind: settings.registrationEmailAsUsername
      ? 'email'
      : settings.loginWithEmailAllowed
        ? 'username-or-email'
        : 'username',
    rememberMe:
      !settings.rememberMe || again !== undefined
        ? 'absent'
        : row.rememberMe || remembered !== undefined
          ? 'checked'
          : 'offered',
    ...(again === undefined ? {} : { restart: stepUrl(call, client, row, { path: 'restart' }) }),
  };
  return showStep(call, login, page, { path: 'authenticate', execution }, shown);
}

/** Returns the form for the code of a second factor. */
export function otpPage(
  call: BrowserCall,
  login: ShownLogin,
  devices: readonly Credential[],
  shown: Shown = {},
): BrowserAnswer {
  const { client, row } = login;
  const execution = 'auth-otp-form';
  const chosen = row.notes['device'] ?? devices[0]?.id;
  const page: LoginPage = {
    page: 'otp',
    action: stepUrl(call, client, row, { path: 'authenticate', execution, code: row.formCode }),
    devices: devices.map(({ id, userLabel }, index) => ({
      id,
      label: userLabel || String(index + 1),
      chosen: id === chosen,
    })),
  };
  return showStep(call, login, page, { path: 'authenticate', execution }, shown);
}

/**
 * Builds the response that shows a page of a login, with the URL of its step and the hints that decide its language.
 */
export function showStep(
  call: BrowserCall,
  { client, row }: ShownLogin,
  page: LoginPage,
  step: { path: 'authenticate' | 'required-action'; execution: string },
  shown: Shown & { userLocale?: string | undefined } = {},
): BrowserAnswer {
  const { userLocale, ...rest } = shown;
  return pageAnswer(call.configuration, call.request, {
    page,
    ...rest,
    hints: { chosen: row.notes['locale'], user: userLocale, uiLocales: row.request.uiLocales },
    self: stepUrl(call, client, row, step),
  });
}
