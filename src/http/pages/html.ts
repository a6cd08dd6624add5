/**
 * Markup that is safe to send. `html` creates it and escapes every text in it. Other code creates it only from
 * constants.
 */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }

  toString(): string {
    return this.markup;
  }
}

/** A value of a template. `undefined` and `false` render nothing. */
export type HtmlValue = string | number | Html | readonly HtmlValue[] | undefined | false;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A template of markup. It escapes every value, in content and in quoted attributes (HTML §13.1.2.3), except results of
 * `html` itself. A value must never be in an unquoted attribute, a script or a style. test/http/pages/escaping.test.ts
 * checks that for every page.
 */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = parts[0] ?? '';
  for (let at = 0; at < values.length; at++) markup += renderValue(values[at]) + (parts[at + 1] ?? '');
  return new Html(markup);
}

function renderValue(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(renderValue).join('');
  return escapeText(String(value));
}

function escapeText(text: string): string {
  // NUL becomes U+FFFD here, because an HTML parser replaces it in some contexts and drops it in others.
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? '').replaceAll('\0', '\ufffd');
}

/** `name="value"` after a space, or nothing if the value is undefined. */
export function attribute(name: string, value: string | undefined): Html | undefined {
  return value === undefined ? undefined : html` ${new Html(name)}="${value}"`;
}

const SCRIPTED: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'filesystem:']);

/**
 * Returns a URL that is safe in a link or in the action of a form. Returns undefined for a URL that could run a script
 * in the page's origin. Schemes of installed applications are safe (RFC 8252 §7.1).
 */
export function safeLink(url: string | undefined): string | undefined {
  if (url === undefined || url === '') return undefined;
  // Browsers resolve a relative URL too, so it is checked against a base that no stored value can name.
  if (!URL.canParse(url, 'https://page.invalid/')) return undefined;
  return SCRIPTED.has(new URL(url, 'https://page.invalid/').protocol) ? undefined : url;
}

/** Returns the origin of a page for a frame, or undefined if its scheme is not http or https. */
export function frameOrigin(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, origin } = new URL(url);
  return protocol === 'https:' || protocol === 'http:' ? origin : undefined;
}
