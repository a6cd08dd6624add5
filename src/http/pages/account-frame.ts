import type { AccountFrame, AccountPage, AccountPageName, PageFrame } from '../../browser/index.ts';
import { attribute, type Html, type HtmlValue, html, safeLink } from './html.ts';
import type { PageContent } from './layout.ts';
import type { MessageKey, Texts } from './messages/texts.ts';

/** An account page of a name with its data. */
export type AccountPageOf<Name extends AccountPage['page']> = Extract<AccountPage, { page: Name }>;

const TITLES: Readonly<Record<AccountPageName, MessageKey>> = {
  profile: 'accountProfileTitle',
  password: 'accountPasswordTitle',
  sessions: 'accountSessionsTitle',
  applications: 'accountApplicationsTitle',
};

/** A page with the links to the others and the button "Sign out". */
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
 * A form of an account page with what proves that it was sent from there (CSRF).
 *
 * @param id undefined for one of several that are alike
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

/** A field that people do not see. */
export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">
`;
}

/**
 * A button beside what it is about.
 *
 * @param options `label`: its whole meaning, where several on a page say the same; `name`: sent as `name=on`
 */
export function smallButton(text: string, options: { label?: string; name?: string } = {}): Html {
  const { label, name } = options;
  return html`<button class="button small" type="submit"${attribute('name', name)}${name !== undefined && html` value="on"`}${attribute('aria-label', label)}>${text}</button>
`;
}

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
