import type { AccountApplication, AccountFrame, PageFrame } from '../../browser/index.ts';
import {
  type AccountPageOf,
  accountContent,
  accountForm,
  fact,
  hidden,
  smallButton,
  time,
} from './account-frame.ts';
import { frameOrigin, type Html, html } from './html.ts';
import type { PageContent } from './layout.ts';
import type { Texts } from './messages/texts.ts';
import { enhanceScript } from './page-scripts.ts';

/** The page that lists the applications with access to the user's data, and what each may access. */
export function applicationsPage(
  page: AccountPageOf<'account-applications'>,
  frame: PageFrame,
  texts: Texts,
): PageContent {
  const { account, applications, mayRemove } = page;
  const content = accountContent('applications', account, frame, texts, [
    html`<p class="quiet">${texts.text(applications.length === 0 ? 'accountApplicationsNone' : 'accountApplicationsHint')}</p>
`,
    applications.length > 0 &&
      html`<ul class="items" id="kc-account-applications">
${applications.map((one) => renderApplication(one, account, mayRemove, texts))}</ul>
`,
  ]);
  return { ...content, script: enhanceScript };
}

function renderApplication(
  application: AccountApplication,
  account: AccountFrame,
  mayRemove: boolean,
  texts: Texts,
): Html {
  const { consent, description } = application;
  const name = texts.stored(application.name);
  // Without a consent, only offline access can be removed. Users end their sessions on the devices page.
  const remove = texts.text(consent === undefined ? 'accountRemoveOffline' : 'accountRemoveAccess');
  const scopes = consent?.scopes.map((text) => texts.stored(text)).join(', ') ?? '';
  return html`<li class="item"><div>
<h2>${nameOf(application, name)}${application.inUse && badge(texts.text('accountApplicationInUse'))}${application.offline && badge(texts.text('accountApplicationOffline'))}</h2>
${
  description !== undefined &&
  html`<p class="quiet">${texts.stored(description)}</p>
`
}${
  consent !== undefined &&
  html`<dl>
${scopes !== '' && fact(texts.text('accountConsentScopes'), scopes)}${fact(texts.text('accountConsentGiven'), time(consent.givenAt, texts))}</dl>
`
}</div>
${
  mayRemove &&
  application.removable &&
  accountForm(undefined, account, 'applications', [
    hidden('client', application.id),
    smallButton(remove, { label: `${remove}: ${name}` }),
  ])
}</li>
`;
}

/** Renders the name of an application, as a link if its home page is a web address. */
function nameOf({ url }: AccountApplication, name: string): Html {
  if (url === undefined || frameOrigin(url) === undefined) return html`${name}`;
  return html`<a href="${url}">${name}</a>`;
}

function badge(text: string): Html {
  return html` <span class="badge">${text}</span>`;
}
