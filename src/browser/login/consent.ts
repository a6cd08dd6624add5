import { sha256 } from '../../crypto/index.ts';
import type { ClientScope, Consent } from '../../model/index.ts';
import { type BrowserCall, startEvent, withBrowserCall } from '../call.ts';
import type { BrowserAnswer, BrowserEndpoint } from '../contract.ts';
import { CONSENT_STEP, continueLogin, findNextStep, refuseLogin } from './continue-login.ts';
import { showStep } from './login-page.ts';
import { stepUrl, storeStep } from './login-row.ts';
import { accountChangedPage, answerGone, findOpenLogin } from './open-login.ts';
import {
  type ConsentNeed,
  findConsentNeed,
  findProgress,
  type LoginInProgress,
  type StoredLogin,
} from './progress.ts';

/** Returns the page that asks for consent to the scopes that the user has not agreed to yet. */
export function consentPage(call: BrowserCall, login: StoredLogin, need: ConsentNeed): BrowserAnswer {
  const { client, user, row } = login;
  const { policyUri, tosUri } = client.attributes;
  const execution = CONSENT_STEP;
  const form = stepUrl(call, client, row, { path: 'consent', execution, code: row.formCode });
  return showStep(
    call,
    { client, row },
    {
      page: 'consent',
      action: `${form}&asked=${markOf(need)}`,
      client: client.name || client.clientId,
      scopes: need.missing.map((scope) => ({ text: consentText(scope) })),
      links: {
        ...(isWebUrl(policyUri) ? { policy: policyUri } : {}),
        ...(isWebUrl(tosUri) ? { terms: tosUri } : {}),
      },
    },
    { path: 'required-action', execution },
    { userLocale: user.attributes['locale']?.[0] },
  );
}

/**
 * `POST …/login-actions/consent`: the form of the consent page. The consent is stored when the login ends. If the user
 * declines, the client gets `access_denied` without a description (docs/keycloak/login.md#consent).
 */
export const submitConsent: BrowserEndpoint = (ctx, request) =>
  withBrowserCall(ctx, request, async (call) => {
    const open = await findOpenLogin(call, { form: true });
    if (open.outcome === 'answer') return open.answer;
    const found = await findProgress(call, open.client, open.row);
    if (found === undefined) return accountChangedPage(call, open.client);
    const next = await findNextStep(call, found);
    const need = next.step === 'consent' ? await findConsentNeed(call, found) : undefined;
    if (need === undefined) return continueLogin(call, found);
    // A user agrees to the scopes on the page. If the client now requests other scopes, the page is shown again.
    if (request.form.has('accept') && request.query.get('asked') !== markOf(need))
      return consentPage(call, found, need);
    // The form is accepted only once.
    const row = await storeStep(call, open.row, 'action');
    if (row === undefined) return answerGone(call, open.client);
    const login = { ...found, row };
    if (!request.form.has('accept')) return refuseLogin(call, login, 'access_denied', 'rejected_by_user');
    const event = startEvent(call, 'GRANT_CONSENT', open.client);
    event.userId = login.user.id;
    event.details['consent'] = 'consent_granted';
    event.details['scope'] = need.missing.map(({ name }) => name).join(' ');
    event.details['username'] = login.user.username;
    const answer = await continueLogin(call, login, agreed(call, login, need));
    event.succeeded();
    return answer;
  });

/** Returns a short hash of the listed scopes, which the form sends back. */
function markOf({ missing }: ConsentNeed): string {
  const ids = missing.map(({ id }) => id).sort();
  return sha256(ids.join(' ')).toString('base64url').slice(0, 22);
}

/** Returns the consent to store. Earlier consents remain, without scopes that no longer exist. */
function agreed(call: BrowserCall, { user, client }: LoginInProgress, need: ConsentNeed): Consent {
  const now = call.ctx.clock.now();
  const before = need.before?.scopeIds.filter((id) => call.configuration.clientScopes.has(id)) ?? [];
  return {
    userId: user.id,
    clientUuid: client.id,
    scopeIds: [...new Set([...before, ...need.all.map(({ id }) => id)])],
    createdDate: need.before?.createdDate ?? now,
    lastUpdatedDate: now,
  };
}

function consentText(scope: ClientScope): string {
  return scope.attributes['consent.screen.text'] || scope.name;
}

function isWebUrl(text: string | undefined): text is string {
  return text !== undefined && /^https?:\/\/[^\s]+$/i.test(text);
}
