import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { initPlatform, loadSettings, type Settings } from '../../../src/config/index.ts';
import { makeDirectory } from '../platform.ts';

const OFF = ['database', 'realms', 'config', 'env', 'mirror', 'retention', 'verify', 'drill'];

/** Makes a platform whose schedule has only the given settings. They are lines of YAML below `schedule`. */
export async function makeScheduled(t: TestContext, lines: readonly string[]): Promise<Settings> {
  const dir = join(await makeDirectory(t, 'scheduled'), 'idkit');
  initPlatform(dir, { env: {} });
  const named = new Set(lines.map((line) => line.split(':')[0]));
  const off = OFF.filter((job) => !named.has(job)).map((job) => `${job}: "off"`);
  const yaml = ['schedule:', ...[...off, 'jitterSeconds: 0', ...lines].map((line) => `  ${line}`)].join('\n');
  await writeFile(join(dir, 'idkit.yaml'), `${yaml}\n`);
  return loadSettings({ dir, env: {} });
}

/** A request that a monitoring service received. */
export interface Ping {
  path: string;
  body: string;
}

/** Starts a monitoring service on this machine. It responds with `status`. */
export async function startMonitor(
  t: TestContext,
  status: (ping: Ping) => number = () => 200,
): Promise<{ url: string; pings: readonly Ping[] }> {
  const pings: Ping[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const ping = { path: `${request.method} ${request.url}`, body };
      pings.push(ping);
      response.writeHead(status(ping), { location: '/elsewhere' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pings };
}
