import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { type AdminApi, administrator } from '../../http/administrator.ts';
import { makePlatform, startTestService } from '../../http/service.ts';
import { isInstalled, type SpawnedService, spawnService } from '../../program.ts';
import { type Certificate, makeTrustedCertificate } from './certificate.ts';
import { ALICE, BOB, clientOf, type TestClient } from './realm.ts';
import { startWebServer, type WebServer } from './web-server.ts';

export const REALM = 'conformance';

/** A service over https with one realm, and the web server that its clients share. */
export interface Platform {
  service: SpawnedService;
  admin: AdminApi;
  certificate: Certificate;
  issuer: string;
  /** `{issuer}/protocol/openid-connect`. */
  protocol: string;
  web: WebServer;
  /** The two static clients of a certification run. Both have lean ID tokens and can use the parameter `claims`. */
  one: TestClient;
  two: TestClient;
  /** The published keys, fetched before the first token is issued. */
  keys: JSONWebKeySet;
  /** Creates another client. */
  addClient(clientId: string, changes?: Readonly<Record<string, unknown>>): Promise<TestClient>;
  /** Verifies an ID token with `keys` (Core §3.1.3.7), and returns its claims. */
  verifyIdToken(client: TestClient, token: string | undefined): Promise<JWTPayload>;
  stop(): Promise<void>;
}

/** Starts the web server, and a service with a certificate, as `idkit serve --tls-cert --tls-key` does. */
export async function startPlatform(): Promise<Platform> {
  const certificate = await makeTrustedCertificate();
  const directory = makePlatform();
  const [certFile, keyFile] = [join(directory.dir, 'cert.pem'), join(directory.dir, 'key.pem')];
  writeFileSync(certFile, certificate.cert);
  writeFileSync(keyFile, certificate.key, { mode: 0o600 });
  const service = isInstalled
    ? await spawnService(directory.dir, ['--tls-cert', certFile, '--tls-key', keyFile], {
        NODE_EXTRA_CA_CERTS: certFile,
      })
    : await startTestService({
        platform: directory,
        flags: { 'listen.tlsCert': certFile, 'listen.tlsKey': keyFile },
      });
  const web = await startWebServer(certificate);
  const admin = await administrator(service);
  const one = clientOf('one', web.origin, { secret: 'one: a+secret/of=letters&ü%' });
  const two = clientOf('two', web.origin);
  const made = await admin('POST', '', {
    realm: REALM,
    enabled: true,
    // The attribute `locale` becomes a claim only if this setting is true.
    internationalizationEnabled: true,
    supportedLocales: ['en', 'de'],
    defaultLocale: 'en',
    users: [ALICE, BOB],
    clients: [one.representation, two.representation],
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  const issuer = `${service.address}/realms/${REALM}`;
  const protocol = `${issuer}/protocol/openid-connect`;
  const keys = (await (await fetch(`${protocol}/certs`)).json()) as JSONWebKeySet;
  return {
    service,
    admin,
    certificate,
    issuer,
    protocol,
    web,
    one,
    two,
    keys,
    addClient: async (clientId, changes = {}) => {
      const client = clientOf(clientId, web.origin, changes);
      const added = await admin('POST', `/${REALM}/clients`, client.representation);
      assert.equal(added.status, 201, JSON.stringify(added.json));
      return client;
    },
    verifyIdToken: async (client, token) => {
      assert.ok(token, 'no ID token');
      return (await jwtVerify(token, createLocalJWKSet(keys), { issuer, audience: client.clientId })).payload;
    },
    stop: async () => {
      web.close();
      await service.stop();
      directory.remove();
    },
  };
}
