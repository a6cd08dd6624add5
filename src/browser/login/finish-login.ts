import type { Consent, UserSession } from '../../model/index.ts';
import { type GrantedScopes, resolveScopes } from '../../protocol/claims/index.ts';
import { stillHolds } from '../../protocol/login/index.ts';
import { newUserSession } from '../../protocol/session/index.ts';
import { answerClient, refuseToClient } from '../authorize/client-answer.ts';
import { parseResponseType } from '../authorize/response-type.ts';
import { type BrowserCall, loginErrorPage, startLoginEvent } from '../call.ts';
import type { BrowserAnswer } from '../contract.ts';
import { makeSsoCookies } from '../sso/sso-cookies.ts';
import { findSsoSession, type SsoSession } from '../sso/sso-session.ts';
import { waysToClient, wayToSignOut } from '../way-on.ts';
import { newCode } from './code.ts';
import { issueFrontChannelTokens } from './front-channel-tokens.ts';
import { accountChangedPage, answerGone } from './open-login.ts';
import { type LoginInProgress, provedAt, startProvedEvent } from './progress.ts';

/**
 * Ends a login: uses the browser's session or creates a new one, stores the code, and sends the response to the client.
 * If the password that proves the login has become invalid in the meantime, ends the session and shows an error page.
 */
export async function finishLogin(
  call: BrowserCall,
  login: LoginInProgress,
  given: Consent | undefined,
): Promise<BrowserAnswer> {
  const { ctx, configuration, request } = call;
  const { user, client, proof } = login;
  const sso = proof.by === 'session' ? proof.sso : await findSsoSession(ctx, configuration, request);
  if (sso !== undefined && sso.user.id !== user.id) return refuseOtherUser(call, login, sso);

  const scopes = resolveScopes(configuration, client, login.request.scope);
  if (scopes.outcome === 'invalid')
    return refuseToClient(call, client, login.request, { error: 'invalid_scope' });
  const finished = await storeLogin(call, login, given, sso?.session);
  if (finished === undefined) {
    if (login.row !== undefined) return answerGone(call, client);
    // The session ended during the request, so the client has to start again.
    return refuseToClient(call, client, login.request, { error: 'login_required' });
  }
  const { session, code } = finished;
  if (proof.by === 'password') {
    const proved = { userId: user.id, passwordId: proof.password.id };
    if (!(await stillHolds(call, proved))) {
      await ctx.store.endSession(session.id, false);
      startLoginEvent(call, client).failed('invalid_user_credentials');
      return accountChangedPage(call, client);
    }
  }
  return answer(call, login, { session, code, given, granted: scopes.granted });
}

/**
 * Rejects a login in a browser in which another user, perhaps another person, is logged in. The other user stays logged
 * in.
 */
async function refuseOtherUser(
  call: BrowserCall,
  login: LoginInProgress,
  sso: SsoSession,
): Promise<BrowserAnswer> {
  const { client, row } = login;
  const event = startProvedEvent(call, login);
  event.details['existing_user'] = sso.user.id;
  event.failed('different_user_authenticated');
  if (row !== undefined) await call.ctx.store.removeAuthenticationSession(row.id);
  return loginErrorPage(call, client, 'differentUserAuthenticatedMessage', {
    values: { username: sso.user.username },
    ways: [wayToSignOut(call, client), ...waysToClient(call, client)],
  });
}

async function storeLogin(
  call: BrowserCall,
  login: LoginInProgress,
  given: Consent | undefined,
  existing: UserSession | undefined,
): Promise<{ session: UserSession; code: ReturnType<typeof newCode> | undefined } | undefined> {
  const { row, proof } = login;
  const session = sessionOf(call, login, existing);
  const { client, request, user } = login;
  const code = parseResponseType(request.responseType)?.code
    ? newCode(call.ctx, {
        realm: call.configuration.realm,
        clientUuid: client.id,
        userId: user.id,
        sessionId: session.id,
        request,
        notes: loginNotes(login),
        now: call.now,
      })
    : undefined;
  const stored = await call.ctx.store.finishLogin({
    ...(row === undefined || row.revision === 0
      ? {}
      : { authenticationSession: { id: row.id, revision: row.revision } }),
    session,
    sessionMustExist: existing !== undefined,
    ...(given === undefined ? {} : { consent: given }),
    ...(code === undefined ? {} : { code: code.code }),
  });
  if (stored === 'finished') return { session, code };
  // The browser's old session has ended in the meantime. The user entered the password in this login, so create a new
  // session.
  if (existing !== undefined && proof.by === 'password') return storeLogin(call, login, given, undefined);
  return undefined;
}

