import type { Consent } from '../../model/index.ts';
import { listLoginActions } from '../../protocol/login/index.ts';
import { refuseToClient } from '../authorize/client-answer.ts';
import type { BrowserCall } from '../call.ts';
import type { BrowserAnswer } from '../contract.ts';
import { identifyBrowser } from '../cookies.ts';
import { findConsentNeed } from './consent-need.ts';
import { finishLogin } from './finish-login.ts';
import { moveStep, newLoginRow, stepUrl, storeStep } from './login-row.ts';
import { decideNextStep, type NextStep } from './next-step.ts';
import { answerGone } from './open-login.ts';
import { type LoginInProgress, provedAt, startProvedEvent } from './progress.ts';

/** What is to be done next in a login whose user is proved, from what is true now. */
export async function findNextStep(
  call: BrowserCall,
  login: LoginInProgress,
  given?: Consent,
): Promise<NextStep> {
  const { client, request, user, proof } = login;
  const password = proof.by === 'password' ? proof.password : undefined;
  const need = given === undefined ? await findConsentNeed(call, login) : undefined;
  return decideNextStep({
    passive: request.prompt.includes('none'),
    otherThanHinted: request.hintedUserId !== undefined && request.hintedUserId !== user.id,
    pendingActions: listLoginActions(call.configuration, user, password, call.ctx.clock.now()),
    consentDue: client.consentRequired && need !== undefined && need.missing.length > 0,
  });
}

/**
 * Goes on with a login whose user is proved: to the next page by redirect, back to the client with an error, or to its
 * end.
 *
 * @param given the consent that the user gave just now
 */
export async function continueLogin(
  call: BrowserCall,
  login: LoginInProgress,
  given?: Consent,
): Promise<BrowserAnswer> {
  const next = await findNextStep(call, login, given);
  switch (next.step) {
    case 'finish':
      return finishLogin(call, login, given);
    case 'refuse':
      return refuseLogin(call, login, next.error, next.error);
    case 'action':
      return leadTo(call, login, next.action);
    case 'consent':
      return leadTo(call, login, CONSENT_STEP);
  }
}

/** The consent page's name among the steps, as in Keycloak. */
export const CONSENT_STEP = 'OAUTH_GRANT';

/** Ends a login by an error for the client. */
export async function refuseLogin(
  call: BrowserCall,
  login: LoginInProgress,
  error: string,
  eventError: string,
): Promise<BrowserAnswer> {
  const { client, request, row } = login;
  startProvedEvent(call, login).failed(eventError);
  if (row !== undefined && row.revision > 0) await call.ctx.store.removeAuthenticationSession(row.id);
  return refuseToClient(call, client, request, { error });
}

/** Stores the step and sends the browser to its page. */
async function leadTo(call: BrowserCall, login: LoginInProgress, execution: string): Promise<BrowserAnswer> {
  const { client, request, user, proof } = login;
  const browser = login.row === undefined ? identifyBrowser(call.ctx, call.request) : undefined;
  const row = login.row ?? newLoginRow(call, client, request, browser!.hash);
  const { again: _again, passwordUser: _passwordUser, ...notes } = row.notes;
  const next = {
    ...row,
    userId: user.id,
    authenticatedAt: provedAt(proof),
    notes: {
      ...notes,
      ...(proof.by === 'session' ? { sso: proof.sso.session.id } : { password: proof.password.id }),
    },
  };
  const stored = await (row.userId === undefined ? moveStep : storeStep)(call, next, 'action');
  if (stored === undefined) return answerGone(call, client);
  const to = stepUrl(call, client, stored, { path: 'required-action', execution });
  return { show: 'redirect', to, cookies: browser?.cookies ?? [] };
}
