import type { Consent } from '../../model/index.ts';
import { listLoginActions } from '../../protocol/login/index.ts';
import { refuseToClient } from '../authorize/client-answer.ts';
import type { BrowserCall } from '../call.ts';
import type { BrowserAnswer } from '../contract.ts';
import { identifyBrowser } from '../cookies.ts';
import { finishLogin } from './finish-login.ts';
import { moveStep, newLoginRow, stepUrl, storeStep } from './login-row.ts';
import { answerGone } from './open-login.ts';
import { findConsentNeed, type LoginInProgress, provedAt, startProvedEvent } from './progress.ts';
import { decideNextStep, type ProvedStep, stageOf, withStage } from './stage.ts';

/**
 * Finds the next step of a login whose user is authenticated, from the current records.
 *
 * @param given the consent that the user gives in this request
 */
export async function findNextStep(
  call: BrowserCall,
  login: LoginInProgress,
  given?: Consent,
): Promise<ProvedStep> {
  const { client, request, user, proof } = login;
  const password = proof.by === 'password' ? proof.password : undefined;
  const need = given === undefined ? await findConsentNeed(call, login) : undefined;
  return decideNextStep({
    at: 'proved',
    passive: request.prompt.includes('none'),
    otherThanHinted: request.hintedUserId !== undefined && request.hintedUserId !== user.id,
    pendingActions: listLoginActions(call.configuration, user, password, call.ctx.clock.now()),
    consentDue: client.consentRequired && need !== undefined && need.missing.length > 0,
  });
}

/**
 * Continues a login whose user is authenticated: redirects to its next page, sends an error to the client, or finishes
 * the login.
 *
 * @param given the consent that the user gives in this request
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
      return redirectToStep(call, login, next.action);
    case 'consent':
      return redirectToStep(call, login, CONSENT_STEP);
  }
}

/** The `execution` of the consent page, as in Keycloak. */
export const CONSENT_STEP = 'OAUTH_GRANT';

/** Ends a login with an error for the client. */
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

/** Stores the login as authenticated and redirects the browser to the page of the step. */
async function redirectToStep(
  call: BrowserCall,
  login: LoginInProgress,
  execution: string,
): Promise<BrowserAnswer> {
  const { client, request, user, proof } = login;
  const browser = login.row === undefined ? identifyBrowser(call.ctx, call.request) : undefined;
  const row = login.row ?? newLoginRow(call, client, request, browser!.hash);
  const next = withStage(row, {
    at: 'proved',
    userId: user.id,
    authenticatedAt: provedAt(proof),
    by: proof.by === 'session' ? { sessionId: proof.sso.session.id } : { passwordId: proof.password.id },
  });
  const store = stageOf(row).at === 'proved' ? storeStep : moveStep;
  const stored = await store(call, next, 'action');
  if (stored === undefined) return answerGone(call, client);
  const to = stepUrl(call, client, stored, { path: 'required-action', execution });
  return { show: 'redirect', to, cookies: browser?.cookies ?? [] };
}
