import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/core/index.ts';
import { selfSignedCertificate } from '../../src/crypto/new-realm-keys.ts';
import { freePort } from '../free-port.ts';
import { makePlace, runIdkit, startIdkit } from './idkit.ts';

const PASSPHRASE = { IDKIT_BACKUP_PASSPHRASE: 'journey-Passphrase-1' };

/** Creates the files of a certificate for a name that is not the address of this machine. */
async function writeCertificate(cwd: string, name: string): Promise<{ cert: string; key: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const der = await selfSignedCertificate(privateKey, publicKey, name, systemClock);
  const files = { cert: join(cwd, `${name}.pem`), key: join(cwd, `${name}.key`) };
  const lines = der.match(/.{1,64}/g)?.join('\n');
  writeFileSync(files.cert, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`);
  writeFileSync(files.key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  return files;
}

test('idkit finds, checks and backs up a service with its own certificate and a management port', async (t) => {
  const cwd = makePlace(t);
  const { cert, key } = await writeCertificate(cwd, 'login.example.test');
  const management = await freePort();
  const service = await startIdkit(t, {
    cwd,
    argv: ['--tls-cert', cert, '--tls-key', key, '--management-port', String(management)],
  });
  assert.match(service.address, /^https:/);
  const smoke = await service.run(['smoke', '--json']);
  assert.equal(smoke.code, 0, smoke.stderr + smoke.stdout);
  const backup = await service.run(['backup', '--json'], { env: PASSPHRASE });
  assert.equal(backup.code, 0, backup.stderr);
  const realms = await service.run(['admin', 'realm', 'list', '--json']);
  assert.equal(realms.code, 0, realms.stderr);
});

test('the service that --base-url names must have a certificate that the system trusts', async (t) => {
  const cwd = makePlace(t);
  const { cert, key } = await writeCertificate(cwd, 'login.example.test');
  const service = await startIdkit(t, { cwd });
  const impostor = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, (_, answer) =>
    answer.end('{}'),
  );
  await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve));
  t.after(() => impostor.close());
  const { port } = impostor.address() as AddressInfo;
  const refused = await service.run(['smoke', '--base-url', `https://127.0.0.1:${port}`, '--json']);
  assert.equal(refused.code, 15, refused.stdout);
});

test('behind a trusted proxy, the forwarded address and scheme decide whether a request needs https', async (t) => {
  const cwd = makePlace(t);
  assert.equal((await runIdkit(['init'], { cwd })).code, 0);
  appendFileSync(join(cwd, 'idkit', 'idkit.yaml'), '\ntrustedProxies: [127.0.0.1]\n');
  const service = await startIdkit(t, { cwd });
  const errorOver = async (proto: string) => {
    const answer = await fetch(`${service.address}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      headers: { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': proto },
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'nobody' }),
    });
    return ((await answer.json()) as { error_description: string }).error_description;
  };
  assert.equal(await errorOver('http'), 'HTTPS required');
  assert.match(await errorOver('https'), /^Invalid client/);
});
