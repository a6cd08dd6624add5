import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderRefusal, WIRE_ERRORS } from '../../../src/http/responses/wire-errors.ts';
import { Refusal, type RefusalCase } from '../../../src/protocol/refusal.ts';

const cases = Object.keys(WIRE_ERRORS) as RefusalCase[];

describe('responses to refusals', () => {
  it('have a status, an error and a source for every case', () => {
    for (const name of cases) {
      const row = WIRE_ERRORS[name];
      assert.ok(row.status >= 200 && row.status < 600, name);
      assert.notEqual(row.source, '', name);
      assert.ok(row.error !== '' || row.shape === 'bearer', name);
    }
  });

  it('have only error and error_description, in this order (RFC 6749 §5.2)', () => {
    const rendered = renderRefusal(new Refusal('user-credentials-wrong'));
    assert.equal(rendered?.status, 400);
    assert.equal(
      JSON.stringify(rendered?.body),
      '{"error":"invalid_grant","error_description":"Invalid user credentials"}',
    );
    assert.deepEqual(rendered?.headers, {});
  });

  it('leave out error_description if Keycloak does', () => {
    assert.deepEqual(renderRefusal(new Refusal('invalid-origin'))?.body, { error: 'Invalid origin' });
    assert.deepEqual(renderRefusal(new Refusal('realm-not-found'))?.body, { error: 'Realm does not exist' });
  });

  it('never contain the detail, which is for logs', () => {
    for (const name of cases) {
      const rendered = renderRefusal(new Refusal(name, { detail: 'for-logs-only' }));
      assert.ok(!JSON.stringify(rendered).includes('for-logs-only'), name);
    }
  });

  it('allow the origin to read the response', () => {
    const { headers } = renderRefusal(new Refusal('invalid-scope', { allowOrigin: 'https://a.test' }))!;
    assert.equal(headers['access-control-allow-origin'], 'https://a.test');
    assert.equal(headers['access-control-allow-credentials'], 'true');
    assert.equal(headers['access-control-expose-headers'], 'Access-Control-Allow-Methods');
  });

  it('report user info errors in WWW-Authenticate, with an empty body (RFC 6750 §3)', () => {
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

  it('escape the realm name in the header', () => {
    const { headers } = renderRefusal(
      new Refusal('userinfo-missing-token', { realm: 'a"b\\c\r\nSet-Cookie: x=é' }),
    )!;
    assert.equal(headers['www-authenticate'], 'Bearer realm="a\\"b\\\\c??Set-Cookie: x=?"');
  });

  it('are not rendered for errors that are not refusals', () => {
    assert.equal(renderRefusal(new Error('a bug')), undefined);
    assert.equal(renderRefusal('text'), undefined);
  });
});
