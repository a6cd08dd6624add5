import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createLocalJWKSet, decodeProtectedHeader, exportJWK, type JSONWebKeySet, jwtVerify } from 'jose';
import { form, startTestService } from '../../http/service.ts';
import { type Platform, startPlatform } from './platform.ts';
import { askForTokens, exchange, jsonOf, tokensOf, userInfo } from './token-client.ts';
import { answerOf, codeOf, isLoginPage, UserAgent } from './user-agent.ts';

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.stop());

const agent = () => new UserAgent(platform);
type Document = Readonly<Record<string, unknown>>;
const discovery = async (issuer: string) =>
  (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as Document;

/** Returns the members of the discovery document that are URLs, which it recognizes by their names. */
function addresses(document: Document): readonly (readonly [string, string])[] {
  return Object.entries(document).filter((entry): entry is [string, string] =>
    /_(endpoint|uri|iframe)$|^issuer$/.test(entry[0]),
  );
}

describe('requirements of every profile', () => {
  test('the issuer is the discovery URL without its suffix, and all endpoints use https (Discovery 3, 4.3)', async () => {
    const { issuer } = platform;
    const document = await discovery(issuer);
    assert.equal(document['issuer'], issuer);
    assert.match(issuer, /^https:\/\/127\.0\.0\.1:\d+\/realms\/conformance$/);
    assert.deepEqual(
      addresses(document).map(([name]) => name),
      [
        'issuer',
        'authorization_endpoint',
        'token_endpoint',
        'introspection_endpoint',
        'userinfo_endpoint',
        'end_session_endpoint',
        'jwks_uri',
        'check_session_iframe',
        'revocation_endpoint',
      ],
    );
    for (const [name, url] of addresses(document))
      assert.ok(String(url).startsWith(issuer), `${name}: ${url}`);
  });

  test('behind a proxy, the issuer and all endpoints start with the public URL, including its port (Discovery 3)', async () => {
    const baseUrl = 'https://id.example.test:8443';
    const service = await startTestService({ flags: { baseUrl } });
    try {
      const document = await discovery(`${service.address}/realms/master`);
      assert.ok(addresses(document).length > 1);
      for (const [name, url] of addresses(document))
        assert.ok(url.startsWith(`${baseUrl}/realms/master`), `${name}: ${url}`);
    } finally {
      await service.stop();
    }
  });

  test('every published key is public and in base64url, has a unique kid, and matches its x5c (Core 10.1, RFC 7517 4.5)', async () => {
    const { keys } = platform.keys;
    assert.equal(new Set(keys.map(({ kid }) => kid)).size, keys.length);
    for (const key of keys) {
      assert.ok(key.kid);
      assert.match(key.kty ?? '', /^(RSA|EC|OKP)$/);
      for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth']) assert.ok(!(secret in key), secret);
      for (const part of [key.n, key.e, key.x, key.y])
        if (part !== undefined) assert.match(part, /^[A-Za-z0-9_-]+$/);
      for (const der of key['x5c'] ?? []) {
        const { publicKey, raw } = new X509Certificate(Buffer.from(der, 'base64'));
        const { n, e } = await exportJWK(publicKey);
        assert.deepEqual([n, e], [key.n, key.e]);
        assert.equal(createHash('sha256').update(raw).digest('base64url'), key['x5t#S256']);
      }
    }
  });

  test('publishes the signing key of each algorithm before the first token (Core 10.1)', async () => {
    const { protocol, one } = platform;
    const tokens = await tokensOf(platform, one, await agent().logInAt(one));
    const kids = platform.keys.keys.map(({ kid }) => kid);
    assert.ok(kids.includes(decodeProtectedHeader(tokens['id_token']!).kid));
    for (const alg of ['ES256', 'PS256', 'EdDSA']) {
      const client = await platform.addClient(`signed-by-${alg}`, {
        attributes: { 'id.token.signed.response.alg': alg, 'access.token.signed.response.alg': alg },
      });
      const published = (await (await fetch(`${protocol}/certs`)).json()) as JSONWebKeySet;
      const signed = await tokensOf(platform, client, await agent().logInAt(client));
      for (const token of [signed['id_token']!, signed['access_token']!]) {
        const { protectedHeader } = await jwtVerify(token, createLocalJWKSet(published));
        assert.equal(protectedHeader.alg, alg);
      }
    }
  });

  test('token responses are JSON with no-store; errors have the status 400, or 401 if the client fails to authenticate (RFC 6749 5.1, 5.2)', async () => {
    const { one, protocol } = platform;
    const good = await exchange(platform, one, await agent().logInAt(one));
    assert.equal(good.status, 200);
    assert.match(good.json.token_type, /^bearer$/i);
    const bad = { grant_type: 'authorization_code', code: 'x', redirect_uri: one.redirectUri };
    const post = async (fields: Record<string, string>) =>
      jsonOf(await fetch(`${protocol}/token`, form(fields)));
    const credentials = { client_id: one.clientId, client_secret: one.secret };
    const refused: readonly (readonly [number, string, Awaited<ReturnType<typeof post>>])[] = [
      [400, 'invalid_grant', await askForTokens(platform, one, bad)],
      [400, 'invalid_request', await post(credentials)],
      [400, 'unsupported_grant_type', await post({ ...credentials, grant_type: 'magic' })],
      [400, 'invalid_request', await post({ ...credentials, grant_type: 'refresh_token' })],
      [401, 'invalid_client', await post(bad)],
      [401, 'unauthorized_client', await post({ ...bad, ...credentials, client_secret: 'wrong' })],
    ];
    for (const [status, error, answer] of refused)
      assert.deepEqual([answer.status, answer.json.error], [status, error]);
    for (const { headers } of [good, ...refused.map(([, , answer]) => answer)]) {
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('pragma'), 'no-cache');
    }
  });

  test('an authorization response has only code, iss, session_state and the unchanged state (Core 3.1.2.5, RFC 9207 2)', async () => {
    const { one, issuer } = platform;
    const state = `${'aZ09-._~'.repeat(16)}`;
    assert.equal(state.length, 128);
    const browser = agent();
    const { fields, to } = answerOf(await browser.logIn(await browser.authorize(one, { state })));
    assert.equal(to, one.redirectUri);
    assert.deepEqual(Object.keys(fields).sort(), ['code', 'iss', 'session_state', 'state']);
    assert.deepEqual([fields['state'], fields['iss']], [state, issuer]);
    const error = answerOf(await agent().authorize(one, { state, scope: 'openid nothing' }));
    assert.deepEqual(Object.keys(error.fields).sort(), ['error', 'error_description', 'iss', 'state']);
    assert.deepEqual([error.fields['state'], error.fields['iss']], [state, issuer]);
  });

  test('accepts unknown parameters, display, ui_locales, claims_locales and login_hint (Core 3.1.2.1)', async () => {
    const odd: Readonly<Record<string, string>>[] = [
      { extra: 'foobar', 'x[y]': '1' },
      { display: 'page' },
      { display: 'popup' },
      { ui_locales: 'se' },
      { claims_locales: 'se' },
      { login_hint: 'nobody@example.test' },
      { acr_values: 'unheard-of' },
    ];
    for (const parameters of odd) {
      const browser = agent();
      const page = await browser.authorize(platform.one, parameters);
      assert.ok(isLoginPage(page), JSON.stringify(parameters));
      codeOf(await browser.logIn(page));
    }
  });

  test('a code contains at least 128 random bits (RFC 6749 10.10)', async () => {
    const browser = agent();
    await browser.logInAt(platform.one);
    const seen = new Set<string>();
    for (let i = 0; i < 20; i++) {
      const { code = '' } = codeOf(await browser.authorize(platform.one));
      const [random = ''] = code.split('.');
      assert.match(random, /^[A-Za-z0-9_-]{22,}$/);
      seen.add(random);
    }
    assert.equal(seen.size, 20);
    // The character at each position varies, unlike in a counter or a timestamp.
    const texts = [...seen];
    for (let place = 0; place < 22; place++)
      assert.ok(new Set(texts.map((text) => text[place])).size > 1, `place ${place} never changes`);
  });

  test('an ID token has the required claims with the right types, and only claims that were requested (Core 2, 5.4)', async () => {
    const { one, issuer } = platform;
    const before = Math.floor(Date.now() / 1000);
    const tokens = await tokensOf(platform, one, await agent().logInAt(one, { nonce: 'n-0S6_WzA2Mj' }));
    const claims = await platform.verifyIdToken(one, tokens['id_token']);
    const { iss, aud, exp, iat, sub, nonce, at_hash, acr, auth_time, jti, azp, sid, ...others } = claims;
    assert.deepEqual(others, {});
    assert.deepEqual([iss, aud, azp, nonce], [issuer, one.clientId, one.clientId, 'n-0S6_WzA2Mj']);
    const half = createHash('sha256').update(tokens['access_token']!).digest().subarray(0, 16);
    assert.equal(at_hash, half.toString('base64url'));
    assert.ok(Number.isInteger(iat) && iat! >= before && exp! > iat!);
    assert.ok(Number.isInteger(auth_time) && (auth_time as number) >= before - 1);
    for (const text of [sub, acr, jti, sid]) assert.ok(typeof text === 'string' && text !== '');
    assert.equal((await userInfo(platform, tokens)).json.sub, sub);
  });

  test('a login persists between two requests of one browser, and does not apply to another browser (Core 3.1.2.3)', async () => {
    const { one, two } = platform;
    const [first, second] = [agent(), agent()];
    await first.logInAt(one);
    codeOf(await first.authorize(two));
    assert.ok(isLoginPage(await second.authorize(one)));
    await second.logInAt(one, {}, 'bob');
    const subjects = await Promise.all(
      [first, second].map(async (browser) => {
        const tokens = await tokensOf(platform, two, codeOf(await browser.authorize(two)));
        return (await platform.verifyIdToken(two, tokens['id_token'])).sub;
      }),
    );
    assert.notEqual(subjects[0], subjects[1]);
  });

  test('cookies over https are Secure and SameSite=None (Core 3.1.2.3)', async () => {
    const browser = agent();
    const page = await browser.jar.fetch(String(browser.authorizationUrl(platform.one)));
    const { headers } = answerOf(await browser.logIn(await browser.authorize(platform.one)));
    const lines = [...page.headers.getSetCookie(), ...headers.getSetCookie()];
    assert.ok(lines.length >= 3);
    for (const line of lines) assert.match(line, /; Secure; SameSite=None$/);
  });

  test('accepts 45 correct logins of one user from one address (Core 3.1.2.3)', async () => {
    for (let round = 0; round < 5; round++)
      await Promise.all(Array.from({ length: 9 }, () => agent().logInAt(platform.one)));
  });

  test('PKCE is optional; if a client uses it, the service checks the verifier and allows . and ~ in it (RFC 7636 4.1, 4.6)', async () => {
    const { one } = platform;
    const verifier = 'a.verifier~with-every_kind.of~letter-0123456789';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const s256 = { code_challenge: challenge, code_challenge_method: 'S256' };
    const plain = { code_challenge: verifier, code_challenge_method: 'plain' };
    for (const request of [s256, plain]) {
      const browser = agent();
      await tokensOf(platform, one, await browser.logInAt(one, request), { code_verifier: verifier });
      for (const wrong of [{}, { code_verifier: `${verifier}x` }]) {
        const answer = await exchange(platform, one, codeOf(await browser.authorize(one, request)), wrong);
        assert.deepEqual([answer.status, answer.json.error], [400, 'invalid_grant']);
      }
    }
  });
});
