import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { makeCertificate } from './certificate.ts';
import { isLoggedIn, logInAt, logoutUrl } from './logout-client.ts';
import { type Platform, startPlatform } from './platform.ts';
import type { TestClient } from './realm.ts';
import { tokensOf } from './token-client.ts';
import { answerOf, codeOf } from './user-agent.ts';
import { startWebServer } from './web-server.ts';

let platform: Platform;
let goodbye: string;
before(async () => {
  platform = await startPlatform();
  goodbye = `${platform.web.origin}/goodbye`;
});
after(() => platform.stop());

const notifiedAt = (clientId: string, url: string): Promise<TestClient> =>
  platform.addClient(clientId, {
    attributes: {
      'backchannel.logout.url': url,
      'backchannel.logout.session.required': 'true',
      'post.logout.redirect.uris': goodbye,
    },
  });

/** Logs in, checks that the ID token has a sid, and logs out. Returns the claims of the ID token. */
async function logOut(client: TestClient) {
  const user = await logInAt(platform, client);
  const request = { id_token_hint: user.idToken, post_logout_redirect_uri: goodbye, state: 's' };
  const { to, fields } = answerOf(await user.agent.open(logoutUrl(platform, request)));
  assert.deepEqual([to, fields], [goodbye, { state: 's' }]);
  assert.equal(await isLoggedIn(user, client), false);
  return decodeJwt(user.idToken);
}

describe('requirements of the profile Back-Channel Logout OP', { concurrency: 6 }, () => {
  test('discovery announces back-channel logout with session ids (Back-Channel Logout 2.1)', async () => {
    const answer = await fetch(`${platform.issuer}/.well-known/openid-configuration`);
    const document = (await answer.json()) as Record<string, unknown>;
    assert.equal(document['backchannel_logout_supported'], true);
    assert.equal(document['backchannel_logout_session_supported'], true);
  });

  test('posts only a logout_token to the client, before the browser continues (Back-Channel Logout 2.5)', async () => {
    const client = await notifiedAt('notified', `${platform.web.origin}/notified`);
    const idToken = await logOut(client);
    const [call, ...others] = platform.web.receivedAt('/notified');
    assert.equal(others.length, 0);
    assert.deepEqual([call!.method, call!.type], ['POST', 'application/x-www-form-urlencoded']);
    assert.deepEqual([...call!.body.keys()], ['logout_token']);

    const { payload, protectedHeader } = await jwtVerify(
      call!.body.get('logout_token')!,
      createLocalJWKSet(platform.keys),
      { issuer: platform.issuer, audience: client.clientId, typ: 'logout+jwt' },
    );
    assert.equal(protectedHeader.alg, 'RS256');
    const { iat, exp, jti, ...claims } = payload;
    assert.ok(Math.abs(iat! - Date.now() / 1000) < 30);
    assert.equal(exp! - iat!, 120);
    assert.ok(jti);
    assert.ok(idToken['sid']);
    assert.deepEqual(claims, {
      iss: platform.issuer,
      aud: client.clientId,
      sub: idToken.sub,
      sid: idToken['sid'],
      typ: 'Logout',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
  });

  test('notifies every client of the session with a separate token (Back-Channel Logout 2.3)', async () => {
    const [one, two] = await Promise.all([
      notifiedAt('notified-1', `${platform.web.origin}/notified-1`),
      notifiedAt('notified-2', `${platform.web.origin}/notified-2`),
    ]);
    const user = await logInAt(platform, one);
    await tokensOf(platform, two, codeOf(await user.agent.authorize(two, { prompt: 'none' })));
    await user.agent.open(logoutUrl(platform, { id_token_hint: user.idToken }));
    const tokens = [one, two].map(({ clientId }) => {
      const [call] = platform.web.receivedAt(`/${clientId}`);
      return decodeJwt(call!.body.get('logout_token')!);
    });
    assert.deepEqual(
      tokens.map(({ aud }) => aud),
      [one.clientId, two.clientId],
    );
    assert.notEqual(tokens[0]!.jti, tokens[1]!.jti);
  });

  test('the call to the client uses TLS 1.3, or 1.2 with ephemeral keys and authenticated encryption (RFC 9325 4.2)', async () => {
    await logOut(await notifiedAt('by-1.3', `${platform.web.origin}/by-1.3`));
    assert.equal(platform.web.receivedAt('/by-1.3')[0]!.tls.version, 'TLSv1.3');
    const older = await startWebServer(platform.certificate, { maxVersion: 'TLSv1.2' });
    try {
      await logOut(await notifiedAt('by-1.2', `${older.origin}/by-1.2`));
      const { version, cipher } = older.receivedAt('/by-1.2')[0]!.tls;
      assert.equal(version, 'TLSv1.2');
      assert.match(cipher, /^TLS_ECDHE_RSA_WITH_(AES_(128|256)_GCM|CHACHA20_POLY1305)_SHA(256|384)$/);
    } finally {
      older.close();
    }
  });

  test('a client that never responds does not block the browser (Back-Channel Logout 2.5)', async () => {
    const silent = await startWebServer(platform.certificate);
    silent.serve('/silent', () => undefined);
    try {
      const client = await notifiedAt('silent', `${silent.origin}/silent`);
      await logOut(client);
      assert.ok(silent.receivedAt('/silent').length >= 1);
    } finally {
      silent.close();
    }
  });

  test("rejects a client's untrusted certificate, while the logout continues (Back-Channel Logout 2.5)", async () => {
    const stranger = await startWebServer(await makeCertificate());
    try {
      await logOut(await notifiedAt('stranger', `${stranger.origin}/stranger`));
      assert.equal(stranger.received.length, 0);
    } finally {
      stranger.close();
    }
  });
});
