import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderRefusal, WIRE_ERRORS } from '../../../src/http/responses/wire-errors.ts';
import { Refusal, type RefusalCase } from '../../../src/protocol/refusal.ts';

const cases = Object.keys(WIRE_ERRORS) as RefusalCase[];

describe('responses to refusals', () => {
  it('the table has a status, an error and a source for every refusal', () => {
    for (const name of cases) {
      const row = WIRE_ERRORS[name];
      assert.ok(row.status >= 200 && row.status < 600, name);
      assert.notEqual(row.source, '', name);
      assert.ok(row.error !== '' || row.shape === 'bearer', name);
    }
  });

  it('the body contains only error and error_description, in this order (RFC 6749 §5.2)', () => {
    const rendered = renderRefusal(new Refusal('user-credentials-wrong'));
    assert.equal(rendered?.status, 400);
    assert.equal(
      JSON.stringify(rendered?.body),
      '{"error":"invalid_grant","error_description":"Invalid user credentials"}',
    );
    assert.deepEqual(rendered?.headers, {});
  });

  it('omits error_description if Keycloak omits it', () => {
    assert.deepEqual(renderRefusal(new Refusal('invalid-origin'))?.body, { error: 'Invalid origin' });
    assert.deepEqual(renderRefusal(new Refusal('realm-not-found'))?.body, { error: 'Realm does not exist' });
  });

  it('the response never contains the refusal’s detail, which is only for the log', () => {
    for (const name of cases) {
      const rendered = renderRefusal(new Refusal(name, { detail: 'for-logs-only' }));
      assert.ok(!JSON.stringify(rendered).includes('for-logs-only'), name);
    }
  });

  it('pages of the origin that a refusal allows can read the response', () => {
    const { headers } = renderRefusal(new Refusal('invalid-scope', { allowOrigin: 'https://a.test' }))!;
    assert.equal(headers['access-control-allow-origin'], 'https://a.test');
    assert.equal(headers['access-control-allow-credentials'], 'true');
    assert.equal(headers['access-control-expose-headers'], 'Access-Control-Allow-Methods');
  });

  it('reports user info errors in WWW-Authenticate, with an empty body (RFC 6750 §3)', () => {
    const rendered = renderRefusal(
      new Refusal('userinfo-invalid-token', { realm: 'r', description: 'User disabled' }),
    )!;
    assert.equal(rendered.body, '');
    assert.equal(
      rendered.headers['www-authenticate'],
      'Bearer realm="r", error="invalid_token", error_description="User disabled"',
    );
    const bare = renderRefusal(new Refusal('userinfo-missing-token', { realm: 'r' }))!;
    assert.equal(bare.headers['www-authenticate'], 'Bearer realm="r"');
  });

  it('escapes the realm name in WWW-Authenticate', () => {
    const { headers } = renderRefusal(
      new Refusal('userinfo-missing-token', { realm: 'a"b\\c\r\nSet-Cookie: x=é' }),
    )!;
    assert.equal(headers['www-authenticate'], 'Bearer realm="a\\"b\\\\c??Set-Cookie: x=?"');
  });

  it('does not render errors that are not refusals', () => {
    assert.equal(renderRefusal(new Error('a bug')), undefined);
    assert.equal(renderRefusal('text'), undefined);
  });
});
