import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { startService } from '../../src/service/index.ts';
import { describeOnEachDatabase, type FaultPlatform, listSetNames, runProgram } from './each-database.ts';

type Fault = (response: ServerResponse, body: Buffer) => void;

/** What the service returns for a realm instead of its representation. */
const FAULTS: Readonly<Record<string, Fault>> = {
  'status 401': (response) => response.writeHead(401).end(),
  'status 403': (response) => response.writeHead(403).end('{"error":"HTTP 403 Forbidden"}'),
  'status 404': (response) => response.writeHead(404).end('{"error":"Realm not found."}'),
  'status 500': (response) => response.writeHead(500).end('{"error":"unknown_error"}'),
  'an HTML page': (response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html><title>Sign in</title></html>'),
  'half a document': (response, body) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(body.subarray(0, body.length / 2)),
  'an empty document': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(),
  'an empty object': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  'another realm': (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"realm":"other"}'),
  'a closed connection': (response) => void response.socket?.destroy(),
};

/** Starts a proxy in front of the service that returns a fault for each realm. */
async function startFaultyProxy(
  t: TestContext,
  address: string,
): Promise<{ url: string; fault: { now: Fault } }> {
  const fault = { now: FAULTS['status 500']! };
  const target = new URL(address);
  const proxy = createServer((incoming, outgoing) => {
    const { method, url = '/', headers } = incoming;
    const onward = request(
      { host: target.hostname, port: target.port, method, path: url, headers },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const body = Buffer.concat(chunks);
          if (method === 'GET' && /^\/admin\/realms\/[^/?]+(\?|$)/.test(url))
            return fault.now(outgoing, body);
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(body);
        });
      },
    );
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, fault };
}

/** Checks that every realm file of every set is complete. */
async function checkRealmFiles(platform: FaultPlatform, when: string): Promise<void> {
  for (const name of await listSetNames(platform.root)) {
    const files = (await readdir(join(platform.root, name))).filter((file) => file.startsWith('realm-'));
    for (const file of files) {
      const realm = JSON.parse(await readFile(join(platform.root, name, file), 'utf8')) as Record<
        string,
        unknown
      >;
      assert.equal(`realm-${realm['realm']}.json`, file, when);
      assert.ok(Object.keys(realm).length > 20, when);
    }
  }
}

describeOnEachDatabase('a service that answers wrongly', ({ kind, fresh }) => {
  it(`never writes a realm file that is empty or incomplete, whatever the service returns (${kind})`, async (t) => {
    const platform = await fresh(t);
    const service = await startService(await platform.load());
    t.after(() => service.close());
    const { url, fault } = await startFaultyProxy(t, service.address);
    const outcomes: Record<string, number | null> = {};
    for (const [what, now] of Object.entries(FAULTS)) {
      fault.now = now;
      const before = (await listSetNames(platform.root)).length;
      const { code, stderr } = await runProgram(platform.dir, ['backup', '--base-url', url]);
      outcomes[what] = code;
      const added = (await listSetNames(platform.root)).length - before;
      // A realm that is not found was removed meanwhile, and a rejected administrator leads to the snapshot.
      const isAccepted = code === 0 || code === 3;
      assert.equal(added, isAccepted ? 1 : 0, `${what}: ${code} ${stderr}`);
      if (what === 'status 404') assert.match(stderr, /the realm master was removed during the backup/);
      else if (!isAccepted) assert.match(stderr, /^error IDKIT_/m, what);
      await checkRealmFiles(platform, what);
    }
    assert.notEqual(outcomes['half a document'], 0);
    assert.notEqual(outcomes['an HTML page'], 0);
    t.diagnostic(`injected ${Object.keys(FAULTS).length} faults`);
  });

  it(`reports a missing .env as an error or a finding, and never writes an empty env.gpg (${kind})`, async (t) => {
    const platform = await fresh(t);
    const secret = (await platform.load()).masterKey!.reveal();
    await rm(join(platform.dir, '.env'));
    const before = await listSetNames(platform.root);
    const { code, stderr } = await runProgram(platform.dir, ['backup'], { IDKIT_MASTER_KEY: secret });
    assert.notEqual(code, 0, stderr);
    const added = (await listSetNames(platform.root)).filter((name) => !before.includes(name));
    for (const name of added) assert.ok(!(await readdir(join(platform.root, name))).includes('env.gpg'));
  });
});
