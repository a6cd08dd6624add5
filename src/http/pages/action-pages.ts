import type { LoginPage, PageFrame } from '../../browser/index.ts';
import { buttons, field, form, link, newPasswordFields, submit } from './controls.ts';
import { html, safeLink } from './html.ts';
import type { PageContent } from './layout.ts';
import type { Texts } from './messages/texts.ts';
import { enhanceScript } from './page-scripts.ts';
import { profileFields } from './profile-fields.ts';

type PageOf<Name extends LoginPage['page']> = Extract<LoginPage, { page: Name }>;

/** The page that asks for a new password, twice. */
export function updatePasswordPage(
  page: PageOf<'update-password'>,
  frame: PageFrame,
  texts: Texts,
): PageContent {
  return {
    heading: texts.text('updatePasswordTitle'),
    message: frame.message,
    script: enhanceScript,
    body: form(
      'kc-passwd-update-form',
      page.action,
      // Password managers store the new password for this username.
      field({
        id: 'username',
        label: texts.text('attemptedUsername'),
        value: page.username,
        autocomplete: 'username',
        readOnly: true,
      }),
      newPasswordFields(page.rules, frame, texts, { focused: true }),
      page.logoutSessions &&
        html`<p class="quiet">${texts.text('accountPasswordHint')}</p>
`,
      buttons(submit(texts.text('doSubmit'), { id: 'kc-submit', name: 'login' })),
    ),
  };
}

/**
 * The page with the fields of the user's profile. The focus is on the first invalid field, or else on the first empty
 * one.
 */
export function updateProfilePage(
  page: PageOf<'update-profile'>,
  frame: PageFrame,
  texts: Texts,
): PageContent {
  const { action, fields } = page;
  return {
    heading: texts.text('updateProfileTitle'),
    message: frame.message,
    body: form(
      'kc-update-profile-form',
      action,
      profileFields(fields, texts, { focus: 'always' }),
      buttons(submit(texts.text('doSubmit'), { id: 'kc-submit', name: 'login' })),
    ),
  };
}

/** The page with the terms of the service. A user who declines them returns to the application. */
export function termsPage(page: PageOf<'terms'>, frame: PageFrame, texts: Texts): PageContent {
  return {
    heading: texts.text('termsTitle'),
    message: frame.message,
    body: [
      html`<div id="kc-terms-text">${texts
        .text('termsText')
        .split('\n')
        .map((line) => html`<p>${line}</p>`)}</div>
`,
      form(
        'kc-terms-form',
        page.action,
        buttons(
          submit(texts.text('doAccept'), { id: 'kc-accept', name: 'accept' }),
          submit(texts.text('doDecline'), { id: 'kc-decline', name: 'cancel', main: false }),
        ),
      ),
    ],
  };
}

/** The page that asks for consent to the scopes of a client (docs/keycloak/pages.md#form-and-field-names). */
export function consentPage(page: PageOf<'consent'>, frame: PageFrame, texts: Texts): PageContent {
  const { action, scopes, links } = page;
  const client = texts.stored(page.client);
  const policy = safeLink(links.policy);
  const terms = safeLink(links.terms);
  return {
    heading: texts.text('oauthGrantTitle', { client }),
    message: frame.message,
    body: [
      html`<div id="kc-oauth">
<h2>${texts.text('oauthGrantRequest')}</h2>
${
  scopes.length > 0 &&
  html`<ul class="list">
${scopes.map(
  ({ text }) => html`<li><span>${texts.stored(text)}</span></li>
`,
)}</ul>
`
}</div>
`,
      (policy !== undefined || terms !== undefined) &&
        html`<p class="quiet">${texts.text('oauthGrantReview', { client })}
${policy !== undefined && link(policy, texts.text('oauthGrantPolicy'), { id: 'kc-policy' })}${policy !== undefined && terms !== undefined && html` · `}${terms !== undefined && link(terms, texts.text('oauthGrantTerms'), { id: 'kc-tos' })}</p>
`,
      form(
        'kc-oauth-form',
        action,
        buttons(
          submit(texts.text('doYes'), { id: 'kc-login', name: 'accept' }),
          submit(texts.text('doNo'), { id: 'kc-cancel', name: 'cancel', main: false }),
        ),
      ),
    ],
  };
}
