import type { FieldFault } from '../../protocol/profile/index.ts';
import { type BrowserCall, loginErrorPage, startLoginEvent, withBrowserCall } from '../call.ts';
import type { BrowserAnswer, BrowserEndpoint } from '../contract.ts';
import type { PageMessage } from '../page-frame.ts';
import { REQUIRED_ACTIONS } from '../required-actions/table.ts';
import { waysToClient, wayToSignOut } from '../way-on.ts';
import { waysToRestart } from './client-data.ts';
import { consentPage } from './consent.ts';
import { continueLogin, findNextStep, refuseLogin } from './continue-login.ts';
import { showStep } from './login-page.ts';
import { stepUrl, storeStep } from './login-row.ts';
import { accountChangedPage, answerGone, findOpenLogin } from './open-login.ts';
import { findConsentNeed, findProgress, type StoredLogin } from './progress.ts';
import { stageOf } from './stage.ts';

/** `GET …/login-actions/required-action`: the page of the pending step. */
export const showRequiredAction: BrowserEndpoint = (ctx, request) =>
  withBrowserCall(ctx, request, async (call) => {
    const open = await findOpenLogin(call, { form: false });
    if (open.outcome === 'answer') return open.answer;
    const { client, row } = open;
    if (stageOf(row).at !== 'proved')
      return { show: 'redirect', to: stepUrl(call, client, row, { path: 'authenticate' }), cookies: [] };
    const login = await findProgress(call, client, row);
    if (login === undefined) return accountChangedPage(call, client);
    return showNext(call, login);
  });

/** `POST …/login-actions/required-action`: the form of the pending action. */
export const submitRequiredAction: BrowserEndpoint = (ctx, request) =>
  withBrowserCall(ctx, request, async (call) => {
    const open = await findOpenLogin(call, { form: true });
    if (open.outcome === 'answer') return open.answer;
    const { client } = open;
    const found = await findProgress(call, client, open.row);
    if (found === undefined) return accountChangedPage(call, client);
    const next = await findNextStep(call, found);
    if (next.step !== 'action') return continueLogin(call, found);
    const action = REQUIRED_ACTIONS.get(next.action);
    if (action === undefined) return refuseUnknown(call, found, next.action);
    // The form is accepted only once. A second submission has no effect, even while the first one is being processed.
    const row = await storeStep(call, open.row, 'action');
    if (row === undefined) return answerGone(call, client);
    const login = { ...found, row };
    const result = await action.submit(call, login);
    switch (result.outcome) {
      case 'done':
        return continueLogin(call, { ...login, ...result.login });
      case 'refused':
        return refuseLogin(call, login, 'access_denied', 'rejected_by_user');
      case 'again':
        return showAction(call, login, next.action, result);
    }
  });

async function showNext(call: BrowserCall, login: StoredLogin): Promise<BrowserAnswer> {
  const next = await findNextStep(call, login);
  if (next.step === 'action') return showAction(call, login, next.action);
  const need = next.step === 'consent' ? await findConsentNeed(call, login) : undefined;
  return need === undefined ? continueLogin(call, login) : consentPage(call, login, need);
}

function showAction(
  call: BrowserCall,
  login: StoredLogin,
  name: string,
  again?: { message: PageMessage; faults?: readonly FieldFault[] },
): BrowserAnswer {
  const action = REQUIRED_ACTIONS.get(name);
  if (action === undefined) return refuseUnknown(call, login, name);
  const { client, user, row } = login;
  const usual: PageMessage | undefined =
    action.message === undefined ? undefined : { kind: 'warning', key: action.message };
  const message = again?.message ?? usual;
  const url = stepUrl(call, client, row, { path: 'required-action', execution: name, code: row.formCode });
  return showStep(
    call,
    { client, row },
    action.show(call, login, url, again?.faults),
    { path: 'required-action', execution: name },
    { ...(message === undefined ? {} : { message }), userLocale: user.attributes['locale']?.[0] },
  );
}

/** Rejects the login of a user with a required action that idkit does not support. No action is ever skipped. */
function refuseUnknown(call: BrowserCall, login: StoredLogin, name: string): BrowserAnswer {
  const event = startLoginEvent(call, login.client);
  event.userId = login.user.id;
  event.details['username'] = login.user.username;
  event.details['reason'] = `required actions: ${name}`;
  event.failed('resolve_required_actions');
  return loginErrorPage(call, login.client, 'accountNotSetUpMessage', {
    detail: name,
    ways:
      login.proof.by === 'session'
        ? [wayToSignOut(call, login.client), ...waysToClient(call, login.client)]
        : waysToRestart(call, login.client, 'other-user'),
  });
}
