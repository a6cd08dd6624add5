import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readClientCredentials } from '../../../src/protocol/client/authenticate.ts';

const read = (authorization: string | undefined, form: Record<string, string> = {}) =>
  readClientCredentials({
    form: new Map(Object.entries(form)),
    ...(authorization === undefined ? {} : { authorization }),
  });
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('client credentials in a request (docs/keycloak/clients.md#client-authentication)', () => {
  it('reads HTTP Basic with both parts form-urlencoded (RFC 6749 §2.3.1)', () => {
    assert.deepEqual(read(basic('a+client%3A1:se%3Acr+et%2B%25%C3%A9')), {
      clientId: 'a client:1',
      secret: 'se:cr et+%é',
    });
  });

  it('accepts the scheme in upper or lower case, and an empty secret', () => {
    assert.deepEqual(read(basic('web:').replace('Basic', 'bAsIc')), { clientId: 'web', secret: '' });
  });

  it('prefers the credentials of the form, even if they are wrong', () => {
    assert.deepEqual(read(basic('api:right'), { client_secret: 'wrong' }), {
      clientId: 'api',
      secret: 'wrong',
    });
    assert.equal(read(basic('api:right'), { client_id: 'web' }).clientId, 'web');
  });

  it('ignores a header with invalid base64, without a colon, with another scheme or with broken escapes', () => {
    for (const header of [
      'Basic %%%',
      basic('api').replace(/=+$/, ''),
      'Bearer abc',
      'Basic',
      basic('api:%zz'),
    ])
      assert.deepEqual(read(header), {}, header);
  });

  it('splits the client id from the secret at the first colon', () => {
    assert.deepEqual(read(basic('api:a:b')), { clientId: 'api', secret: 'a:b' });
  });
});
