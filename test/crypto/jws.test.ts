import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPublicKey, createSecretKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { CompactSign, compactVerify } from 'jose';
import {
  constantTimeEqual,
  type JwsKey,
  SIGNATURE_ALGORITHMS,
  type SignatureAlgorithm,
  signJws,
  verifyJws,
} from '../../src/crypto/index.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pairs: Record<string, { privateKey: JwsKey['privateKey']; publicKey?: JwsKey['publicKey'] }> = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: generateKeyPairSync('ed25519'),
};

function keyFor(algorithm: SignatureAlgorithm, kid = `kid-${algorithm}`): JwsKey {
  if (algorithm.startsWith('HS')) {
    return { kid, algorithm, privateKey: createSecretKey(Buffer.alloc(64, algorithm)) };
  }
  const { privateKey, publicKey } = pairs[algorithm] ?? rsa;
  return { kid, algorithm, privateKey: privateKey!, publicKey: publicKey! };
}

for (const algorithm of SIGNATURE_ALGORITHMS) {
  test(`signs and verifies ${algorithm}, and another implementation agrees (RFC 7515)`, async () => {
    const key = keyFor(algorithm);
    const token = await signJws(key, { sub: 'ü', n: 1 });
    const judged = await compactVerify(token, key.publicKey ?? key.privateKey!);
    assert.deepEqual(judged.protectedHeader, { alg: algorithm, typ: 'JWT', kid: key.kid });
    assert.deepEqual(JSON.parse(Buffer.from(judged.payload).toString()), { sub: 'ü', n: 1 });
    const theirs = await new CompactSign(Buffer.from('{"sub":"x"}'))
      .setProtectedHeader({ alg: algorithm, kid: key.kid })
      .sign(key.privateKey!);
    assert.deepEqual(
      verifyJws(theirs, () => key),
      {
        outcome: 'valid',
        header: { alg: algorithm, kid: key.kid },
        payload: { sub: 'x' },
      },
    );
  });

  test(`rejects a changed header, payload or signature of ${algorithm}`, async () => {
    const key = keyFor(algorithm);
    const token = await signJws(key, { sub: 'x' });
    const parts = token.split('.');
    for (const part of [1, 2]) {
      const changed = [...parts];
      const bytes = Buffer.from(changed[part]!, 'base64url');
      bytes[2]! ^= 1;
      changed[part] = bytes.toString('base64url');
      const { outcome } = verifyJws(changed.join('.'), () => key);
      assert(outcome === 'bad signature' || outcome === 'malformed', outcome);
    }
    const other = Buffer.from(JSON.stringify({ alg: algorithm, typ: 'X', kid: key.kid })).toString(
      'base64url',
    );
    assert.equal(verifyJws([other, parts[1], parts[2]].join('.'), () => key).outcome, 'bad signature');
    assert.equal(verifyJws(`${parts[0]}.${parts[1]}.AAAA`, () => key).outcome, 'bad signature');
  });
}

/** The source of a program that signs many payloads in parallel and prints the tokens. */
const SIGN_MANY = `
  import { generateKeyPairSync } from 'node:crypto';
  import { availableParallelism } from 'node:os';
  import { signJws } from '${new URL('../../src/crypto/index.ts', import.meta.url)}';
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { kid: 'k', algorithm: 'RS256', ...pair };
  const tokens = await Promise.all(Array.from({ length: 100 }, (_, n) => signJws(key, { n })));
  const jwk = pair.publicKey.export({ format: 'jwk' });
  console.log(JSON.stringify({ cores: availableParallelism(), jwk, tokens }));`;

test('on a single core, each of many tokens that are signed in parallel gets its own signature', async () => {
  const core = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
  const program = [process.execPath, '--input-type=module', '-e', SIGN_MANY];
  const { cores, jwk, tokens } = JSON.parse(execFileSync('taskset', ['-c', core, ...program]).toString());
  assert.equal(cores, 1);
  assert.equal(tokens.length, 100);
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  for (const [n, token] of tokens.entries())
    assert.deepEqual(JSON.parse(Buffer.from((await compactVerify(token, key)).payload).toString()), { n });
});

test('a public key is never used as an HMAC secret (RFC 8725 §2.1)', async () => {
  const key = keyFor('RS256');
  const pem = key.publicKey!.export({ type: 'spki', format: 'pem' });
  const forged = await signJws(
    { kid: key.kid, algorithm: 'HS256', privateKey: createSecretKey(Buffer.from(pem)) },
    { sub: 'x' },
  );
  assert.equal(verifyJws(forged, () => key).outcome, 'wrong algorithm');
});

test('rejects a token with alg none or crit, or without kid', () => {
  const token = (header: object): string =>
    `${Buffer.from(JSON.stringify(header)).toString('base64url')}.e30.AAAA`;
  const key = keyFor('HS256');
  for (const header of [
    { alg: 'none', kid: 'k' },
    { alg: 'None', kid: 'k' },
    { alg: 'toString', kid: 'k' },
    { alg: 'HS256' },
    { alg: 'HS256', kid: 5 },
    { alg: 'HS256', kid: 'k', crit: ['exp'] },
    {},
  ]) {
    assert.equal(verifyJws(token(header), () => key).outcome, 'malformed', JSON.stringify(header));
  }
});

test('rejects another spelling of the same signature', async () => {
  const key = keyFor('ES256');
  const token = await signJws(key, { sub: 'x' });
  const last = token.at(-1)!;
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const respelt = token.slice(0, -1) + letters[letters.indexOf(last) ^ 1]!;
  assert.equal(verifyJws(respelt, () => key).outcome, 'bad signature');
  assert.equal(verifyJws(`${token}=`, () => key).outcome, 'malformed');
});

test('looks up the key by kid and alg, and reports an unknown key', async () => {
  const token = await signJws(keyFor('HS512'), { sub: 'x' });
  const asked: string[] = [];
  const result = verifyJws(token, (kid, alg) => {
    asked.push(kid, alg);
    return undefined;
  });
  assert.deepEqual(result, { outcome: 'unknown key' });
  assert.deepEqual(asked, ['kid-HS512', 'HS512']);
});

test('rejects signing with a key that has no private part, and the error does not contain the key', async () => {
  const { privateKey: _, ...rest } = keyFor('RS256');
  await assert.rejects(signJws(rest, {}), { code: 'IDKIT_BUG', message: 'RS256 key kid-RS256 cannot sign' });
});

test('verifying an arbitrary text returns a result and never throws', () => {
  const key = keyFor('HS256');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.base64String().map((one) => `${one}.${one}.${one}`),
      ),
      (text) => {
        assert.notEqual(verifyJws(text, () => key).outcome, 'valid');
      },
    ),
  );
  assert.equal(verifyJws('a.'.repeat(1_000_000), () => key).outcome, 'malformed');
});

test('compares two secrets completely, whatever their lengths', () => {
  assert(constantTimeEqual('secret', 'secret'));
  for (const other of ['', 'Secret', 'secret ', 'secre', 'secret\0'])
    assert(!constantTimeEqual('secret', other));
});
