import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A page that wants what is not its own, of another origin than the service. */
export interface HostilePage {
  /** Another port of the service's own host: the same site, which gets its cookies. */
  sameSite: string;
  /** Another site. */
  crossSite: string;
  /** What it serves from now on. */
  serve(markup: string): void;
  close(): void;
}

export async function startHostilePage(): Promise<HostilePage> {
  let markup = '';
  const server = createServer((_request, response) => {
    response
      .setHeader('content-type', 'text/html;charset=utf-8')
      .end(`<!DOCTYPE html><title>hostile</title>${markup}`);
  }).listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    sameSite: `http://127.0.0.1:${port}/`,
    crossSite: `http://localhost:${port}/`,
    serve: (next) => {
      markup = next;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A form that sends itself as soon as it is loaded. */
export function selfSending(action: string, fields: Readonly<Record<string, string>>): string {
  const quote = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${quote(name)}" value="${quote(value)}">`,
  );
  return `<form method="post" action="${quote(action)}">${inputs.join('')}</form><script>document.forms[0].submit()</script>`;
}
