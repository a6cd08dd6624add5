import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '../../src/core/index.ts';
import { checkOtp, type OtpCredential, readOtpCredential } from '../../src/crypto/index.ts';

const ascii = '12345678901234567890';

function credential(data: object, secret: object | string): OtpCredential | undefined {
  const text = typeof secret === 'string' ? secret : JSON.stringify(secret);
  return readOtpCredential({
    credentialData: JSON.stringify(data),
    secrets: { '/secretData': new Secret(text) },
  });
}

test('computes the one-time passwords of RFC 6238 appendix B', () => {
  const seeds = {
    HmacSHA1: ascii,
    HmacSHA256: '12345678901234567890123456789012',
    HmacSHA512: '1234567890123456789012345678901234567890123456789012345678901234',
  };
  const rows = [
    [59, '94287082', '46119246', '90693936'],
    [1111111109, '07081804', '68084774', '25091201'],
    [20000000000, '65353130', '77737706', '47863826'],
  ] as const;
  for (const [time, ...codes] of rows) {
    Object.entries(seeds).forEach(([algorithm, value], index) => {
      const read = credential({ subType: 'totp', digits: 8, period: 30, algorithm }, { value })!;
      const verdict = checkOtp({ credential: read, code: codes[index]!, lookAhead: 0, now: time * 1000 });
      assert.deepEqual(verdict, { outcome: 'match', step: Math.floor(time / 30) });
    });
  }
});

test('accepts the counter codes of RFC 4226 appendix D within the look-ahead window', () => {
  const read = credential(
    { subType: 'hotp', digits: 6, counter: 3, algorithm: 'HmacSHA1' },
    { value: ascii },
  )!;
  const check = (code: string, lookAhead: number) => checkOtp({ credential: read, code, lookAhead, now: 0 });
  assert.deepEqual(check('969429', 0), { outcome: 'match', step: 3 });
  assert.deepEqual(check('254676', 2), { outcome: 'match', step: 5 });
  assert.deepEqual(check('254676', 1), { outcome: 'mismatch' });
  assert.deepEqual(check('359152', 5), { outcome: 'mismatch' }, 'a counter that is past');
});

test('accepts the code of the previous period, and no older code', () => {
  const read = credential({ subType: 'totp', digits: 8, period: 30 }, { value: ascii })!;
  const at = (now: number) => checkOtp({ credential: read, code: '94287082', lookAhead: 1, now: now * 1000 });
  assert.deepEqual(at(59), { outcome: 'match', step: 1 });
  assert.deepEqual(at(89), { outcome: 'match', step: 1 });
  assert.deepEqual(at(90), { outcome: 'mismatch' });
});

test('decodes the secret as base32 if the credential says so, and otherwise uses its UTF-8 bytes', () => {
  const data = { subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' };
  const base32 = credential(
    { ...data, secretEncoding: 'BASE32' },
    { value: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' },
  )!;
  assert.equal(base32.secret.toString(), ascii);
  assert.equal(credential(data, { value: 'GEZDGNBV' })!.secret.toString(), 'GEZDGNBV');
});

test('ignores a credential with unusable parameters', () => {
  const data = { subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' };
  assert.notEqual(credential(data, { value: ascii }), undefined);
  for (const change of [
    { digits: 0 },
    { digits: 99 },
    { period: 0 },
    { period: 'x' },
    { algorithm: 'MD5' },
    { subType: 'x' },
    { subType: 'hotp', counter: -1 },
  ]) {
    assert.equal(credential({ ...data, ...change }, { value: ascii }), undefined, JSON.stringify(change));
  }
  for (const secret of ['', '{}', '{"value":""}', '{"value":5}', 'null']) {
    assert.equal(credential(data, secret), undefined, secret);
  }
  assert.equal(credential({ ...data, secretEncoding: 'BASE32' }, { value: '01!' }), undefined);
});

test('rejects a code in the wrong format', () => {
  const read = credential({ subType: 'totp', digits: 8, period: 30 }, { value: ascii })!;
  for (const code of ['', ' 94287082', '94287082 ', '9428708', '942870820', '94287082\0']) {
    assert.equal(checkOtp({ credential: read, code, lookAhead: 1, now: 59_000 }).outcome, 'mismatch', code);
  }
});
