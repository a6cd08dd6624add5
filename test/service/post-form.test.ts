import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isLoopbackUrl, openPostForm } from '../../src/service/post-form.ts';

const form = { logout_token: 'x' };

test('never calls a private address, whatever its notation', async (t) => {
  let calls = 0;
  const server = createServer((_request, response) => {
    calls += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const post = openPostForm([]);
  const hosts = [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '127.1',
    '0',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ];
  const others = [
    '[::ffff:7f00:1]',
    '10.1.2.3',
    '169.254.169.254',
    '[fd00::1]',
    '[fe80::1]',
    '[fec0::1]',
    '[5f00::1]',
    '[3fff::1]',
  ];
  // IPv6 addresses that contain an IPv4 address: compatible, translated, NAT64, 6to4, Teredo.
  const tunnels = [
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
  ];
  for (const host of [...hosts, ...others, ...tunnels]) {
    const sent = await post(`http://${host}:${port}/`, form);
    assert.equal(sent.outcome, 'refused', `${host}: ${sent.detail}`);
  }
  assert.equal(calls, 0);
  assert.equal((await openPostForm(['127.0.0.1'])(`http://127.0.0.1:${port}/`, form)).outcome, 'delivered');
  assert.equal(
    (await openPostForm(['127.0.0.0/8', '::1'])(`http://localhost:${port}/`, form)).outcome,
    'delivered',
  );
  assert.equal(calls, 2);
});

test('refuses addresses that are not http or https URLs, and returns `later` if no service responds at the address', async () => {
  const post = openPostForm(['127.0.0.0/8']);
  for (const url of ['ftp://127.0.0.1/', 'javascript:alert(1)', 'no url', 'http://user:secret@127.0.0.1/'])
    assert.equal((await post(url, form)).outcome, 'refused', url);
  assert.equal((await post('http://127.0.0.1:1/', form)).outcome, 'later');
});

test('only a base URL on this machine counts as local', () => {
  for (const url of ['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080'])
    assert.ok(isLoopbackUrl(url), url);
  for (const url of ['https://login.example.org', 'http://127.0.0.1.example.org', 'http://10.0.0.1', ''])
    assert.ok(!isLoopbackUrl(url), url);
});

test('the result of a blocked call names the setting that allows it', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'idkit-authority-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'].concat([
      ...['-subj', '/CN=localhost', '-keyout', key, '-out', cert],
    ]),
    { stdio: 'ignore' },
  );
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) =>
    response.end(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost']) {
    const barred = await openPostForm([])(`https://${host}:${port}/`, form);
    assert.equal(barred.outcome, 'refused');
    assert.match(barred.detail, new RegExp(`${host} .*private address`));
    assert.match(barred.hint!, /outbound\.privateAddresses in idkit\.yaml/);
  }
  const untrusted = await openPostForm(['127.0.0.0/8', '::1'])(`https://localhost:${port}/`, form);
  assert.equal(untrusted.outcome, 'later');
  assert.match(untrusted.detail, /^self-signed certificate/);
  assert.match(untrusted.hint!, /NODE_EXTRA_CA_CERTS/);
});
