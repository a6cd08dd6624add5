import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/core/index.ts';
import { selfSignedCertificate } from '../../../src/crypto/new-realm-keys.ts';
import { readTls } from '../../../src/http/index.ts';
import { makePlatform, startTestService } from '../service.ts';

const platform = makePlatform();
const certFile = join(platform.dir, 'cert.pem');
const keyFile = join(platform.dir, 'key.pem');
let cert = '';
before(async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const der = await selfSignedCertificate(privateKey, publicKey, 'localhost', systemClock);
  cert = `-----BEGIN CERTIFICATE-----\n${der.match(/.{1,64}/g)!.join('\n')}\n-----END CERTIFICATE-----\n`;
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
});
after(() => platform.remove());

test('serves https with --tls-cert and --tls-key, and its issuer is an https URL', async () => {
  const service = await startTestService({
    platform,
    flags: { 'listen.tlsCert': certFile, 'listen.tlsKey': keyFile },
  });
  try {
    assert.match(service.address, /^https:/);
    const text = await getText(`${service.address}/realms/master/.well-known/openid-configuration`);
    assert.equal((JSON.parse(text) as { issuer: string }).issuer, `${service.address}/realms/master`);
    assert.match(
      service.managementUrl!,
      /^https:/,
      'the management listener has the same certificate, as in Keycloak',
    );
    assert.match(await getText(`${service.managementUrl}/metrics`), /^process_start_time_seconds/m);
  } finally {
    await service.stop();
  }
});

/** Returns the text of a response. Fails if the server does not present the certificate `cert`. */
function getText(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { ca: cert, checkServerIdentity: () => undefined }, (answer) => {
      let body = '';
      answer.on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => resolve(body));
    }).on('error', reject);
  });
}

test('reports a defect of the certificate or key with its flag and file (IDKIT_SETTING)', async () => {
  const other = join(platform.dir, 'other.pem');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(other, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const text = join(platform.dir, 'text.pem');
  writeFileSync(text, 'no PEM');
  const cases: readonly [tlsCert: string | null, tlsKey: string | null, message: RegExp][] = [
    [certFile, null, /--tls-key is missing/],
    [null, keyFile, /--tls-cert is missing/],
    [join(platform.dir, 'absent'), keyFile, /--tls-cert .*absent does not exist/],
    [text, keyFile, /--tls-cert .*text\.pem is not a PEM certificate/],
    [certFile, text, /--tls-key .*text\.pem is not a PEM private key/],
    [certFile, other, /--tls-key .*other\.pem is not the key of/],
  ];
  for (const [tlsCert, tlsKey, message] of cases)
    await assert.rejects(readTls({ tlsCert, tlsKey }), { code: 'IDKIT_SETTING', message });
});
