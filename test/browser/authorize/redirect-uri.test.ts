import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isSafeRedirect, matchesRedirects } from '../../../src/browser/index.ts';

const ROOT = 'https://id.example.test';
const matches = (registered: string, uri: string) => matchesRedirects([registered], uri, ROOT);

describe('redirect URIs (docs/keycloak/login.md#redirect-uris, RFC 9700 §4.1.3)', () => {
  it('compares a redirect URI byte for byte with a pattern without a wildcard', () => {
    const registered = 'https://web.example.test/cb?x=1';
    assert.ok(matches(registered, registered));
    for (const uri of [
      'https://web.example.test/cb',
      'https://web.example.test/cb?x=2',
      'https://web.example.test/cb?x=1&y=2',
      'https://WEB.example.test/cb?x=1',
      'http://web.example.test/cb?x=1',
      'https://web.example.test/cb/?x=1',
      'https://web.example.test:443/cb?x=1',
    ])
      assert.ok(!matches(registered, uri), uri);
  });

  it('accepts any suffix, even an empty one, if the pattern ends in a wildcard', () => {
    for (const uri of ['/app', '/app/', '/app/any/where', '/app/x?y=z', '/app/a.b..c'])
      assert.ok(matches('https://web.example.test/app/*', `https://web.example.test${uri}`), uri);
    for (const uri of ['/application', '/', '/ap', '/App/x'])
      assert.ok(!matches('https://web.example.test/app/*', `https://web.example.test${uri}`), uri);
  });

  it('requires the host and the path of the pattern, even if it has a wildcard', () => {
    const registered = 'https://web.example.test/app/*';
    for (const uri of [
      'https://web.example.test/app/../cb',
      'https://web.example.test/app/%2e%2e/cb',
      'https://web.example.test/app/%2E./cb',
      'https://web.example.test/app/%252e%252e/cb',
      'https://web.example.test/app/..%2fcb',
      'https://web.example.test/app/..;/cb',
      'https://web.example.test/app/..\\cb',
      'https://web.example.test/app/%5c../cb',
      'https://web.example.test/app/%zz',
      'https://web.example.test@evil.example.test/app/x',
      'https://evil.example.test/app/x',
    ])
      assert.ok(!matches(registered, uri), uri);
    assert.ok(!matches('https://web.example.test*', 'https://web.example.test.evil.test/'));
    assert.ok(!matches('https://web.example.test*', 'https://web.example.test@evil.test/'));
    assert.ok(matches('https://web.example.test*', 'https://web.example.test/x'));
    assert.ok(!matches('myapp:/*', 'myapp:/x'), 'no wildcard but for web addresses');
  });

  it('accepts every web address for the pattern *, and no URI for a pattern with a wildcard in its query', () => {
    assert.ok(matches('*', 'https://anything.example.test/cb'));
    assert.ok(!matches('*', 'myapp:/cb'));
    assert.ok(!matches('https://web.example.test/cb?x=*', 'https://web.example.test/cb?x=1'));
  });

  it('accepts any port on a loopback address (RFC 8252 §7.3)', () => {
    assert.ok(matches('http://127.0.0.1/cb', 'http://127.0.0.1:49152/cb'));
    assert.ok(matches('http://localhost/cb', 'http://localhost:8000/cb'));
    assert.ok(matches('http://127.0.0.1/*', 'http://127.0.0.1:49152/cb'));
    assert.ok(matches('http://127.0.0.1:*', 'http://127.0.0.1:49152/cb'));
    assert.ok(!matches('http://127.0.0.1/cb', 'http://127.0.0.1:49152/other'));
    assert.ok(!matches('http://127.0.0.1/cb', 'http://127.0.0.1:x@evil.test/cb'));
    assert.ok(!matches('http://127.0.0.1:*', 'http://127.0.0.1:1@evil.test/'));
    assert.ok(!matches('https://web.example.test/cb', 'https://web.example.test:8443/cb'));
  });

  it('resolves a relative redirect URI against the client’s root URL', () => {
    assert.ok(matches('/realms/acme/account/*', `${ROOT}/realms/acme/account/x`));
    assert.ok(!matches('/realms/acme/account/*', 'https://evil.test/realms/acme/account/x'));
  });

  it('rejects a URI that runs a script, has a fragment or could break a header, even if it is registered', () => {
    for (const uri of [
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'https://web.example.test/cb#x',
      'https://web.example.test/cb\r\nSet-Cookie: a=b',
      'https://web.example.test/ cb',
      'https://web.example.test/"x',
      'https://web.example.test/ä',
      'http://127.0.0.1:99999/cb',
      'https://%zz/cb',
      '//web.example.test/cb',
      '/cb',
      '',
    ]) {
      assert.ok(!matches(uri, uri), JSON.stringify(uri));
      assert.ok(!isSafeRedirect(uri), JSON.stringify(uri));
    }
    assert.ok(matches('com.example.app:/cb', 'com.example.app:/cb'));
  });
});
