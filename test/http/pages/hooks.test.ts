import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { LoginPage, StandalonePage } from '../../../src/browser/index.ts';
import { renderFormPost, renderPage, renderPlainError } from '../../../src/http/pages/index.ts';
import { findTexts } from '../../../src/http/pages/messages/texts.ts';
import { stylesheet } from '../../../src/http/pages/resources.ts';
import { accountSamples } from './account-samples.ts';
import { find, readElements } from './read-page.ts';
import { samples } from './samples.ts';

const place = { basePath: '' };
const frame = { realm: { name: 'acme', displayName: 'Acme' }, locale: 'en', languages: [] };
const action = 'https://id.example/realms/acme/login-actions/x?a=1&b=2';
const render = (page: LoginPage | StandalonePage) => renderPage(frame, page, place).markup;
const login = {
  page: 'login',
  action,
  fixed: false,
  usernameKind: 'username',
  rememberMe: 'absent',
} as const;

/** Returns the ids and names in a page that scripts for Keycloak rely on: sorted, and ids with a leading `#`. */
function hooksOf(markup: string): readonly string[] {
  const wanted = ['username', 'password', 'rememberMe', 'accept', 'cancel', 'confirmLogout', 'otp'];
  const ids = ['kc-form-login', 'kc-login', 'kc-logout'];
  const found = readElements(markup).flatMap(({ attributes }) => [
    ...(ids.includes(attributes['id'] ?? '') ? [`#${attributes['id']}`] : []),
    ...(wanted.includes(attributes['name'] ?? '') ? [attributes['name']!] : []),
  ]);
  return [...new Set(found)].sort();
}

test('the controls of each page have exactly Keycloak’s ids and names (docs/keycloak/pages.md#form-and-field-names)', () => {
  const expected: [LoginPage | StandalonePage, string[]][] = [
    [login, ['#kc-form-login', '#kc-login', 'password', 'username']],
    [
      { ...login, rememberMe: 'offered' },
      ['#kc-form-login', '#kc-login', 'password', 'rememberMe', 'username'],
    ],
    [{ ...login, fixed: true, username: 'alice' }, ['#kc-form-login', '#kc-login', 'password']],
    [{ page: 'consent', action, client: 'web', scopes: [], links: {} }, ['#kc-login', 'accept', 'cancel']],
    [{ page: 'terms', action }, ['accept', 'cancel']],
    [{ page: 'otp', action, devices: [] }, ['#kc-login', 'otp']],
    [{ page: 'logout-confirm', action, ways: [] }, ['#kc-logout', 'confirmLogout']],
    [{ page: 'error', ways: [] }, []],
    [{ page: 'info', ways: [] }, []],
  ];
  for (const [page, hooks] of expected) assert.deepEqual(hooksOf(render(page)), hooks, page.page);
});

test('every form posts to its action, works without scripts and is the first form of its page', () => {
  for (const { name, frame: own, page } of samples()) {
    const { markup } = renderPage(own, page, place);
    const forms = readElements(markup).filter(({ tag }) => tag === 'form');
    assert.equal(forms.length, 'action' in page ? 1 : 0, name);
    if (!('action' in page)) continue;
    assert.equal(forms[0]!.attributes['action'], page.action, name);
    assert.equal(forms[0]!.attributes['method'], 'post', name);
    // A page works without its only script, which adds nothing to the form.
    assert.ok(forms[0]!.attributes['onsubmit'] === undefined, name);
    // Shell scripts find the form by this pattern.
    const [, found] = /<form\s+.*?\s+action="(.*?)"/.exec(markup) ?? [];
    assert.equal(found?.replaceAll('&amp;', '&'), page.action, name);
  }
});

