import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openScrubber } from '../../../src/procedures/doctor/scrub.ts';

test('removes a secret in the form in which a log, an address, JSON or a header contains it', () => {
  const secret = fc.string({ minLength: 6, unit: 'grapheme-ascii' }).filter((text) => text.trim() === text);
  fc.assert(
    fc.property(secret, (value) => {
      const scrub = openScrubber([value]);
      const forms = [
        value,
        JSON.stringify({ v: value }),
        JSON.stringify({ v: JSON.stringify({ v: value }) }),
        `/path?x=${encodeURIComponent(value)}&y=1`,
        new URLSearchParams({ x: value }).toString(),
        Buffer.from(value).toString('base64'),
        Buffer.from(value).toString('base64url'),
        Buffer.from(value).toString('hex'),
      ];
      for (const form of forms) {
        const clean = scrub(`a ${form} b`);
        assert.ok(clean.includes('[secret]'), form);
        // A secret that consists of the surrounding text remains, because it is not the secret.
        if (
          !'a [secret] b /path?x=[secret]&y=1 {"v":"[secret]"} {"v":"{\\"v\\":\\"[secret]\\"}"} x='.includes(
            value,
          )
        )
          assert.ok(!clean.includes(value), form);
      }
    }),
    { numRuns: 300 },
  );
});

test('removes what looks like a secret: tokens, passwords in addresses, keys and fields', () => {
  const scrub = openScrubber([]);
  const token = `eyJhbGciOiJSUzI1NiJ9.${'a'.repeat(40)}.${'b'.repeat(40)}`;
  const cases: Record<string, string> = {
    [`token is ${token}.`]: 'token is [secret].',
    'authorization: Bearer abcdef123456': 'authorization: Bearer [secret]',
    'postgres://idkit:hunter22@db/idkit': 'postgres://idkit:[secret]@db/idkit',
    'GET /auth?client_id=x&code=abc.def.ghi&state=1234': 'GET /auth?client_id=x&code=[secret]&state=[secret]',
    '{"client_secret":"s3cr3t","name":"x"}': '{"client_secret":"[secret]","name":"x"}',
    'password=hunter22 user=me': 'password=[secret] user=me',
    'PGPASSWORD: hunter22': 'PGPASSWORD: [secret]',
    '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nnext': '[secret]\nnext',
    '{"name":"IDKIT_MASTER_KEY","value":"[secret]","source":".env"}':
      '{"name":"IDKIT_MASTER_KEY","value":"[secret]","source":".env"}',
    '{"password":"correct horse, battery","name":"x"}': '{"password":"[secret]","name":"x"}',
    '{"password":"a\\"b c","name":"x"}': '{"password":"[secret]","name":"x"}',
    '{"body":"{\\"password\\":\\"a b,c\\",\\"name\\":\\"x\\"}"}':
      '{"body":"{\\"password\\":\\"[secret]\\",\\"name\\":\\"x\\"}"}',
    "POSTGRES_PASSWORD: 'correct horse'\nnext": "POSTGRES_PASSWORD: '[secret]'\nnext",
    'DB_PASSWORD=ab,cd;ef)gh\nnext': 'DB_PASSWORD=[secret]\nnext',
    '(token=abc, realm=x)': '(token=[secret], realm=x)',
    'user[password]=abc&x=1': 'user[password]=[secret]&x=1',
    'start --db-password hunter22 --verbose': 'start --db-password [secret] --verbose',
    'command: ["start", "--db-password", "hunter22", "--verbose"]':
      'command: ["start", "--db-password", "[secret]", "--verbose"]',
    'cookie: AUTH_SESSION_ID=abc.def; KEYCLOAK_LOCALE=de': 'cookie: [secret]',
    '"secretData":"{\\"value\\":\\"x y\\"}","type":"password"': '"secretData":"[secret]","type":"password"',
    'GET /x?device_code=abc&y=1': 'GET /x?device_code=[secret]&y=1',
    '"secret": null, "token": true': '"secret": null, "token": true',
    '"password":"","secret":"","name":"x"': '"password":"","secret":"","name":"x"',
    'realm master: 3 users': 'realm master: 3 users',
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(scrub(text), expected);
});

test('replaces a short secret only as a word, so that the text stays readable', () => {
  const scrub = openScrubber(['abc']);
  assert.equal(scrub('abc abcd x=abc'), '[secret] abcd x=[secret]');
});
