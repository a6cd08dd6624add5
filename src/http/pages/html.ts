/** Markup that is safe to send: made by `html` alone, so every text in it was escaped. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }

  toString(): string {
    return this.markup;
  }
}

/** What may stand in a template; `undefined` and `false` leave nothing. */
export type HtmlValue = string | number | Html | readonly HtmlValue[] | undefined | false;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A template of markup. Values are text and are escaped, in content and in quoted attributes (HTML §13.1.2.3);
 * only what `html` made goes in as it is. A value must never stand in an unquoted attribute, in a script or in a
 * style: no template here has one there, and test/http/pages/escaping.test.ts proves it for every page.
 */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = parts[0]!;
  for (let at = 0; at < values.length; at++) markup += renderValue(values[at]) + parts[at + 1]!;
  return new Html(markup);
}

function renderValue(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(renderValue).join('');
  return escapeText(String(value));
}

function escapeText(text: string): string {
  // A parser would replace NUL by U+FFFD or drop it, depending on where it stands.
  return text.replace(/[&<>"']/g, (character) => escapes[character]!).replaceAll('\0', '\ufffd');
}

/** `name="value"` with a blank before it, or nothing where the value is undefined. */
export function attribute(name: string, value: string | undefined): Html | undefined {
  return value === undefined ? undefined : html` ${new Html(name)}="${value}"`;
}

const SCRIPTED: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'filesystem:']);

/**
 * A URL that may stand in a link or a form's action; undefined for one that would run in the page's own origin.
 * Schemes of installed applications are fine (RFC 8252 §7.1).
 */
export function safeLink(url: string | undefined): string | undefined {
  if (url === undefined || url === '') return undefined;
  // Relative to a place that no stored value can name; browsers read it the same way.
  if (!URL.canParse(url, 'https://page.invalid/')) return undefined;
  return SCRIPTED.has(new URL(url, 'https://page.invalid/').protocol) ? undefined : url;
}

/** The origin of a page that may be framed; undefined for anything but http and https. */
export function frameOrigin(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, origin } = new URL(url);
  return protocol === 'https:' || protocol === 'http:' ? origin : undefined;
}
