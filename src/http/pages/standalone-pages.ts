import type { PageFrame, StandalonePage } from '../../browser/index.ts';
import { buttons, form, link, submit } from './controls.ts';
import { frameOrigin, html, safeLink } from './html.ts';
import type { PageContent } from './layout.ts';
import type { Texts } from './messages/texts.ts';

type PageOf<Name extends StandalonePage['page']> = Extract<StandalonePage, { page: Name }>;

/** Shows why the login cannot continue. Scripts read `#kc-error-message`. */
export function errorPage(page: PageOf<'error'>, frame: PageFrame, texts: Texts): PageContent {
  const message = frame.message ?? { key: 'invalidRequestMessage' };
  return {
    heading: texts.text('errorTitle'),
    body: html`<div id="kc-error-message"><p class="instruction">${texts.message(message)}</p></div>
${backLink(page.backTo, texts)}`,
  };
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
    ],
  };
}

/** Shows a message as heading and text, such as "You are logged out". */
export function infoPage(page: PageOf<'info'>, frame: PageFrame, texts: Texts): PageContent {
  const text = frame.message === undefined ? '' : texts.message(frame.message);
  return {
    heading: text,
    body: html`<div id="kc-info-message"><p class="instruction">${text}</p></div>
${backLink(page.backTo, texts)}`,
  };
}

function backLink(url: string | undefined, texts: Texts) {
  const target = safeLink(url);
  if (target === undefined) return undefined;
  return buttons(
    link(target, texts.text('backToApplication'), { id: 'backToApplication', className: 'button main' }),
  );
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
        buttons(submit(texts.text('doLogout'), { id: 'kc-logout', name: 'confirmLogout' })),
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
    ],
  };
}
