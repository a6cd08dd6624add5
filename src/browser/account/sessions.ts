import { isSessionAlive, type UserSession } from '../../model/index.ts';
import { endSessionOf } from '../../protocol/session/index.ts';
import type { SessionWithClients } from '../../store/index.ts';
import type { BrowserAnswer } from '../contract.ts';
import { frontChannelFrames } from '../logout/front-channel-logout.ts';
import { standalonePage } from '../page-frame.ts';
import { clearSsoCookies } from '../sso/sso-cookies.ts';
import { accountEndpoint } from './account-endpoint.ts';
import type { AccountCall, AccountRules } from './account-page.ts';
import {
  accountFrame,
  answerDenied,
  answerDone,
  clientName,
  findClients,
  pageUrl,
  showAccountPage,
  startAccountEvent,
} from './account-page.ts';
import type { AccountSession } from './pages.ts';

/** Maximum number of sessions in the list. A program that logs in for each call can leave thousands. */
const MOST_SHOWN = 100;

const rules: AccountRules = {
  name: 'sessions',

  async show(account, options) {
    const { shown, more } = await listSessions(account);
    const clients = await findClients(account, new Set(shown.flatMap(({ clientUuids }) => clientUuids)));
    return showAccountPage(
      account,
      {
        page: 'account-sessions',
        account: accountFrame(account),
        sessions: shown.map(({ session, clientUuids }) =>
          renderSession(
            account,
            session,
            clientUuids.flatMap((id) => {
              const client = clients.get(id);
              return client === undefined ? [] : [clientName(client)];
            }),
          ),
        ),
        more,
      },
      options,
    );
  },

  async submit(account) {
    const { form } = account.request;
    const id = form.get('session');
    if (id === account.sso.session.id) return signOut(account);
    // Every user who may log in may log out. Ending other sessions requires the right to change the account.
    if (!account.rights.change) return answerDenied(account);
    if (form.has('others')) return endOthers(account);
    const session = id === undefined ? undefined : await account.ctx.store.findSession(id, false);
    if (session !== undefined && isOwn(account, session)) {
      const ended = await endSessionOf(account.ctx, session);
      if (ended !== undefined) logEnd(account, session);
    }
    return answerDone(account, 'accountSessionEndedMessage');
  },
};

/** The page `/account/account-security/device-activity`, which lists the user's sessions and can end them. */
export const accountSessions = accountEndpoint(rules);

/** Returns the sessions to show, first the current one, then the others by last use, and the number of further ones. */
async function listSessions(
  account: AccountCall,
): Promise<{ shown: readonly SessionWithClients[]; more: number }> {
  const { ctx, configuration, now, sso } = account;
  const first = (one: UserSession) => (one.id === sso.session.id ? 1 : 0);
  const query = { userId: sso.user.id, offline: false, caller: 'user' } as const;
  let shown: readonly SessionWithClients[] = [];
  let count = 0;
  for await (const page of ctx.store.userSessionPages(query)) {
    const alive = page.filter(
      ({ session }) => isOwn(account, session) && isSessionAlive(configuration.realm.settings, session, now),
    );
    count += alive.length;
    shown = [...shown, ...alive]
      .sort(
        ({ session: one }, { session: other }) =>
          first(other) - first(one) ||
          other.lastAccessAt - one.lastAccessAt ||
          other.startedAt - one.startedAt,
      )
      .slice(0, MOST_SHOWN);
  }
  return { shown, more: count - shown.length };
}

function isOwn({ configuration, sso }: AccountCall, session: UserSession): boolean {
  return session.realmId === configuration.realm.id && session.userId === sso.user.id;
}

function renderSession(
  { sso }: AccountCall,
  { id, startedAt, lastAccessAt, ipAddress, notes }: UserSession,
  clients: readonly string[],
): AccountSession {
  const device = notes['device'];
  return {
    id,
    current: id === sso.session.id,
    startedAt,
    lastAccessAt,
    ipAddress,
    clients,
    ...(device === undefined ? {} : { device }),
  };
}

/**
 * Ends the login in this browser. The clients of that login can clear their state in the browser (Front-Channel Logout
 * 1.0 §2).
 */
async function signOut(account: AccountCall): Promise<BrowserAnswer> {
  const { configuration, request, sso } = account;
  const ended = await endSessionOf(account.ctx, sso.session);
  if (ended !== undefined) logEnd(account, sso.session);
  const frames = ended === undefined ? [] : await frontChannelFrames(account, ended);
  const back = pageUrl(account, 'profile');
  return standalonePage(configuration, request, {
    page:
      frames.length > 0
        ? { page: 'frontchannel-logout', frames, continueAt: back, ways: [] }
        : { page: 'info', ways: [{ way: 'sign-in', url: back }] },
    message: { kind: 'success', key: 'successLogout' },
    cookies: clearSsoCookies(),
    hints: { user: sso.user.attributes['locale']?.[0] },
  });
}

/** Ends every other session. Applications with offline access keep it, as in Keycloak. */
async function endOthers(account: AccountCall): Promise<BrowserAnswer> {
  const { ctx, configuration, sso } = account;
  const all = await ctx.store.listUserSessions(sso.user.id, false);
  const others = all.filter(({ session }) => isOwn(account, session) && session.id !== sso.session.id);
  const notify = await ctx.sessionEndings?.prepare(configuration.realm.id, { sessions: others });
  for (const { session } of others) {
    const { ended } = await ctx.store.endSession(session.id, false);
    if (ended) logEnd(account, session);
  }
  await notify?.();
  return answerDone(account, 'accountSessionsEndedMessage');
}

function logEnd(account: AccountCall, session: UserSession): void {
  const event = startAccountEvent(account, 'LOGOUT');
  event.sessionId = session.id;
  event.succeeded();
}
