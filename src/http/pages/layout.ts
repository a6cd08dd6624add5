import type { PageFrame } from '../../browser/index.ts';
import { attribute, type Html, type HtmlValue, html, safeLink } from './html.ts';
import { LANGUAGES, type Texts } from './messages/texts.ts';
import { icon, stylesheet } from './resources.ts';

/** The URLs that the frame of a page needs. */
export interface PagePlace {
  /** The path of the base URL without a trailing slash. */
  basePath: string;
  /** The URL of the realm's logo, if it has one. */
  logo?: string | undefined;
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
  const { heading, body, message, wide = false, before } = content;
  const title = content.title ?? (brand === undefined ? heading : `${heading} · ${brand}`);
  return html`<!DOCTYPE html>
<html lang="${texts.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${place.basePath}${stylesheet.path}">
<link rel="icon" href="${place.basePath}${icon.path}">
</head>
<body${wide && html` class="wide"`}>
${brand !== undefined && renderBrand(brand, place.logo)}
${before}
<main class="card" id="kc-content">
<h1 id="kc-page-title">${heading}</h1>
${message !== undefined && renderMessage(message, texts)}
${body}
</main>
${languages.length > 1 && renderLanguages(languages, texts)}
</body>
</html>
`.markup;
}

/**
 * Finds the first character of a realm's name. All pages share it, because creating a segmenter takes longer than
 * rendering a page.
 */
const graphemes = new Intl.Segmenter();

function renderBrand(name: string, logo: string | undefined): Html {
  if (logo !== undefined)
    return html`<header class="brand" id="kc-header"><img src="${logo}" alt="${name}"></header>`;
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
  return html`<div class="alert alert-${message.kind}" role="${error ? 'alert' : 'status'}"><span class="kc-feedback-text" id="${error ? 'input-error' : 'kc-message'}">${texts.message(message)}</span></div>`;
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
  if (!Object.hasOwn(LANGUAGES, locale)) return locale;
  let name = languageNames.get(locale);
  if (name === undefined) {
    name = new Intl.DisplayNames([locale], { type: 'language' }).of(locale) ?? locale;
    languageNames.set(locale, name);
  }
  return name;
}
