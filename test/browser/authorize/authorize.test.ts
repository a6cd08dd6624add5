import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  closePasswords,
  openWorld,
  type RealmInWorld,
  refusalOf,
  type World,
} from '../../protocol/support/world.ts';
import {
  Browser,
  CALLBACK,
  clientAnswer,
  errorOf,
  messageOf,
  pageOf,
  realmWithLogin,
  redirectOf,
} from '../browser.ts';

let world: World;
let realm: RealmInWorld;

before(async () => {
  world = await openWorld();
  ({ realm } = await realmWithLogin(world, 'acme'));
  const usual = { redirectUris: [CALLBACK], standardFlowEnabled: true };
  await realm.client('off', { ...usual, enabled: false });
  await realm.client('bearer', { ...usual, bearerOnly: true });
  await realm.client('saml', { ...usual, protocol: 'saml' });
  await realm.client('no-standard', { ...usual, standardFlowEnabled: false });
  await realm.client('hybrid', { ...usual, implicitFlowEnabled: true });
  await realm.client('pkce', { ...usual, attributes: { 'pkce.code.challenge.method': 'S256' } });
  await realm.client('pushed', {
    ...usual,
    attributes: { 'require.pushed.authorization.requests': 'true' },
  });
  await realm.client('two', { ...usual, redirectUris: [CALLBACK, `${CALLBACK}2`] });
});
after(async () => {
  await world.close();
  await closePasswords();
});

const ask = (parameters: Record<string, string | undefined>, method: 'GET' | 'POST' = 'GET') =>
  new Browser(world, realm).authorize(parameters, method);
const lastEvent = () => world.events.at(-1)!;
const CHALLENGE = 'x'.repeat(43);

describe('the error pages of the authorization endpoint (RFC 6749 §4.1.2.1)', () => {
  const pages: [
    name: string,
    parameters: Record<string, string | undefined>,
    error: string,
    event: string,
  ][] = [
    ['a missing client_id', { client_id: undefined }, '400 invalidRequestMessage', 'invalid_request'],
    ['an unknown client', { client_id: 'nobody' }, '400 clientNotFoundMessage', 'client_not_found'],
    ['a disabled client', { client_id: 'off' }, '400 clientDisabledMessage', 'client_disabled'],
    ['a bearer-only client', { client_id: 'bearer' }, '403 bearerOnlyMessage', 'not_allowed'],
    ['a SAML client', { client_id: 'saml' }, '400 wrongClientProtocolMessage', 'invalid_client'],
    [
      'a missing redirect URI',
      { redirect_uri: undefined },
      '400 invalidParameterMessage',
      'invalid_redirect_uri',
    ],
    [
      'an unregistered redirect URI',
      { redirect_uri: 'https://evil.example.test/' },
      '400 invalidParameterMessage',
      'invalid_redirect_uri',
    ],
    ['a max_age that is not a number', { max_age: 'abc' }, '400 invalidRequestMessage', 'invalid_request'],
    ['a negative max_age', { max_age: '-1' }, '400 invalidRequestMessage', 'invalid_request'],
    ['a request_uri', { request_uri: 'urn:x' }, '400 invalidRequestMessage', 'invalid_request'],
    ['a broken request object', { request: 'x.y.z' }, '400 invalidRequestMessage', 'invalid_request'],
    ['a NUL character', { state: 'a\0b' }, '400 invalidRequestMessage', 'invalid_request'],
    [
      'a value that is too long to store',
      { nonce: 'x'.repeat(9000) },
      '400 invalidParameterMessage',
      'invalid_request',
    ],
    ['prompt=create', { prompt: 'create' }, '400 registrationNotAllowedMessage', 'registration_disabled'],
  ];
  for (const [name, parameters, error, event] of pages)
    it(`rejects ${name} with an error page, and logs the event`, async () => {
      for (const method of ['GET', 'POST'] as const) {
        assert.equal(errorOf(await ask(parameters, method)), error);
        assert.equal(lastEvent().type, 'LOGIN_ERROR');
        assert.equal(lastEvent().error, event);
      }
    });

  it('rejects a repeated client_id or redirect_uri with an error page', async () => {
    const base = `/realms/acme/protocol/openid-connect/auth?response_type=code`;
    const uri = `redirect_uri=${encodeURIComponent(CALLBACK)}`;
    const browser = new Browser(world, realm);
    assert.equal(
      errorOf(await browser.send('GET', `${base}&client_id=web&client_id=web&${uri}`)),
      '400 invalidRequestMessage',
    );
    assert.equal(
      errorOf(await browser.send('GET', `${base}&client_id=web&${uri}&${uri}`)),
      '400 invalidParameterMessage',
    );
  });

  it('rejects a disabled realm with an error page, and an unknown realm with 404', async () => {
    const gone = new Browser(world, realm, { realm: 'nowhere' });
    assert.equal((await refusalOf(gone.authorize())).case, 'realm-not-found');
    const { realm: off } = await realmWithLogin(world, 'off', { enabled: false });
    assert.equal(errorOf(await new Browser(world, off).authorize()), '400 realmNotEnabledMessage');
  });

  it('rejects plain http with an error page if the realm requires TLS', async () => {
    const { realm: strict } = await realmWithLogin(world, 'strict', { sslRequired: 'all' });
    assert.equal(errorOf(await new Browser(world, strict).authorize()), '403 httpsRequiredMessage');
    pageOf(await new Browser(world, strict, { secure: true }).authorize(), 'login');
  });

  it('shows an error page if the realm’s browser flow has a step that idkit does not enforce (docs/keycloak/tokens.md#demands)', async () => {
    const flow = {
      alias: 'mine',
      authenticationExecutions: [{ authenticator: 'x', requirement: 'REQUIRED' }],
    };
    const kept = { authenticationFlows: [flow], browserFlow: 'mine' };
    const { realm: own } = await realmWithLogin(world, 'own-flow', { kept });
    assert.equal(errorOf(await new Browser(world, own).authorize()), '400 loginRefusedMessage');
    assert.ok((await own.login('alice')).access_token, 'the password grant has a flow of its own');
  });
});

