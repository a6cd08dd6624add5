import type { PageFrame, StandalonePage, WayOn } from '../../browser/index.ts';
import { buttons, form, link, submit } from './controls.ts';
import { frameOrigin, type Html, html, safeLink } from './html.ts';
import type { PageContent } from './layout.ts';
import { type DetailKey, details } from './messages/details.ts';
import type { MessageKey, Texts } from './messages/texts.ts';
import { continueScript } from './page-scripts.ts';

type PageOf<Name extends StandalonePage['page']> = Extract<StandalonePage, { page: Name }>;

/** What a user reads instead of each message for administrators. */
const EXPLANATIONS: Readonly<Record<DetailKey, MessageKey>> = {
  invalidRequestMessage: 'applicationFaultMessage',
  invalidParameterMessage: 'applicationFaultMessage',
  missingParametersMessage: 'applicationFaultMessage',
  invalidRedirectUriMessage: 'applicationFaultMessage',
  bearerOnlyMessage: 'applicationFaultMessage',
  wrongClientProtocolMessage: 'applicationFaultMessage',
  clientNotFoundMessage: 'applicationUnknownMessage',
  clientDisabledMessage: 'applicationDisabledMessage',
  httpsRequiredMessage: 'secureConnectionMessage',
  realmNotEnabledMessage: 'signInOffMessage',
  registrationNotAllowedMessage: 'registrationOffMessage',
};

/**
 * Shows why the login cannot continue. Scripts read `#kc-error-message`, which also contains the details for the
 * administrator.
 */
export function errorPage(page: PageOf<'error'>, frame: PageFrame, texts: Texts): PageContent {
  const message = frame.message ?? { key: 'invalidRequestMessage' };
  const { key } = message;
  const explanation = isDetail(key) && !texts.isOwn(key) ? EXPLANATIONS[key] : undefined;
  const detail = page.detail ?? (explanation === undefined ? undefined : texts.message(message));
  return {
    heading: texts.text('errorTitle'),
    body: html`<div id="kc-error-message"><p class="instruction">${explanation === undefined ? texts.message(message) : texts.text(explanation)}</p>
${renderDetail(detail, texts)}</div>
${renderWays(page.ways, texts)}`,
  };
}

/** What the administrator needs to know, which users can unfold and pass on. */
export function renderDetail(detail: string | undefined, texts: Texts): Html | undefined {
  if (detail === undefined) return undefined;
  return html`<details class="quiet"><summary>${texts.text('errorDetails')}</summary><p lang="en">${detail}</p></details>
`;
}

function isDetail(key: string): key is DetailKey {
  return Object.hasOwn(details, key);
}

/** Reports that a page is outdated, with links to restart or continue the login. */
export function expiredPage(page: PageOf<'expired'>, frame: PageFrame, texts: Texts): PageContent {
  const { restart, continueAt } = page;
  const message = frame.message ?? { key: 'pageExpiredMessage' };
  return {
    heading: texts.text('pageExpiredTitle'),
    body: [
      html`<p id="instruction1">${texts.message(message)}</p>
`,
      (restart !== undefined || continueAt !== undefined) &&
        buttons(
          restart !== undefined &&
            link(restart, texts.text('restartLogin'), { id: 'loginRestartLink', className: 'button main' }),
          continueAt !== undefined &&
            link(continueAt, texts.text('continueLogin'), { id: 'loginContinueLink', className: 'button' }),
        ),
      renderWays(page.ways, texts, { main: restart === undefined && continueAt === undefined }),
    ],
  };
}

/** Shows a message as heading and text, such as "You are signed out". */
export function infoPage(page: PageOf<'info'>, frame: PageFrame, texts: Texts): PageContent {
  const text = frame.message === undefined ? '' : texts.message(frame.message);
  return {
    heading: text,
    body: html`<div id="kc-info-message"><p class="instruction">${text}</p></div>
${renderWays(page.ways, texts)}`,
  };
}

/** The text and the id of each link that leads on. Keycloak's pages have the same ids for the same links. */
const WAYS: Readonly<Record<WayOn['way'], { text: MessageKey; id: string }>> = {
  application: { text: 'backToApplication', id: 'backToApplication' },
  account: { text: 'toAccount', id: 'kc-to-account' },
  'sign-in': { text: 'doLogIn', id: 'kc-sign-in' },
  'sign-out': { text: 'doLogout', id: 'kc-sign-out' },
  'other-user': { text: 'otherUser', id: 'kc-other-user' },
  restart: { text: 'restartLogin', id: 'loginRestartLink' },
  stay: { text: 'staySignedIn', id: 'kc-stay' },
  retry: { text: 'tryAgain', id: 'kc-retry' },
};

/** The links that lead on from a page. @param options `main`: whether the first link is the main button */
export function renderWays(
  ways: readonly WayOn[],
  texts: Texts,
  options: { main: boolean } = { main: true },
): Html | undefined {
  if (ways.length === 0) return undefined;
  return buttons(ways.map((way, at) => wayLink(way, texts, options.main && at === 0)));
}

function wayLink({ way, url }: WayOn, texts: Texts, main: boolean): Html {
  const { text, id } = WAYS[way];
  // A link without its URL would be a button that does nothing.
  if (url !== '' && safeLink(url) === undefined) return html``;
  return link(url, texts.text(text), { id, className: main ? 'button main' : 'button' });
}

/** Asks the user to confirm a logout request without a valid ID token (RP-Initiated Logout 1.0 §2). */
export function logoutConfirmPage(
  page: PageOf<'logout-confirm'>,
  frame: PageFrame,
  texts: Texts,
): PageContent {
  const client = page.client === undefined ? undefined : texts.stored(page.client);
  return {
    heading: texts.text('logoutConfirmTitle'),
    message: frame.message,
    body: [
      html`<div id="kc-logout-confirm"><p class="instruction">${texts.text('logoutConfirmHeader')}</p>
${client !== undefined && html`<p class="quiet">${texts.text('logoutConfirmClient', { client })}</p>`}</div>
`,
      form(
        'kc-logout-form',
        page.action,
        buttons(
          submit(texts.text('doLogout'), { id: 'kc-logout', name: 'confirmLogout' }),
          page.ways.map((way) => wayLink(way, texts, false)),
        ),
      ),
    ],
  };
}

/**
 * Renders the page that loads the logout page of each client in a frame, and links to the next page (Front-Channel
 * Logout 1.0 §2).
 */
export function frontchannelLogoutPage(
  page: PageOf<'frontchannel-logout'>,
  frame: PageFrame,
  texts: Texts,
): PageContent {
  const continueAt = safeLink(page.continueAt);
  return {
    heading: texts.text('frontchannelLogoutTitle'),
    message: frame.message,
    ...(continueAt === undefined ? {} : { script: continueScript }),
    body: [
      html`<p>${texts.text('frontchannelLogoutMessage')}</p>
<ul class="list">
${page.frames.map(({ client, url }) => {
  const name = texts.stored(client);
  const frameable = frameOrigin(url) !== undefined;
  return html`<li><span>${name}</span>${frameable && html`<iframe src="${url}" title="${name}" hidden></iframe>`}</li>
`;
})}</ul>
`,
      continueAt !== undefined &&
        buttons(link(continueAt, texts.text('doContinue'), { id: 'continue', className: 'button main' })),
      continueAt === undefined && renderWays(page.ways, texts),
    ],
  };
}
