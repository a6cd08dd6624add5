/**
 * The languages of the pages, by Keycloak's tag. The first one is the default. src/http/pages/messages/ has a file for
 * each.
 */
export const PAGE_LOCALES = [
  'en',
  'cs',
  'de',
  'es',
  'fr',
  'it',
  'ja',
  'nl',
  'pl',
  'pt-BR',
  'sv',
  'tr',
] as const;

export type PageLocale = (typeof PAGE_LOCALES)[number];

/**
 * Returns the language of the pages for a tag: the one with the same tag, or else one with the same primary language,
 * such as `de` for `de-AT` and `pt-BR` for `pt` (RFC 4647 §3.4). Ignores upper and lower case.
 *
 * @param locales the languages to choose from
 */
export function matchLocale<Locale extends string>(
  locales: readonly Locale[],
  wish: string,
): Locale | undefined {
  const tag = wish.toLowerCase().replaceAll('_', '-');
  const [language] = tag.split('-', 1);
  return (
    locales.find((locale) => locale.toLowerCase() === tag) ??
    locales.find((locale) => locale.toLowerCase().split('-', 1)[0] === language)
  );
}
