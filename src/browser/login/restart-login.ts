import { endSessionOf } from '../../protocol/session/index.ts';
import { startEvent, withBrowserCall } from '../call.ts';
import type { BrowserEndpoint } from '../contract.ts';
import { clearSsoCookies } from '../sso/sso-cookies.ts';
import { findSsoSession } from '../sso/sso-session.ts';
import { newLoginRow, stepUrl } from './login-row.ts';
import { answerGone, findOpenLogin } from './open-login.ts';
import { addRequestDetails } from './progress.ts';
import { stageOf } from './stage.ts';

/**
 * `GET …/login-actions/restart`: restarts the login, and the user has to authenticate from the start. A restart of a
 * login that renews an existing session means that another user wants to log in. That session ends, as in Keycloak.
 */
export const restartLogin: BrowserEndpoint = (ctx, request) =>
  withBrowserCall(ctx, request, async (call) => {
    const open = await findOpenLogin(call, { form: false });
    if (open.outcome === 'answer') return open.answer;
    const { client, row } = open;
    const stage = stageOf(row);
    const renews = stage.at === 'proved' ? undefined : stage.renews;
    const sso = renews === undefined ? undefined : await findSsoSession(ctx, call.configuration, request);
    const ends = sso !== undefined && sso.session.id === renews;
    if (ends && (await endSessionOf(ctx, sso.session)) !== undefined) {
      const event = startEvent(call, 'LOGOUT', client);
      event.userId = sso.user.id;
      event.sessionId = sso.session.id;
      event.succeeded();
    }
    if (!(await ctx.store.removeAuthenticationSession(row.id)).removed) return answerGone(call, client);
    const fresh = newLoginRow(call, client, row.request, row.browserHash);
    await ctx.store.putAuthenticationSession(fresh);
    const event = startEvent(call, 'RESTART_AUTHENTICATION', client);
    addRequestDetails(event, row.request);
    event.succeeded();
    return {
      show: 'redirect',
      to: stepUrl(call, client, fresh, { path: 'authenticate' }),
      cookies: ends ? clearSsoCookies() : [],
    };
  });