test('each field has the autocomplete value that password managers expect', () => {
  const of = (page: LoginPage, hook: string) => find(render(page), hook).attributes['autocomplete'];
  assert.equal(of(login, 'username'), 'username');
  assert.equal(of(login, 'password'), 'current-password');
  assert.equal(of({ page: 'otp', action, devices: [] }, 'otp'), 'one-time-code');
  const update = {
    page: 'update-password',
    action,
    username: 'alice',
    logoutSessions: false,
    rules: [],
  } as const;
  assert.equal(of(update, 'password-new'), 'new-password');
  assert.equal(of(update, 'password-confirm'), 'new-password');
  assert.equal(of(update, '#username'), 'username');
  assert.equal(find(render(update), '#kc-passwd-update-form').attributes['action'], action);
});

test('pages contain the texts of Keycloak that scripts look for', () => {
  const error = (key: string, values?: Record<string, string>) =>
    find(
      renderPage(
        { ...frame, message: { kind: 'error', key, ...(values ? { values } : {}) } },
        { page: 'error', ways: [] },
        place,
      ).markup,
      '#kc-error-message',
    ).text;
  assert.match(error('invalidParameterMessage', { name: 'redirect_uri' }), /Invalid parameter: redirect_uri/);
  assert.match(
    error('missingParametersMessage', { name: 'id_token_hint' }),
    /Missing parameters: id_token_hint/,
  );
  assert.match(error('invalidRedirectUriMessage'), /Invalid redirect uri/);
  assert.match(error('invalidRequestMessage'), /Invalid Request/);
  assert.equal(find(render({ page: 'error', ways: [] }), '#kc-page-title').text, 'We are sorry...');
  assert.equal(find(render(login), '#kc-page-title').text, 'Sign in to your account');
  assert.match(render(login), /<title>Sign in to Acme<\/title>/);
  assert.match(render({ page: 'logout-confirm', action, ways: [] }), /Do you want to sign out\?/);
  const out = renderPage(
    { ...frame, message: { kind: 'success', key: 'successLogout' } },
    { page: 'info', ways: [] },
    place,
  );
  assert.equal(find(out.markup, '#kc-page-title').text, 'You are signed out');
  const again = { ...frame, message: { kind: 'info', key: 'reauthenticateMessage' } } as const;
  assert.match(
    renderPage(again, { ...login, fixed: true, username: 'a' }, place).markup,
    /Please sign in again to continue/,
  );
});

test('shows a fixed user name and does not submit it', () => {
  const markup = render({ ...login, fixed: true, username: 'alice', restart: '/again' });
  const shown = find(markup, '#kc-attempted-username');
  assert.equal(shown.attributes['value'], 'alice');
  assert.equal(shown.attributes['name'], undefined);
  assert.ok('readonly' in shown.attributes);
  assert.equal(find(markup, '#reset-login').attributes['href'], '/again');
});

test('the first field that needs input has the focus', () => {
  const focused = (page: LoginPage) =>
    readElements(render(page))
      .filter(({ attributes }) => 'autofocus' in attributes)
      .map(({ attributes }) => attributes['id']);
  assert.deepEqual(focused(login), ['username']);
  assert.deepEqual(focused({ ...login, username: 'alice' }), ['password']);
  assert.deepEqual(focused({ ...login, username: 'alice', fixed: true }), ['password']);
  assert.deepEqual(focused({ page: 'otp', action, devices: [] }), ['otp']);
  // If a button had the focus, a key press that was meant for the previous page would activate it.
  assert.deepEqual(focused({ page: 'consent', action, client: 'c', scopes: [], links: {} }), []);
});

test('announces an error to screen readers and associates it with its fields', () => {
  const own = { ...frame, message: { kind: 'error', key: 'invalidUserMessage' } } as const;
  const { markup } = renderPage(own, login, place);
  assert.equal(find(markup, '#input-error').text, 'Invalid username or password.');
  assert.equal(find(markup, 'username').attributes['aria-describedby'], 'input-error');
  assert.equal(find(markup, 'password').attributes['aria-invalid'], 'true');
  assert.ok(readElements(markup).some(({ attributes }) => attributes['role'] === 'alert'));
});