function sessionOf(
  { ctx, configuration, request, now }: BrowserCall,
  { user, proof, row }: LoginInProgress,
  existing: UserSession | undefined,
): UserSession {
  if (existing !== undefined) {
    if (proof.by === 'session') return { ...existing, lastAccessAt: now };
    const notes = { ...existing.notes, auth_time: String(proof.authenticatedAt) };
    return { ...existing, lastAccessAt: now, notes };
  }
  const device = deviceName(request.userAgent);
  return newUserSession(ctx.random, now, {
    offline: false,
    realmId: configuration.realm.id,
    userId: user.id,
    ipAddress: request.remoteAddress,
    rememberMe: configuration.realm.settings.rememberMe && row?.rememberMe === true,
    notes: {
      auth_time: String(provedAt(proof)),
      ...(device === undefined ? {} : { device }),
    },
  });
}

/**
 * Returns when and how the user logged in, for the client's tokens. A login through an existing session has the `acr`
 * level 0 (docs/keycloak/tokens.md#access-token).
 */
function loginNotes({ proof }: LoginInProgress): Record<string, string> {
  return { auth_time: String(provedAt(proof)), acr: proof.by === 'session' ? '0' : '1' };
}

async function answer(
  call: BrowserCall,
  login: LoginInProgress,
  done: {
    session: UserSession;
    code: ReturnType<typeof newCode> | undefined;
    given: Consent | undefined;
    granted: GrantedScopes;
  },
): Promise<BrowserAnswer> {
  const { ctx, configuration } = call;
  const { client, request, user, proof } = login;
  const { session, code, given } = done;
  const type = parseResponseType(request.responseType)!;
  const tokens = await issueFrontChannelTokens(call, login, {
    type,
    session,
    granted: done.granted,
    notes: loginNotes(login),
    ...(code === undefined ? {} : { code: code.text }),
  });
  if (tokens === undefined) return answerGone(call, client);
  const cookies =
    proof.by === 'session'
      ? []
      : await makeSsoCookies(ctx, configuration, {
          session,
          now: call.now,
          username: login.row?.notes['username'] ?? user.username,
          authenticatedAt: proof.authenticatedAt,
        });
  logLogin(call, login, session, given);
  const fields = [...(code === undefined ? [] : [['code', code.text] as const]), ...tokens];
  return answerClient(call, client, request, { sessionId: session.id, fields }, cookies);
}

function logLogin(
  call: BrowserCall,
  login: LoginInProgress,
  session: UserSession,
  given: Consent | undefined,
): void {
  const event = startProvedEvent(call, login);
  event.sessionId = session.id;
  event.details['auth_type'] = 'code';
  event.details['code_id'] = session.id;
  event.details['consent'] = !login.client.consentRequired
    ? 'no_consent_required'
    : given === undefined
      ? 'persistent_consent'
      : 'consent_granted';
  if (session.rememberMe) event.details['remember_me'] = 'true';
  event.succeeded();
}

/**
 * Browsers by the part of `User-Agent` that identifies them. The first match counts, so more specific parts come first.
 */
const BROWSERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\b(?:OPR|OPT)\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:HeadlessChrome|Chromium|Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//],
];

const SYSTEMS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMac(?:intosh| OS X)\b/],
  ['Linux', /\bLinux\b/],
];

/**
 * Returns a short description of a browser and its system, for example `Firefox 133, Linux`, by which users recognize
 * their devices. Returns undefined if both are unknown.
 */
export function deviceName(userAgent: string | undefined): string | undefined {
  if (userAgent === undefined) return undefined;
  const parts: string[] = [];
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    parts.push(`${name} ${version.slice(0, 4)}`);
    break;
  }
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent));
  if (system !== undefined) parts.push(system[0]);
  return parts.length === 0 ? undefined : parts.join(', ');
}