describe('the errors that the authorization endpoint sends to the client (docs/keycloak/login.md#errors-sent-to-the-client)', () => {
  const implicitOff =
    'Client is not allowed to initiate browser login with given response_type. Implicit flow is disabled for the client.';
  const cases: [parameters: Record<string, string | undefined>, error: string, description?: string][] = [
    [{ response_type: undefined }, 'invalid_request', 'Missing parameter: response_type'],
    [{ response_type: 'nonsense' }, 'unsupported_response_type'],
    [{ response_type: 'code none' }, 'unsupported_response_type'],
    [{ response_type: 'token' }, 'unauthorized_client', implicitOff],
    [{ response_type: 'id_token', nonce: 'n' }, 'unauthorized_client', implicitOff],
    [{ client_id: 'no-standard' }, 'unauthorized_client', implicitOff.replace('Implicit', 'Standard')],
    [{ response_mode: 'nonsense' }, 'invalid_request', 'Invalid parameter: response_mode'],
    [
      { client_id: 'hybrid', response_type: 'code token', response_mode: 'query', nonce: 'n' },
      'invalid_request',
      "Response_mode 'query' not allowed for implicit or hybrid flow",
    ],
    [{ client_id: 'hybrid', response_type: 'code id_token' }, 'invalid_request', 'Missing parameter: nonce'],
    [{ scope: 'openid nonsense' }, 'invalid_scope', 'Invalid scopes: openid nonsense'],
    [{ scope: 'a"b\\c\u00e4' }, 'invalid_scope', 'Invalid scopes: a?b?c?'],
    [{ client_id: 'pushed' }, 'invalid_request', 'Pushed Authorization Request is only allowed.'],
    [{ client_id: 'pkce' }, 'invalid_request', 'Missing parameter: code_challenge_method'],
    [
      { client_id: 'pkce', code_challenge: CHALLENGE, code_challenge_method: 'plain' },
      'invalid_request',
      'Invalid parameter: code challenge method is not matching the configured one',
    ],
    [
      { client_id: 'pkce', code_challenge_method: 'S256' },
      'invalid_request',
      'Missing parameter: code_challenge',
    ],
    [{ code_challenge_method: 'S256' }, 'invalid_request', 'Missing parameter: code_challenge'],
    [
      { code_challenge: CHALLENGE, code_challenge_method: 'S512' },
      'invalid_request',
      'Invalid parameter: code_challenge_method',
    ],
    [{ code_challenge: 'short' }, 'invalid_request', 'Invalid parameter: code_challenge'],
    [{ code_challenge: `${CHALLENGE}+` }, 'invalid_request', 'Invalid parameter: code_challenge'],
    [{ claims: 'no json' }, 'invalid_request', 'Invalid parameter: claims'],
    [
      { claims: JSON.stringify({ id_token: { acr: { essential: true, values: ['gold', '2'] } } }) },
      'unmet_authentication_requirements',
    ],
    [{ id_token_hint: 'x.y.z' }, 'invalid_request', 'Invalid parameter: id_token_hint'],
    [{ prompt: 'none' }, 'login_required'],
    [{ prompt: 'none login' }, 'login_required'],
  ];
  for (const [parameters, error, description] of cases)
    it(`sends ${error} for ${JSON.stringify(parameters)}`, async () => {
      const answer = clientAnswer(await ask(parameters));
      assert.deepEqual(answer, {
        error,
        ...(description === undefined ? {} : { error_description: description }),
        state: 'state-1',
        iss: 'https://id.example.test/realms/acme',
      });
    });

  it('sends an error for a repeated parameter', async () => {
    const url = `/realms/acme/protocol/openid-connect/auth?client_id=web&response_type=code&scope=openid&scope=email&redirect_uri=${encodeURIComponent(CALLBACK)}`;
    const answer = clientAnswer(await new Browser(world, realm).send('GET', url));
    assert.equal(answer['error_description'], 'duplicated parameter');
    assert.ok(!('state' in answer), 'no state where none was sent');
  });

  it('sends errors in the requested response mode, or in the fragment if a request for tokens names no mode', async () => {
    assert.match(redirectOf(await ask({ response_type: 'token' })).hash, /error=unauthorized_client/);
    const none = { prompt: 'none' };
    assert.match(redirectOf(await ask({ ...none, response_mode: 'fragment' })).hash, /login_required/);
    const form = await ask({ ...none, response_mode: 'form_post' });
    assert.equal(form.show, 'form-post');
    assert.equal(clientAnswer(form)['error'], 'login_required');
  });
});

