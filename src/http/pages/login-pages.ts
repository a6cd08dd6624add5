import type { LoginPage, PageFrame } from '../../browser/index.ts';
import { buttons, choice, errorId, field, form, link, passwordField, submit } from './controls.ts';
import { html } from './html.ts';
import type { PageContent } from './layout.ts';
import type { Texts } from './messages/texts.ts';
import { enhanceScript } from './page-scripts.ts';

type PageOf<Name extends LoginPage['page']> = Extract<LoginPage, { page: Name }>;

const LABELS = {
  username: 'username',
  'username-or-email': 'usernameOrEmail',
  email: 'email',
} as const;

/**
 * The page that asks for user name and password. A fixed user name is read-only
 * (docs/keycloak/pages.md#form-and-field-names).
 */
export function loginPage(page: PageOf<'login'>, frame: PageFrame, texts: Texts): PageContent {
  const { action, username, fixed, usernameKind, rememberMe, restart } = page;
  const describedBy = errorId(frame);
  const invalid = describedBy !== undefined;
  const known = username !== undefined && username !== '';
  const name = fixed
    ? field({
        id: 'kc-attempted-username',
        label: texts.text('attemptedUsername'),
        value: username ?? '',
        autocomplete: 'username',
        readOnly: true,
      })
    : field({
        name: 'username',
        label: texts.text(LABELS[usernameKind]),
        value: username ?? '',
        autocomplete: 'username',
        focused: !known,
        describedBy,
        invalid,
      });
  return {
    title: texts.text('loginTitle', { realm: frame.realm.displayName }),
    heading: texts.text('loginAccountTitle'),
    message: frame.message,
    script: enhanceScript,
    body: [
      form(
        'kc-form-login',
        action,
        name,
        passwordField(
          {
            name: 'password',
            label: texts.text('password'),
            autocomplete: 'current-password',
            focused: fixed || known,
            describedBy,
            invalid,
          },
          texts,
        ),
        rememberMe !== 'absent' &&
          choice({
            type: 'checkbox',
            id: 'rememberMe',
            name: 'rememberMe',
            value: 'on',
            label: texts.text('rememberMe'),
            checked: rememberMe === 'checked',
          }),
        buttons(submit(texts.text('doLogIn'), { id: 'kc-login', name: 'login' })),
      ),
      fixed &&
        restart !== undefined &&
        html`<p class="more">${link(restart, texts.text('otherUser'), { id: 'reset-login' })}</p>
`,
    ],
  };
}

/** The page that asks for a one-time code, and for the device if the user has several. */
export function otpPage(page: PageOf<'otp'>, frame: PageFrame, texts: Texts): PageContent {
  const { action, devices } = page;
  const describedBy = errorId(frame);
  return {
    title: texts.text('loginTitle', { realm: frame.realm.displayName }),
    heading: texts.text('loginAccountTitle'),
    message: frame.message,
    body: form(
      'kc-otp-login-form',
      action,
      devices.length > 1 &&
        html`<fieldset><legend>${texts.text('loginOtpDevice')}</legend>
${devices.map(({ id, label, chosen }, at) =>
  choice({
    type: 'radio',
    id: `kc-otp-credential-${at}`,
    name: 'selectedCredentialId',
    value: id,
    label,
    checked: chosen,
  }),
)}</fieldset>
`,
      html`<p class="quiet" id="kc-otp-hint">${texts.text('loginOtpHint')}</p>
`,
      field({
        name: 'otp',
        label: texts.text('loginOtpOneTime'),
        autocomplete: 'one-time-code',
        className: 'code',
        numeric: true,
        focused: true,
        describedBy: describedBy ?? 'kc-otp-hint',
        invalid: describedBy !== undefined,
      }),
      buttons(submit(texts.text('doLogIn'), { id: 'kc-login', name: 'login' })),
    ),
  };
}
