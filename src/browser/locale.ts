import { matchLocale, PAGE_LOCALES } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import type { BrowserRequest, CookieChange } from './contract.ts';
import { cookieValues } from './cookies.ts';

/** Sources of the user's language in addition to the request. */
export interface LocaleHints {
  /** The language that the user chose on an earlier page of this login. */
  chosen?: string | undefined;
  /** The user's attribute `locale`. */
  user?: string | undefined;
  /** `ui_locales` of the authorization request (OpenID Connect Core §3.1.2.1). */
  uiLocales?: string | undefined;
}

/** Returns the languages of the realm's pages. A realm without internationalization has only one language. */
export function realmLocales({ realm }: RealmConfiguration): readonly string[] {
  const { kept } = realm.settings;
  if (kept['internationalizationEnabled'] !== true) return ['en'];
  const supported = Array.isArray(kept['supportedLocales']) ? kept['supportedLocales'] : [];
  const wanted = supported.map((one) =>
    typeof one === 'string' ? matchLocale(PAGE_LOCALES, one) : undefined,
  );
  const locales = PAGE_LOCALES.filter((locale) => wanted.includes(locale));
  return locales.length === 0 ? ['en'] : locales;
}

/**
 * Returns the language of a page. The sources, in Keycloak's order: `kc_locale`, an earlier page, the user's profile,
 * the cookie, the client, the browser, the realm's default. Languages that the realm does not support are skipped.
 */
export function chooseLocale(
  configuration: RealmConfiguration,
  request: Pick<BrowserRequest, 'query' | 'cookies' | 'acceptLanguage'>,
  hints: LocaleHints = {},
): string {
  const locales = realmLocales(configuration);
  const [first = 'en'] = locales;
  if (locales.length === 1) return first;
  const wishes = [
    request.query.get('kc_locale'),
    hints.chosen,
    hints.user,
    ...cookieValues(request, 'KEYCLOAK_LOCALE'),
    ...(hints.uiLocales ?? '').slice(0, 200).split(' '),
    ...acceptedLanguages(request.acceptLanguage),
    configuration.realm.settings.kept['defaultLocale'],
  ];
  for (const wish of wishes) {
    const found = typeof wish === 'string' ? matchLocale(locales, wish) : undefined;
    if (found !== undefined) return found;
  }
  return first;
}

/** Returns the cookie that stores a language chosen on this page for later logins. */
export function localeCookies(
  configuration: RealmConfiguration,
  request: Pick<BrowserRequest, 'query'>,
): readonly CookieChange[] {
  const chosen = matchLocale(realmLocales(configuration), request.query.get('kc_locale') ?? '');
  if (chosen === undefined || realmLocales(configuration).length === 1) return [];
  return [{ name: 'KEYCLOAK_LOCALE', value: chosen, httpOnly: true, sameSite: 'None' }];
}

/** Returns the language for a page that belongs to no realm: the browser's preferred one, or else English. */
export function preferredLocale(acceptLanguage: string | undefined): string {
  for (const wish of acceptedLanguages(acceptLanguage)) {
    const found = matchLocale(PAGE_LOCALES, wish);
    if (found !== undefined) return found;
  }
  return 'en';
}

/** Returns the languages of the header `Accept-Language` in order of preference (RFC 9110 §12.5.4). */
function acceptedLanguages(header: string | undefined): readonly string[] {
  if (header === undefined) return [];
  return header
    .slice(0, 500)
    .split(',')
    .map((range) => {
      const [tag = '', ...parameters] = range.trim().split(';');
      const quality = parameters.map((one) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(one)?.[1]).find(Boolean);
      return { tag, quality: Number(quality ?? 1) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag);
}