describe('the login form of the authorization endpoint (OpenID Connect Core §3.1.2.1)', () => {
  it('shows the login form for GET and POST, with and without nonce and scope, and ignores unknown parameters', async () => {
    for (const method of ['GET', 'POST'] as const) pageOf(await ask({}, method), 'login');
    const acr = (values: string[]) => JSON.stringify({ id_token: { acr: { essential: true, values } } });
    for (const parameters of [
      { claims: acr(['gold', '1']) },
      { claims: JSON.stringify({ id_token: { acr: { values: ['gold'] } } }) },
      { scope: undefined },
      { foo: 'bar', display: 'popup', claims_locales: 'se', acr_values: '1 2', prompt: 'nonsense' },
      { state: undefined, nonce: '' },
      { ui_locales: 'se' },
    ])
      pageOf(await ask(parameters), 'login');
  });

  it('shows the login form for every max_age that is a number of seconds', async () => {
    for (const max_age of ['0', '2147483647', '99999999999']) pageOf(await ask({ max_age }), 'login');
  });

  it('accepts a request without redirect_uri if the client has only one URI and the scope does not contain openid', async () => {
    pageOf(await ask({ redirect_uri: undefined, scope: undefined }), 'login');
    const two = { client_id: 'two', redirect_uri: undefined, scope: undefined };
    assert.equal(errorOf(await ask(two)), '400 invalidParameterMessage');
  });

  it('fills in the login_hint as the user name', async () => {
    const page = pageOf(await ask({ login_hint: 'carol@example.test' }), 'login');
    assert.equal(page.username, 'carol@example.test');
  });

  it('sets a cookie that binds the login to the browser', async () => {
    const browser = new Browser(world, realm);
    const [cookie, ...others] = (await browser.authorize()).cookies;
    assert.deepEqual(others, []);
    assert.equal(cookie?.name, 'AUTH_SESSION_ID');
    assert.equal(cookie?.httpOnly, true);
    assert.equal(Buffer.from(cookie!.value, 'base64url').length, 32);
    assert.deepEqual((await browser.authorize()).cookies, []);
  });

  it('shows the login form in the chosen, requested or accepted language if the realm supports it', async () => {
    const kept = { internationalizationEnabled: true, supportedLocales: ['en', 'de'], defaultLocale: 'de' };
    const { realm: own } = await realmWithLogin(world, 'languages', { kept });
    const localeOf = async (parameters: Record<string, string>, acceptLanguage?: string) => {
      const more = acceptLanguage === undefined ? {} : { acceptLanguage };
      const answer = await new Browser(world, own, more).authorize(parameters);
      return answer.show === 'page' ? answer.frame.locale : undefined;
    };
    assert.equal(await localeOf({}), 'de');
    assert.equal(await localeOf({ ui_locales: 'se en-GB' }), 'en');
    assert.equal(await localeOf({}, 'fr;q=0.9, en-US;q=0.5, de;q=0.1'), 'en');
    assert.equal(await localeOf({ kc_locale: 'de', ui_locales: 'en' }, 'en'), 'de');
    assert.equal(await localeOf({ kc_locale: '../x' }, 'en;q=x'), 'en');
    assert.equal(await localeOf({ ui_locales: 'en', client_id: 'nobody' }), 'en', 'an error page too');
    const plain = await new Browser(world, realm, { acceptLanguage: 'de' }).authorize({});
    assert.equal(plain.show === 'page' && plain.frame.locale, 'en', 'internationalization is off');
    assert.equal(messageOf(plain), undefined);
  });

  it('keeps a language that the user chose on the page for the rest of the login and for the next login', async () => {
    const kept = { internationalizationEnabled: true, supportedLocales: ['en', 'de'] };
    const { realm: own } = await realmWithLogin(world, 'chosen', { kept });
    const browser = new Browser(world, own);
    const form = await browser.authorize();
    assert.ok(form.show === 'page');
    assert.equal(form.frame.locale, 'en');
    const german = form.frame.languages.find(({ locale }) => locale === 'de')!;
    const again = await browser.send('GET', german.url);
    assert.equal(again.show === 'page' && again.frame.locale, 'de');
    assert.deepEqual(browser.cookies.get('KEYCLOAK_LOCALE'), ['de']);
    const wrong = await browser.logIn(again, 'alice', { password: 'wrong' });
    assert.equal(wrong.show === 'page' && wrong.frame.locale, 'de');
  });
});
