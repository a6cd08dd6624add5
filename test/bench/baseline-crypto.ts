/**
 * Prints how many operations per second one core performs without a service. Arguments: `sign RS256|ES256 SECONDS` or
 * `argon2 SECONDS`.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { hashRawSync } from '@node-rs/argon2';

const [kind, ...rest] = process.argv.slice(2);
const seconds = Number(rest.at(-1));

function rate(once: () => void): number {
  once();
  const start = performance.now();
  let count = 0;
  while (performance.now() - start < seconds * 1000) {
    for (let index = 0; index < 8; index += 1) once();
    count += 8;
  }
  return (count * 1000) / (performance.now() - start);
}

function signer(): () => void {
  const data = randomBytes(900);
  if (rest[0] === 'ES256') {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return () => void sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  }
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return () => void sign('sha256', data, privateKey);
}

/** Returns a function that computes a hash with Keycloak's parameters (Argon2id, 7168 KiB, 5 passes). */
function hasher(): () => void {
  const salt = randomBytes(16);
  const options = {
    // The binding's numbers for Argon2id and for version 1.3 of Argon2. The enums of the binding cannot be imported,
    // because type stripping erases them.
    algorithm: 2,
    version: 1,
    memoryCost: 7168,
    timeCost: 5,
    parallelism: 1,
    outputLen: 32,
    salt,
  };
  return () => void hashRawSync('Correct-Horse-7', options);
}

console.log(JSON.stringify({ perSecond: rate(kind === 'argon2' ? hasher() : signer()) }));
