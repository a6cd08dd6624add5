import assert from 'node:assert/strict';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { Secret } from '../../src/core/index.ts';
import { openStore } from '../../src/store/open.ts';
import { makeCertificate } from '../conformance/oidc/certificate.ts';
import { makeDatabase, masterKey, runSql } from '../store/databases.ts';
import { newDirectory } from '../store/files.ts';
import { missingPostgres, ownerOfClusters, startPostgres } from '../store/postgres-server.ts';

const skip = missingPostgres() ?? false;

test('checks the server’s certificate according to sslmode', { skip }, async (t: TestContext) => {
  const server = await startPostgres({ after }, { settings: { listen_addresses: '127.0.0.1,127.0.0.2' } });
  const { url, name } = await makeDatabase(server);
  const directory = await newDirectory(t);
  const file = (base: string, text: string, mode: number): string => {
    const path = join(server.dir, base);
    writeFileSync(path, text, { mode });
    const owner = ownerOfClusters();
    if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
    return path;
  };
  const own = await makeCertificate();
  const cert = file('server.crt', own.cert, 0o644);
  const key = file('server.key', own.key, 0o600);
  const authority = join(directory, 'authority.crt');
  writeFileSync(authority, own.cert);
  const stranger = join(directory, 'stranger.crt');
  writeFileSync(stranger, (await makeCertificate()).cert);

  let opened = 0;
  const open = async (parameters: string, host = '127.0.0.1'): Promise<boolean> => {
    // Each store has its own application name, because the server may still list connections of the previous store.
    const applicationName = `tls test ${++opened}`;
    const password = new Secret(server.password);
    const at = `${url.replace('127.0.0.1', host)}?${parameters}`;
    const store = await openStore({
      postgres: { url: at, password, applicationName },
      masterKey,
    });
    const [row] = await runSql(
      server,
      `SELECT bool_and(ssl) AS ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = '${applicationName}'`,
      name,
    );
    await store.close();
    return row!['ssl'] as boolean;
  };
  const root = (path: string) => `sslrootcert=${encodeURIComponent(path)}`;

  assert.equal(await open('sslmode=prefer'), false);
  await assert.rejects(open('sslmode=require'), { code: 'IDKIT_UNREACHABLE', message: /TLS|SSL/ });
  for (const [setting, value] of Object.entries({ ssl_cert_file: cert, ssl_key_file: key, ssl: 'on' }))
    await runSql(server, `ALTER SYSTEM SET ${setting} = '${value}'`);
  await server.stop();
  await server.start();

  assert.equal(await open(''), true);
  assert.equal(await open('sslmode=disable'), false);
  assert.equal(await open('sslmode=require'), true);
  assert.equal(await open(`sslmode=verify-full&${root(authority)}`), true);
  assert.equal(await open(`sslmode=verify-full&${root(authority)}`, 'localhost'), true);
  const untrusted = { code: 'IDKIT_UNREACHABLE', message: /certificate/ };
  await assert.rejects(open('sslmode=verify-full'), untrusted);
  await assert.rejects(open(`sslmode=verify-ca&${root(stranger)}`), untrusted);
  await assert.rejects(open(`sslmode=require&${root(stranger)}`), untrusted);
  // 127.0.0.2 is this machine too, but the certificate does not contain this address.
  await assert.rejects(open(`sslmode=verify-full&${root(authority)}`, '127.0.0.2'), untrusted);
  assert.equal(await open(`sslmode=verify-ca&${root(authority)}`, '127.0.0.2'), true);
  await assert.rejects(open(`sslmode=verify-full&${root(join(directory, 'none'))}`), {
    code: 'IDKIT_SETTING',
  });
});