test('a page’s Content-Security-Policy has no form-action, and allows frames only on its own origin', () => {
  const policy =
    "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'self'; base-uri 'none'";
  for (const { name, frame: own, page } of [...samples(), ...accountSamples()]) {
    const rendered = renderPage(own, page, place);
    assert.equal(rendered.policy.replace(/script-src 'sha256-[^']+'; /, ''), policy, name);
  }
  assert.equal(renderPlainError(404, { locale: 'en', ways: [] }, place).policy, policy);
});

test('only pages with passwords or times have a script: always the same one, which the policy allows by its hash', () => {
  const hash = (script: string) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
  const scripts = new Set<string>();
  for (const { name, frame: own, page } of [...samples(), ...accountSamples()]) {
    const { markup, policy } = renderPage(own, page, place);
    const found = [...markup.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script]) => script!);
    const needed = /type="password"|<time /.test(markup);
    const source = /script-src ([^;]+);/.exec(policy)?.[1];
    assert.ok(!needed || found.length === 1, name);
    assert.equal(source, found[0] === undefined ? undefined : hash(found[0]), name);
    if (found[0] !== undefined) scripts.add(found[0]);
    if (!needed && !name.startsWith('no application') && !name.startsWith('devices'))
      assert.equal(found.length, 0, name);
  }
  assert.equal(scripts.size, 1);
});

test('a user reads what to do; what an administrator needs is folded below', () => {
  const message = {
    kind: 'error',
    key: 'invalidParameterMessage',
    values: { name: 'redirect_uri' },
  } as const;
  const { markup } = renderPage({ ...frame, locale: 'de', message }, { page: 'error', ways: [] }, place);
  const elements = readElements(markup);
  const shown = elements.find(({ attributes }) => attributes['class'] === 'instruction')!.text;
  assert.match(shown, /^Die Anwendung hat eine ungültige Anfrage gesendet\./);
  const details = elements.find(({ tag }) => tag === 'details')!;
  assert.equal(details.text, 'Einzelheiten für den AdministratorInvalid parameter: redirect_uri');
  assert.ok(!('open' in details.attributes));
  const own = { invalidParameterMessage: 'Frag den Helpdesk ({0})' };
  const overridden = renderPage(
    { ...frame, ownTexts: own, message },
    { page: 'error', ways: [] },
    place,
  ).markup;
  assert.match(overridden, /<p class="instruction">Frag den Helpdesk \(redirect_uri\)<\/p>/);
});

test('the rules of a password are on the page before the user types, and each field refers to its faults', () => {
  const rules = [{ key: 'invalidPasswordMinLengthMessage', values: { 0: '8' } }];
  const page = { page: 'update-password', action, username: 'alice', logoutSessions: false, rules } as const;
  const fresh = render(page);
  assert.match(find(fresh, '#kc-password-rules').text, /Use at least 8 characters\./);
  assert.ok(fresh.indexOf('kc-password-rules') < fresh.indexOf('name="password-new"'));
  assert.equal(find(fresh, 'password-new').attributes['aria-describedby'], 'kc-password-rules');
  assert.equal(find(fresh, 'password-new').attributes['aria-invalid'], undefined);
  const message = { kind: 'error', key: 'notMatchPasswordMessage', more: rules } as const;
  const { markup } = renderPage({ ...frame, message }, page, place);
  assert.deepEqual(
    readElements(markup)
      .filter(({ tag }) => tag === 'li')
      .map(({ text }) => text),
    ['The two new passwords are different.', 'Use at least 8 characters.', 'Use at least 8 characters.'],
  );
  assert.equal(find(markup, 'password-new').attributes['aria-describedby'], 'kc-password-rules input-error');
  assert.equal(find(markup, 'password-confirm').attributes['aria-invalid'], 'true');
});

