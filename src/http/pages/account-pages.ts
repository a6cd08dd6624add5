import type { AccountPage, PageFrame } from '../../browser/index.ts';
import { applicationsPage } from './account-applications.ts';
import { type AccountPageOf, accountContent, accountForm } from './account-frame.ts';
import { sessionsPage } from './account-sessions.ts';
import { buttons, errorId, errorKeys, field, newPasswordFields, passwordField, submit } from './controls.ts';
import { html } from './html.ts';
import type { PageContent } from './layout.ts';
import type { Texts } from './messages/texts.ts';
import { enhanceScript } from './page-scripts.ts';
import { profileFields } from './profile-fields.ts';

/** Returns the content of an account page. */
export function accountPage(page: AccountPage, frame: PageFrame, texts: Texts): PageContent {
  switch (page.page) {
    case 'account-profile':
      return profilePage(page, frame, texts);
    case 'account-password':
      return passwordPage(page, frame, texts);
    case 'account-sessions':
      return sessionsPage(page, frame, texts);
    case 'account-applications':
      return applicationsPage(page, frame, texts);
  }
}

function profilePage(page: AccountPageOf<'account-profile'>, frame: PageFrame, texts: Texts): PageContent {
  const { account, fields } = page;
  const changeable = fields.some((one) => !one.readOnly);
  const content = [
    profileFields(fields, texts, { focus: 'faulty' }),
    changeable && buttons(submit(texts.text('accountSave'), { id: 'kc-submit', name: 'save' })),
  ];
  return accountContent('profile', account, frame, texts, [
    !changeable && readOnlyHint(texts),
    changeable ? accountForm('kc-account-profile', account, 'profile', content) : content,
  ]);
}

/**
 * The page that changes the password. It also asks for the old one, so that an unattended browser is not enough to take
 * over the account.
 */
function passwordPage(page: AccountPageOf<'account-password'>, frame: PageFrame, texts: Texts): PageContent {
  const { account } = page;
  if (!account.mayChange) return accountContent('password', account, frame, texts, readOnlyHint(texts));
  const wrong = errorKeys(frame).some((key) => /^accountPassword(Wrong|Missing)Message$/.test(key));
  const content = accountContent('password', account, frame, texts, [
    html`<p class="quiet">${texts.text('accountPasswordHint')}</p>
`,
    accountForm('kc-account-password', account, 'password', [
      // Password managers store the new password for this username.
      field({
        id: 'username',
        label: texts.text('username'),
        value: account.username,
        autocomplete: 'username',
        readOnly: true,
      }),
      passwordField(
        {
          name: 'password',
          label: texts.text('accountPasswordCurrent'),
          autocomplete: 'current-password',
          required: true,
          describedBy: wrong ? errorId(frame) : undefined,
          invalid: wrong,
          focused: true,
        },
        texts,
      ),
      newPasswordFields(page.rules, frame, texts, { focused: false }),
      buttons(submit(texts.text('accountSave'), { id: 'kc-submit', name: 'save' })),
    ]),
  ]);
  return { ...content, script: enhanceScript };
}

function readOnlyHint(texts: Texts) {
  return html`<p class="quiet">${texts.text('accountReadOnly')}</p>
`;
}
