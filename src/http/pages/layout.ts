import type { PageFrame } from '../../browser/index.ts';
import { matchLocale, PAGE_LOCALES } from '../../model/index.ts';
import { attribute, type Html, type HtmlValue, html, safeLink } from './html.ts';
import type { OwnTexts, Texts } from './messages/texts.ts';
import type { PageScript } from './page-scripts.ts';
import { icon, stylesheet } from './resources.ts';

/** The URLs that the frame of a page needs. */
export interface PagePlace {
  /** The path of the base URL without a trailing slash. */
  basePath: string;
  /** The URL of the realm's logo, if it has one. */
  logo?: string | undefined;
  theme?: PageTheme | undefined;
  /** Content above the whole page, such as the note that it is a preview. */
  above?: HtmlValue;
}

/** The parts of a page that a theme decides. */
export interface PageTheme {
  /** The URL of the stylesheet with the theme's colours. */
  style?: string | undefined;
  logo?: { url: string; darkUrl?: string | undefined } | undefined;
  /** The theme's texts by language and key. */
  texts: Readonly<Record<string, OwnTexts>>;
  footer: readonly FooterLink[];
}

/** A link at the end of every page. */
export interface FooterLink {
  url: string;
  /** The text by language. `default` is for all other languages. */
  text: Readonly<Record<string, string>> & { readonly default: string };
}

/** The content of a page, which the layout puts into the frame of all pages. */
export interface PageContent {
  /** The title of the browser tab. Default: the heading and the realm's name. */
  title?: string;
  heading: string;
  body: HtmlValue;
  /** Whether the page needs more width than a form. */
  wide?: boolean;
  /** Content above the card, such as the navigation of the account pages. */
  before?: HtmlValue;
  /** The message above the form. Undefined if the body shows it. */
  message?: PageFrame['message'];
  /** The only script of the page. */
  script?: PageScript;
}

/** Renders a whole document: brand, heading, message, body and languages. */
export function layout(
  content: PageContent,
  shown: {
    texts: Texts;
    place: PagePlace;
    brand?: string;
    languages?: PageFrame['languages'];
  },
): string {
  const { texts, place, brand, languages = [] } = shown;
  const { theme } = place;
  const { heading, body, message, wide = false, before } = content;
  const title = content.title ?? (brand === undefined ? heading : `${heading} · ${brand}`);
  return html`<!DOCTYPE html>
<html lang="${texts.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${place.basePath}${stylesheet.path}">
${
  theme?.style !== undefined &&
  html`<link rel="stylesheet" href="${theme.style}">
`
}<link rel="icon" href="${place.basePath}${icon.path}">
</head>
<body${wide && html` class="wide"`}>
${place.above}
${brand !== undefined && renderBrand(brand, theme?.logo ?? (place.logo === undefined ? undefined : { url: place.logo }))}
${before}
<main class="card" id="kc-content">
<h1 id="kc-page-title">${heading}</h1>
${message !== undefined && renderMessage(message, texts)}
${body}
</main>
${languages.length > 1 && renderLanguages(languages, texts)}
${theme !== undefined && theme.footer.length > 0 && renderFooter(theme.footer, texts)}
${content.script?.element}
</body>
</html>
`.markup;
}

/**
 * Finds the first character of a realm's name. All pages share it, because creating a segmenter takes longer than
 * rendering a page. It is created with the first page, because it also takes a fifth of the start of the service.
 */
let graphemes: Intl.Segmenter | undefined;

function renderBrand(name: string, logo: PageTheme['logo']): Html {
  if (logo !== undefined) {
    const image = html`<img src="${logo.url}" alt="${name}">`;
    const { darkUrl } = logo;
    return html`<header class="brand" id="kc-header">${
      darkUrl === undefined
        ? image
        : html`<picture><source srcset="${darkUrl}" media="(prefers-color-scheme: dark)">${image}</picture>`
    }</header>`;
  }
  graphemes ??= new Intl.Segmenter();
  const [first] = graphemes.segment(name.trim());
  const initial = first?.segment ?? '';
  return html`<header class="brand" id="kc-header"><span class="mark" aria-hidden="true">${initial.toUpperCase()}</span>${name}</header>`;
}

/**
 * Renders the message above the form. Scripts that are written for Keycloak find errors by `#input-error` and these
 * classes.
 */
function renderMessage(message: NonNullable<PageFrame['message']>, texts: Texts): Html {
  const error = message.kind === 'error';
  const { more = [] } = message;
  const attributes = html`class="kc-feedback-text" id="${error ? 'input-error' : 'kc-message'}"`;
  const shown =
    more.length === 0
      ? html`<span ${attributes}>${texts.message(message)}</span>`
      : html`<ul ${attributes}>${[message, ...more].map((one) => html`<li>${texts.message(one)}</li>`)}</ul>`;
  return html`<div class="alert alert-${message.kind}" role="${error ? 'alert' : 'status'}">${shown}</div>`;
}

function renderFooter(footer: readonly FooterLink[], texts: Texts): Html {
  return html`<nav class="languages" id="kc-footer" aria-label="${texts.text('footerLinks')}">
${footer.map(
  ({
    url,
    text,
  }) => html`<a href="${safeLink(url) ?? ''}" rel="noreferrer">${text[texts.language] ?? text.default}</a>
`,
)}</nav>`;
}

function renderLanguages(languages: PageFrame['languages'], texts: Texts): Html {
  return html`<nav class="languages" id="kc-locale" aria-label="${texts.text('languages')}">
${languages.map(
  ({ locale, url }) =>
    html`<a lang="${locale}" hreflang="${locale}"${attribute('href', safeLink(url))}${locale === texts.language && html` aria-current="true"`}>${languageName(locale)}</a>
`,
)}</nav>`;
}

const languageNames = new Map<string, string>();

/** The name of a language in that language, or its tag if idkit has no texts for it. */
function languageName(locale: string): string {
  if (matchLocale(PAGE_LOCALES, locale) !== locale) return locale;
  let name = languageNames.get(locale);
  if (name === undefined) {
    const found = new Intl.DisplayNames([locale], { type: 'language' }).of(locale) ?? locale;
    // In a list, a name begins with a capital letter, although some languages write it small in a sentence.
    name = found.charAt(0).toLocaleUpperCase(locale) + found.slice(1);
    languageNames.set(locale, name);
  }
  return name;
}