test('the form_post page allows only one inline script, by its hash', () => {
  const answer = {
    to: 'https://app.example/cb?x=1&y=2',
    fields: [
      ['code', 'a.b.c'],
      ['state', `(,]=[*>/?'~)<^%}"`],
    ],
  } as const;
  const { markup, policy } = renderFormPost(answer, findTexts('en'), place);
  assert.match(
    policy,
    /^default-src 'none'; style-src 'self'; img-src 'self'; script-src 'sha256-[\w+/]{43}='; frame-ancestors 'self'; base-uri 'none'$/,
  );
  const [form] = readElements(markup).filter(({ tag }) => tag === 'form');
  assert.equal(form!.attributes['action'], answer.to);
  for (const [name, value] of answer.fields) assert.equal(find(markup, name).attributes['value'], value);
  assert.ok(!/type="module"|onload|nonce/.test(markup));
});

test('the front-channel logout page frames only the clients, and its script follows the link (Front-Channel §2)', () => {
  const page = {
    page: 'frontchannel-logout',
    ways: [],
    frames: [
      { client: 'one', url: 'https://one.example:8443/out?iss=x&sid=y' },
      { client: 'two', url: 'https://one.example:8443/other' },
      { client: 'odd', url: 'javascript:alert(1)' },
    ],
    continueAt: 'https://app.example/bye?state=1',
  } as const;
  const { markup, policy } = renderPage(frame, page, place);
  assert.match(policy, /; script-src 'sha256-[\w+/]{43}='; frame-src https:\/\/one\.example:8443; /);
  const frames = readElements(markup).filter(({ tag }) => tag === 'iframe');
  assert.deepEqual(
    frames.map(({ attributes }) => attributes['src']),
    page.frames.slice(0, 2).map(({ url }) => url),
  );
  assert.equal(find(markup, '#continue').attributes['href'], page.continueAt);
});

test('never uses a stored URL in a link or a form action if it could run a script', () => {
  for (const url of ['javascript:alert(1)', ' java\nscript:alert(1)', 'data:text/html,x', 'VBScript:x']) {
    const links = { policy: url, terms: url };
    const all = [
      render({ page: 'consent', action, client: 'c', scopes: [], links }),
      render({ page: 'error', ways: [{ way: 'application', url }] }),
      render({ page: 'expired', restart: url, continueAt: url, ways: [{ way: 'sign-in', url }] }),
      render({ page: 'logout-confirm', action, ways: [{ way: 'stay', url }] }),
      render({ page: 'terms', action: url }),
      render({ page: 'frontchannel-logout', frames: [{ client: 'c', url }], continueAt: url, ways: [] }),
      ...accountSamples().map(({ frame: own, page }) => renderPage(own, page, place).markup),
    ].flatMap(readElements);
    for (const { attributes } of all)
      for (const name of ['href', 'src', 'action'])
        assert.ok(!/script:|data:/i.test(attributes[name] ?? ''), `${name}=${attributes[name]}`);
  }
  const native = 'com.example.app:/back';
  assert.equal(
    find(render({ page: 'error', ways: [{ way: 'application', url: native }] }), '#backToApplication')
      .attributes['href'],
    native,
  );
});

test('a page and its stylesheet together have at most 18 kB', () => {
  for (const { name, frame: own, page } of [...samples(), ...accountSamples()]) {
    const { markup } = renderPage(own, page, place);
    const bytes = Buffer.byteLength(markup) + Buffer.byteLength(stylesheet.content);
    assert.ok(bytes <= 18_000, `${name}: ${bytes}`);
  }
});

test('pages load their files from URLs below the path of the base URL', () => {
  const { markup } = renderPage(frame, login, { basePath: '/auth', logo: '/auth/resources/logos/acme?v=1' });
  const { attributes } = readElements(markup).find(({ attributes }) => attributes['rel'] === 'stylesheet')!;
  assert.equal(attributes['href'], `/auth${stylesheet.path}`);
  const image = readElements(markup).find(({ tag }) => tag === 'img')!;
  assert.deepEqual(image.attributes, { src: '/auth/resources/logos/acme?v=1', alt: 'Acme' });
});
