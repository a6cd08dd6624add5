import type { AccountFrame, AccountSession, PageFrame } from '../../browser/index.ts';
import {
  type AccountPageOf,
  accountContent,
  accountForm,
  fact,
  hidden,
  smallButton,
  time,
} from './account-frame.ts';
import { type Html, html } from './html.ts';
import type { PageContent } from './layout.ts';
import type { Texts } from './messages/texts.ts';
import { enhanceScript } from './page-scripts.ts';

/** The page that lists the user's sessions, with this browser's session first. */
export function sessionsPage(
  page: AccountPageOf<'account-sessions'>,
  frame: PageFrame,
  texts: Texts,
): PageContent {
  const { account, sessions, more } = page;
  const others = more > 0 || sessions.some((one) => !one.current);
  const content = accountContent('sessions', account, frame, texts, [
    html`<p class="quiet">${texts.text('accountSessionsHint')}</p>
<ul class="items" id="kc-account-sessions">
${sessions.map((session) => renderSession(session, account, texts))}</ul>
`,
    more > 0 &&
      html`<p class="quiet">${texts.text('accountSessionsMore', { count: String(more) })}</p>
`,
    others &&
      account.mayChange &&
      accountForm(
        'kc-account-logout-others',
        account,
        'sessions',
        smallButton(texts.text('accountSignOutOthers'), { name: 'others' }),
      ),
  ]);
  return { ...content, script: enhanceScript };
}

function renderSession(session: AccountSession, account: AccountFrame, texts: Texts): Html {
  const device = session.device ?? texts.text('accountDeviceUnknown');
  const clients = session.clients.map((name) => texts.stored(name)).join(', ');
  const signOut = texts.text('accountSignOut');
  return html`<li class="item"><div>
<h2>${device}${session.current && html` <span class="badge">${texts.text('accountSessionCurrent')}</span>`}</h2>
<dl>
${fact(texts.text('accountSessionStarted'), time(session.startedAt * 1000, texts))}${fact(texts.text('accountSessionLastUse'), time(session.lastAccessAt * 1000, texts))}${fact(texts.text('accountSessionAddress'), session.ipAddress)}${clients !== '' && fact(texts.text('accountSessionApplications'), clients)}</dl>
</div>
${
  (session.current || account.mayChange) &&
  accountForm(undefined, account, 'sessions', [
    hidden('session', session.id),
    smallButton(signOut, { label: `${signOut}: ${device}, ${session.ipAddress}` }),
  ])
}</li>
`;
}
