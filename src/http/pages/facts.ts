import { type Html, type HtmlValue, html } from './html.ts';
import type { Texts } from './messages/index.ts';

/** One line of a description list. */
export function fact(name: string, value: HtmlValue): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>
`;
}

/**
 * A moment in the reader's language. In UTC and saying so: no page knows where its reader is without a script.
 *
 * @param milliseconds since the Unix epoch
 */
export function moment(milliseconds: number, texts: Texts): Html {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return html`–`;
  return html`<time datetime="${date.toISOString()}">${formatOf(texts.language).format(date)}</time>`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(language: string): Intl.DateTimeFormat {
  let format = formats.get(language);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(language, {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone: 'UTC',
      timeZoneName: 'short',
    });
    formats.set(language, format);
  }
  return format;
}
