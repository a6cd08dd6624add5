import type { PageTheme } from '../pages/index.ts';
import type { Services } from '../url-table/route.ts';
import type { Theme } from './theme.ts';

/** Returns the theme of a page with the URLs of its files. Undefined if the page has none, or if the theme has an error. */
export async function findPageTheme(
  { themes }: Pick<Services, 'themes'>,
  name: string | undefined,
  basePath: string,
): Promise<PageTheme | undefined> {
  const theme = name === undefined ? undefined : await themes?.find(name);
  return theme === undefined ? undefined : pageTheme(theme, basePath);
}

/** The parts of a theme that pages show. @param basePath the path of the base URL without a trailing slash */
export function pageTheme(
  { name, style, logo, darkLogo, texts, footer }: Theme,
  basePath: string,
): PageTheme {
  const url = (file: string, version: string) =>
    `${basePath}/resources/themes/${encodeURIComponent(name)}/${file}?v=${version}`;
  return {
    texts,
    footer,
    ...(style === undefined ? {} : { style: url('style.css', style.version) }),
    ...(logo === undefined
      ? {}
      : {
          logo: {
            url: url('logo', logo.version),
            ...(darkLogo === undefined ? {} : { darkUrl: url('logo-dark', darkLogo.version) }),
          },
        }),
  };
}
