import type { Page, PageFrame } from '../../browser/index.ts';
import { accountPage } from './account-pages.ts';
import { consentPage, termsPage, updatePasswordPage, updateProfilePage } from './action-pages.ts';
import { frameOrigin, html, safeLink } from './html.ts';
import { layout, type PageContent, type PagePlace } from './layout.ts';
import { loginPage, otpPage } from './login-pages.ts';
import { findTexts, type Texts } from './messages/texts.ts';
import { continueScript, pagePolicy } from './page-scripts.ts';
import {
  errorPage,
  expiredPage,
  frontchannelLogoutPage,
  infoPage,
  logoutConfirmPage,
} from './standalone-pages.ts';

/** A page and its Content-Security-Policy. */
export interface RenderedPage {
  markup: string;
  policy: string;
}

/** Renders a page of src/browser in its language. */
export function renderPage(frame: PageFrame, page: Page, place: PagePlace): RenderedPage {
  const texts = findTexts(frame.locale, frame.ownTexts);
  const content = pageContent(frame, page, texts);
  const continues = page.page === 'frontchannel-logout' && safeLink(page.continueAt) !== undefined;
  const markup = layout(
    continues
      ? {
          ...content,
          body: [
            content.body,
            html`${continueScript.element}
`,
          ],
        }
      : content,
    {
      texts,
      place,
      brand: texts.stored(frame.realm.displayName),
      languages: frame.languages,
    },
  );
  return {
    markup,
    policy: pagePolicy({
      ...(continues ? { script: continueScript } : {}),
      ...(page.page === 'frontchannel-logout' ? { frames: frameOrigins(page.frames) } : {}),
    }),
  };
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

/** Renders a page in English about an error outside the login, such as an unknown path. */
export function renderPlainError(message: string, place: PagePlace): RenderedPage {
  const texts = findTexts('en');
  const body = html`<div id="kc-error-message"><p class="instruction">${message}</p></div>
`;
  return {
    markup: layout({ heading: texts.text('errorTitle'), body }, { texts, place }),
    policy: pagePolicy(),
  };
}
