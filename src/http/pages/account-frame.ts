import type { AccountFrame, AccountPage, AccountPageName, PageFrame } from '../../browser/index.ts';
import { attribute, type Html, type HtmlValue, html, safeLink } from './html.ts';
import type { PageContent } from './layout.ts';
import type { MessageKey, Texts } from './messages/texts.ts';
import { TIME_FORMAT } from './page-scripts.ts';

/** The data of the account page with the given name. */
export type AccountPageOf<Name extends AccountPage['page']> = Extract<AccountPage, { page: Name }>;

const TITLES: Readonly<Record<AccountPageName, MessageKey>> = {
  profile: 'accountProfileTitle',
  password: 'accountPasswordTitle',
  sessions: 'accountSessionsTitle',
  applications: 'accountApplicationsTitle',
};

/** The content of an account page: its body, links to the other pages and the button to sign out. */
export function accountContent(
  name: AccountPageName,
  account: AccountFrame,
  frame: PageFrame,
  texts: Texts,
  body: HtmlValue,
): PageContent {
  return {
    heading: texts.text(TITLES[name]),
    message: frame.message,
    wide: true,
    before: navigation(name, account, texts),
    body,
  };
}

function navigation(current: AccountPageName, account: AccountFrame, texts: Texts): Html {
  return html`<nav class="pages" id="kc-account-nav" aria-label="${texts.text('client_account')}">
${(Object.keys(TITLES) as AccountPageName[]).map(
  (name) =>
    html`<a${attribute('href', safeLink(account.links[name]))}${name === current && html` aria-current="page"`}>${texts.text(TITLES[name])}</a>
`,
)}${accountForm('kc-account-logout', account, 'sessions', [
  html`<span id="kc-account-username">${account.username}</span>
`,
  hidden('session', account.sessionId),
  smallButton(texts.text('accountSignOut')),
])}</nav>`;
}

/**
 * A form of an account page, with a token against CSRF.
 *
 * @param id id of the element. Undefined if the page contains the form several times.
 */
export function accountForm(
  id: string | undefined,
  account: AccountFrame,
  page: AccountPageName,
  content: HtmlValue,
): Html {
  return html`<form${attribute('id', id)} action="${safeLink(account.links[page]) ?? ''}" method="post">
${hidden('stateChecker', account.stateChecker)}${content}</form>
`;
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">
`;
}

/**
 * A button next to an item.
 *
 * @param options `label` is the full text for screen readers, if the page repeats the button; `name` is sent as `name=on`
 */
export function smallButton(text: string, options: { label?: string; name?: string } = {}): Html {
  const { label, name } = options;
  return html`<button class="button small" type="submit"${attribute('name', name)}${name !== undefined && html` value="on"`}${attribute('aria-label', label)}>${text}</button>
`;
}

/** A line of a description list. */
export function fact(name: string, value: HtmlValue): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>
`;
}

/**
 * Formats a time in the reader's language. The time is in UTC and names that time zone, because the service does not know
 * the reader's time zone. `enhanceScript` shows the time in the reader's time zone.
 *
 * @param milliseconds Unix time in milliseconds
 */
export function time(milliseconds: number, texts: Texts): Html {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return html`–`;
  return html`<time datetime="${date.toISOString()}">${formatOf(texts.language).format(date)}</time>`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(language: string): Intl.DateTimeFormat {
  let format = formats.get(language);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(language, { ...TIME_FORMAT, timeZone: 'UTC' });
    formats.set(language, format);
  }
  return format;
}
