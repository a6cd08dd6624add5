import type { Page, PageFrame, WayOn } from '../../browser/index.ts';
import { STATUS } from '../responses/statuses.ts';
import { accountPage } from './account-pages.ts';
import { consentPage, termsPage, updatePasswordPage, updateProfilePage } from './action-pages.ts';
import { frameOrigin, html } from './html.ts';
import { layout, type PageContent, type PagePlace } from './layout.ts';
import { loginPage, otpPage } from './login-pages.ts';
import { findTexts, type MessageKey, type Texts } from './messages/texts.ts';
import { pagePolicy } from './page-scripts.ts';
import {
  errorPage,
  expiredPage,
  frontchannelLogoutPage,
  infoPage,
  logoutConfirmPage,
  renderDetail,
  renderWays,
} from './standalone-pages.ts';

/** A page and its Content-Security-Policy. */
export interface RenderedPage {
  markup: string;
  policy: string;
}

/**
 * Renders a page of src/browser in its language.
 *
 * @throws Error if `loadTexts` has not loaded the language
 */
export function renderPage(frame: PageFrame, page: Page, place: PagePlace): RenderedPage {
  const texts = textsOf(frame, place);
  const content = pageContent(frame, page, texts);
  const markup = layout(content, {
    texts,
    place,
    brand: texts.stored(frame.realm.displayName),
    languages: frame.languages,
  });
  return {
    markup,
    policy: pagePolicy({
      ...(content.script === undefined ? {} : { script: content.script }),
      ...(page.page === 'frontchannel-logout' ? { frames: frameOrigins(page.frames) } : {}),
    }),
  };
}

/** Returns the texts of a page: those of the realm, else of its theme, else of idkit. */
export function textsOf(
  frame: Pick<PageFrame, 'locale' | 'ownTexts'>,
  { theme }: Pick<PagePlace, 'theme'>,
): Texts {
  const own = theme?.texts;
  const themed = own !== undefined && Object.hasOwn(own, frame.locale) ? own[frame.locale] : undefined;
  return findTexts(frame.locale, frame.ownTexts, themed);
}

function pageContent(frame: PageFrame, page: Page, texts: Texts): PageContent {
  switch (page.page) {
    case 'login':
      return loginPage(page, frame, texts);
    case 'otp':
      return otpPage(page, frame, texts);
    case 'update-password':
      return updatePasswordPage(page, frame, texts);
    case 'update-profile':
      return updateProfilePage(page, frame, texts);
    case 'terms':
      return termsPage(page, frame, texts);
    case 'consent':
      return consentPage(page, frame, texts);
    case 'error':
      return errorPage(page, frame, texts);
    case 'expired':
      return expiredPage(page, frame, texts);
    case 'info':
      return infoPage(page, frame, texts);
    case 'logout-confirm':
      return logoutConfirmPage(page, frame, texts);
    case 'frontchannel-logout':
      return frontchannelLogoutPage(page, frame, texts);
    case 'account-profile':
    case 'account-password':
    case 'account-sessions':
    case 'account-applications':
      return accountPage(page, frame, texts);
  }
}

function frameOrigins(frames: readonly { url: string }[]): readonly string[] {
  return [...new Set(frames.flatMap(({ url }) => frameOrigin(url) ?? []))];
}

/** The texts for the faults of the HTTP layer, by status. */
const PLAIN_ERRORS: ReadonlyMap<number, MessageKey> = new Map([
  [STATUS.forbidden, 'accountDeniedMessage'],
  [STATUS.notFound, 'pageNotFoundMessage'],
  [STATUS.contentTooLarge, 'tooLargeMessage'],
  [STATUS.serviceUnavailable, 'unavailableMessage'],
  [STATUS.serverError, 'internalServerErrorMessage'],
]);

/**
 * Renders a page about an error outside the login, such as an unknown path.
 *
 * @param shown `locale`: a language whose texts `loadTexts` has loaded; `ways`: links that lead on; `detail`: what the
 *   administrator needs to know
 */
export function renderPlainError(
  status: number,
  shown: { locale: string; ways: readonly WayOn[]; detail?: string | undefined },
  place: PagePlace,
): RenderedPage {
  const texts = findTexts(shown.locale);
  const message = texts.text(PLAIN_ERRORS.get(status) ?? 'badRequestMessage');
  const body = html`<div id="kc-error-message"><p class="instruction">${message}</p>
${renderDetail(shown.detail, texts)}</div>
${renderWays(shown.ways, texts)}`;
  return {
    markup: layout({ heading: texts.text('errorTitle'), body }, { texts, place }),
    policy: pagePolicy(),
  };
}
