import type { AuthorizationRequest, Client } from '../../model/index.ts';
import { senderOf } from '../../protocol/login/index.ts';
import { refuseToClient } from '../authorize/client-answer.ts';
import type { BrowserCall } from '../call.ts';
import type { BrowserAnswer } from '../contract.ts';
import { identifyBrowser } from '../cookies.ts';
import { findSsoSession } from '../sso/sso-session.ts';
import { continueLogin } from './continue-login.ts';
import { loginPage } from './login-page.ts';
import { newLoginRow } from './login-row.ts';
import { storeNewLogin } from './open-logins.ts';
import { decideNextStep, mustLoginAgain, withStage } from './stage.ts';

/**
 * Answers a valid authorization request. Uses the browser's existing login if it is recent enough, otherwise shows the
 * login form. With `prompt=none`, it never shows a page (OpenID Connect Core §3.1.2.1, §3.1.2.3).
 */
export async function beginLogin(
  call: BrowserCall,
  client: Client,
  request: AuthorizationRequest,
): Promise<BrowserAnswer> {
  const found = await findSsoSession(call.ctx, call.configuration, call.request);
  const other = request.hintedUserId !== undefined && found?.user.id !== request.hintedUserId;
  const sso = other ? undefined : found;
  const again = sso !== undefined && mustLoginAgain(request, sso, call);
  if (sso !== undefined && !again)
    return continueLogin(call, { client, request, user: sso.user, proof: { by: 'session', sso } });
  const next = decideNextStep({ at: 'password', passive: request.prompt.includes('none') });
  // A silent request is not an attempt to log in, so it is not logged as an event, as in Keycloak.
  if (next.step === 'refuse') return refuseToClient(call, client, request, { error: next.error });
  const browser = identifyBrowser(call.ctx, call.request);
  const row = newLoginRow(call, client, request, browser.hash);
  const stored = sso === undefined ? row : withStage(row, { at: 'password', renews: sso.session.id });
  const sender = senderOf(call.request.remoteAddress);
  await storeNewLogin(call.ctx.store, stored, { sender, now: call.now });
  return loginPage(
    call,
    { client, row: { ...stored, revision: 1 }, again: sso?.user },
    {
      cookies: browser.cookies,
      ...(again ? { message: { kind: 'info', key: 'reauthenticateMessage' } } : {}),
    },
  );
}
