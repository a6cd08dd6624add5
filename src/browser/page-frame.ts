import type { RealmConfiguration } from '../store/index.ts';
import type {
  BrowserAnswer,
  BrowserRequest,
  CookieChange,
  Message,
  Page,
  PageAnswerName,
  PageFrame,
  StandalonePage,
  WayOn,
} from './contract.ts';
import { chooseLocale, type LocaleHints, localeCookies, realmLocales } from './locale.ts';
import type { RuleMessageKey } from './message-keys.ts';

/** A message above a page's form. */
export interface PageMessage {
  kind: 'error' | 'warning' | 'info' | 'success';
  key: RuleMessageKey;
  values?: Readonly<Record<string, string>>;
  /** Further messages of the same kind, such as all faults of a new password. */
  more?: readonly Message[];
}

type FrameRequest = Pick<BrowserRequest, 'query' | 'cookies' | 'acceptLanguage'>;

/**
 * Returns the frame of a page.
 *
 * @param options `self`: URL that shows the same page again with GET. Default: the page offers no other language. `of`:
 *   the kind of page, which decides its theme
 */
export function pageFrame(
  configuration: RealmConfiguration,
  request: FrameRequest,
  options: {
    hints?: LocaleHints;
    message?: PageMessage | undefined;
    self?: string;
    of?: 'login' | 'account';
  } = {},
): PageFrame {
  const { name, settings } = configuration.realm;
  const { hints, message, self, of = 'login' } = options;
  const theme = themeName(settings.kept, of);
  const locales = realmLocales(configuration);
  const locale = chooseLocale(configuration, request, hints);
  const ownTexts = (
    settings.kept['localizationTexts'] as Record<string, Record<string, unknown>> | null | undefined
  )?.[locale];
  return {
    realm: { name, displayName: settings.displayName || name },
    ...(theme === undefined ? {} : { theme }),
    locale,
    ...(ownTexts ? { ownTexts } : {}),
    languages:
      self === undefined || locales.length < 2
        ? []
        : locales.map((locale) => ({ locale, url: withParameter(self, 'kc_locale', locale) })),
    ...(message === undefined ? {} : { message }),
  };
}

/** Returns a page that is not a step of a login. */
export function standalonePage(
  configuration: RealmConfiguration,
  request: FrameRequest,
  shown: {
    name?: PageAnswerName;
    page: StandalonePage;
    message?: PageMessage;
    cookies?: readonly CookieChange[];
    hints?: LocaleHints;
  },
): BrowserAnswer {
  const { name = 'shown', page, message, cookies = [], hints } = shown;
  return pageAnswer(configuration, request, { name, page, message, cookies, ...(hints ? { hints } : {}) });
}

/** Returns a page that says why the login cannot continue. */
export function errorPage(
  configuration: RealmConfiguration,
  request: FrameRequest,
  key: RuleMessageKey,
  options: {
    name?: PageAnswerName;
    values?: Readonly<Record<string, string>>;
    ways?: readonly WayOn[];
    detail?: string;
    hints?: LocaleHints;
  } = {},
): BrowserAnswer {
  const { name = 'login-error', values, ways = [], detail, hints } = options;
  return standalonePage(configuration, request, {
    name,
    page: { page: 'error', ways, ...(detail === undefined ? {} : { detail }) },
    message: { kind: 'error', key, ...(values === undefined ? {} : { values }) },
    ...(hints === undefined ? {} : { hints }),
  });
}

/** Returns a page with its frame. If the user has chosen a language on the page, adds the cookie that stores it. */
export function pageAnswer(
  configuration: RealmConfiguration,
  request: FrameRequest,
  shown: {
    page: Page;
    name?: PageAnswerName;
    message?: PageMessage | undefined;
    cookies?: readonly CookieChange[];
    hints?: LocaleHints;
    self?: string;
  },
): BrowserAnswer {
  const { page, name = 'shown', cookies = [], ...frame } = shown;
  return {
    show: 'page',
    name,
    cookies: [...cookies, ...localeCookies(configuration, request)],
    frame: pageFrame(configuration, request, {
      ...frame,
      of: page.page.startsWith('account-') ? 'account' : 'login',
    }),
    page,
  };
}

/** The names of Keycloak's own themes. idkit's pages replace them. */
const KEYCLOAK_THEMES = /^(base|keycloak(\.v\d+)?)?$/;

/** Returns the theme of a realm's pages. The account pages have that of the login pages if they have none of their own. */
function themeName(kept: Readonly<Record<string, unknown>>, of: 'login' | 'account'): string | undefined {
  const names = of === 'account' ? [kept['accountTheme'], kept['loginTheme']] : [kept['loginTheme']];
  const found = names.find((name) => typeof name === 'string' && !KEYCLOAK_THEMES.test(name));
  return found as string | undefined;
}

function withParameter(url: string, name: string, value: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
}
