import { constantTimeEqual, sha256 } from '../../crypto/index.ts';
import type { Client } from '../../model/index.ts';
import type { EventDraft } from '../../protocol/index.ts';
import { type BrowserCall, startEvent } from '../call.ts';
import type { BrowserAnswer, CookieChange, PageAnswerName } from '../contract.ts';
import type { RuleMessageKey } from '../message-keys.ts';
import { errorPage, type PageMessage, pageAnswer } from '../page-frame.ts';
import type { SsoSession } from '../sso/sso-session.ts';
import { wayToSignOut } from '../way-on.ts';
import { ACCOUNT_PATHS, type AccountFrame, type AccountPage, type AccountPageName } from './pages.ts';
import type { AccountRights } from './rights.ts';

export function pageUrl({ issuer }: Pick<BrowserCall, 'issuer'>, page: AccountPageName): string {
  return `${issuer}/account/${ACCOUNT_PATHS[page]}`;
}

/** Returns the parts that all account pages of this login share. */
export function accountFrame(account: AccountCall): AccountFrame {
  const { sso, rights } = account;
  return {
    username: sso.user.username,
    links: {
      profile: pageUrl(account, 'profile'),
      password: pageUrl(account, 'password'),
      sessions: pageUrl(account, 'sessions'),
      applications: pageUrl(account, 'applications'),
    },
    stateChecker: sso.stateChecker,
    sessionId: sso.session.id,
    mayChange: rights.change,
  };
}

/** Shows an account page. By default, its message reports the change that the URL names. */
export function showAccountPage(
  account: AccountCall,
  page: AccountPage,
  { name = 'shown', message = doneMessage(account) }: ShowOptions = {},
): BrowserAnswer {
  return pageAnswer(account.configuration, account.request, {
    page,
    name,
    message,
    hints: { user: account.sso.user.attributes['locale']?.[0] },
    self: pageUrl(account, account.page),
  });
}

/** Keys of the messages that report a finished change. */
const DONE = [
  'accountUpdatedMessage',
  'accountPasswordUpdatedMessage',
  'accountSessionEndedMessage',
  'accountSessionsEndedMessage',
  'accountAccessRemovedMessage',
] as const satisfies readonly RuleMessageKey[];

/**
 * Redirects to the page after its form made a change, so that "reload" does not repeat the change. The URL contains a
 * mark that only pages of this login can create, so another site cannot show a false message.
 *
 * @param options `stateChecker`: the state checker of the new login, if the change started one
 */
export function answerDone(
  account: AccountCall,
  key: (typeof DONE)[number],
  options: { stateChecker?: string; cookies?: readonly CookieChange[] } = {},
): BrowserAnswer {
  const { stateChecker = account.sso.stateChecker, cookies = [] } = options;
  const parameters = new URLSearchParams({ done: key, mark: doneMark(stateChecker, key) });
  return { show: 'redirect', to: `${pageUrl(account, account.page)}?${parameters}`, cookies };
}

function doneMessage({ request, sso }: AccountCall): PageMessage | undefined {
  if (request.method !== 'GET') return undefined;
  const key = DONE.find((one) => one === request.query.get('done'));
  if (key === undefined) return undefined;
  return constantTimeEqual(request.query.get('mark') ?? '', doneMark(sso.stateChecker, key))
    ? { kind: 'success', key }
    : undefined;
}

/**
 * Derives the mark from the state checker, which no client knows. The session id is unsuitable, because every client
 * knows it.
 */
function doneMark(stateChecker: string, key: string): string {
  return sha256(`${stateChecker} ${key}`).toString('base64url').slice(0, 22);
}

/** Starts an event about this user and session. */
export function startAccountEvent(account: AccountCall, type: string): EventDraft {
  const event = startEvent(account, type, account.client);
  event.userId = account.sso.user.id;
  event.sessionId = account.sso.session.id;
  event.details['username'] = account.sso.user.username;
  event.details['context'] = 'ACCOUNT';
  return event;
}

/** Returns the error page for a request that the user has no right to make. */
export function answerDenied(account: AccountCall): BrowserAnswer {
  return errorPage(account.configuration, account.request, 'accountDeniedMessage', {
    name: 'account-denied',
    ways: [
      ...(account.rights.see ? [{ way: 'account', url: pageUrl(account, 'profile') } as const] : []),
      wayToSignOut(account),
    ],
  });
}

/** A request of a logged-in user to a page about their own account. */
export interface AccountCall extends BrowserCall {
  /** The client `account`. */
  client: Client;
  /** The login in this browser. The account pages read and change only the user of this login. */
  sso: SsoSession;
  rights: AccountRights;
  page: AccountPageName;
}

/** How to show a page again after its form was submitted. */
export interface ShowOptions {
  name?: PageAnswerName;
  message?: PageMessage;
}

/** What one account page does: which rights it requires, what it shows, and how it handles its form. */
export interface AccountRules {
  name: AccountPageName;
  may?(rights: AccountRights): boolean;
  show(account: AccountCall, options?: ShowOptions): Promise<BrowserAnswer>;
  submit(account: AccountCall): Promise<BrowserAnswer>;
}

/** Returns the clients with these UUIDs, by UUID. Omits clients that have been deleted. */
export async function findClients(
  { ctx, configuration }: Pick<BrowserCall, 'ctx' | 'configuration'>,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Client>> {
  const found = await Promise.all(
    [...ids].map((id) => ctx.store.findClientByUuid(configuration.realm.id, id)),
  );
  return new Map(found.flatMap((client) => (client === undefined ? [] : [[client.id, client]])));
}

/** Returns the name under which users know a client. */
export function clientName(client: Client): string {
  return client.name || client.clientId;
}
