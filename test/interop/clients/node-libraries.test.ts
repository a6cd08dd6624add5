import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { CookieBrowser } from './cookie-browser.ts';
import { clientOf, SECRET, serveClients } from './served-clients.ts';

// These tests use the unmodified openid-client and oauth4webapi, with all checks of the libraries.

const ORIGIN = 'http://application.example.test';
const CALLBACK = `${ORIGIN}/cb`;
/** A secret with every character that form encoding changes and Basic authentication must restore (RFC 6749 §2.3.1). */
const ODD = { id: 'an:odd/+%&=client', secret: 'a:secret/+%&=with all of them' };

/** Returns the claim `at_hash` for an access token that is signed with RS256 (OpenID Connect Core §3.1.3.6). */
function accessTokenHash(token: string): string {
  return createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url');
}

/** Runs a code flow with PKCE, state, nonce and iss, then requests user info, refreshes and logs out. */
async function runOpenidClient(issuer: string, config: openid.Configuration): Promise<void> {
  const browser = new CookieBrowser(issuer);
  const verifier = openid.randomPKCECodeVerifier();
  const [state, nonce] = [openid.randomState(), openid.randomNonce()];
  const back = await browser.logIn(
    openid.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid email profile',
      state,
      nonce,
      max_age: '600',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }),
  );
  assert.equal(back.searchParams.get('iss'), issuer);
  const tokens = await openid.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    maxAge: 600,
    idTokenExpected: true,
  });
  const claims = tokens.claims()!;
  assert.equal(claims['at_hash'], accessTokenHash(tokens.access_token));
  const user = await openid.fetchUserInfo(config, tokens.access_token, claims.sub);
  assert.equal(user.preferred_username, 'alice');
  const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token!);
  assert.equal(renewed.claims()?.sub, claims.sub);
  assert.notEqual(renewed.refresh_token, tokens.refresh_token);

  const end = openid.buildEndSessionUrl(config, {
    id_token_hint: renewed.id_token!,
    post_logout_redirect_uri: `${ORIGIN}/out`,
    state: 'left',
  });
  assert.equal(String(await browser.open(end)), `${ORIGIN}/out?state=left`);
  await assert.rejects(openid.refreshTokenGrant(config, renewed.refresh_token!), { error: 'invalid_grant' });
  await assert.rejects(openid.fetchUserInfo(config, renewed.access_token, claims.sub));
}

async function runOauth4webapi(address: string, client: oauth.Client, auth: oauth.ClientAuth): Promise<void> {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(address);
  const service = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...insecure }),
  );
  const browser = new CookieBrowser(address);
  const verifier = oauth.generateRandomCodeVerifier();
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
  const start = new URL(service.authorization_endpoint!);
  start.search = String(
    new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid',
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }),
  );
  const answer = oauth.validateAuthResponse(service, client, await browser.logIn(start), state);
  assert.equal(service.authorization_response_iss_parameter_supported, true);

  const grant = await oauth.authorizationCodeGrantRequest(
    service,
    client,
    auth,
    answer,
    CALLBACK,
    verifier,
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(service, client, grant, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(service, grant, insecure);
  const claims = oauth.getValidatedIdTokenClaims(tokens)!;
  assert.equal(claims['at_hash'], accessTokenHash(tokens.access_token));
  const asked = await oauth.userInfoRequest(service, client, tokens.access_token, insecure);
  const user = await oauth.processUserInfoResponse(service, client, claims.sub, asked);
  assert.equal(user.sub, claims.sub);
  const renewal = await oauth.refreshTokenGrantRequest(
    service,
    client,
    auth,
    tokens.refresh_token!,
    insecure,
  );
  const renewed = await oauth.processRefreshTokenResponse(service, client, renewal);

  const end = new URL(service.end_session_endpoint!);
  end.search = String(
    new URLSearchParams({ id_token_hint: renewed.id_token!, post_logout_redirect_uri: `${ORIGIN}/out` }),
  );
  assert.equal(String(await browser.open(end)), `${ORIGIN}/out`);
  const late = await oauth.refreshTokenGrantRequest(service, client, auth, renewed.refresh_token!, insecure);
  await assert.rejects(oauth.processRefreshTokenResponse(service, client, late), { error: 'invalid_grant' });
}

test('client libraries of Node.js', async (t: TestContext) => {
  const { issuer } = await serveClients(t, [
    clientOf('public', ORIGIN, { publicClient: true }),
    clientOf('confidential', ORIGIN, { secret: SECRET }),
    clientOf(ODD.id, ORIGIN, { secret: ODD.secret }),
  ]);
  const discover = async (id: string, auth: openid.ClientAuth) => {
    const execute = [openid.allowInsecureRequests, openid.enableNonRepudiationChecks];
    return openid.discovery(new URL(issuer), id, undefined, auth, { execute });
  };

  await t.test('openid-client with a public client: code flow, userinfo, refresh and logout', async () => {
    await runOpenidClient(issuer, await discover('public', openid.None()));
  });

  await t.test('openid-client with client_secret_post: code flow, userinfo, refresh and logout', async () => {
    await runOpenidClient(issuer, await discover('confidential', openid.ClientSecretPost(SECRET)));
  });

  await t.test(
    'openid-client with client_secret_basic and :/+%&= in the id and secret: code flow, userinfo, refresh and logout',
    async () => {
      await runOpenidClient(issuer, await discover(ODD.id, openid.ClientSecretBasic(ODD.secret)));
    },
  );

  await t.test(
    'oauth4webapi with a public and a confidential client: code flow, userinfo, refresh and logout',
    async () => {
      await runOauth4webapi(issuer, { client_id: 'public' }, oauth.None());
      await runOauth4webapi(issuer, { client_id: 'confidential' }, oauth.ClientSecretBasic(SECRET));
    },
  );
});
