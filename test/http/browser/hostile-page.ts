import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A page of an attacker, served at two origins other than the service's. */
export interface HostilePage {
  /** Origin on another port of the service's host. It is the same site, so browsers send the service's cookies. */
  sameSite: string;
  /** Origin of another site. */
  crossSite: string;
  /** Replaces the page that both origins serve. */
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

/** Returns a page with a form that submits itself. */
export function selfSending(action: string, fields: Readonly<Record<string, string>>): string {
  const quote = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${quote(name)}" value="${quote(value)}">`,
  );
  return `<form method="post" action="${quote(action)}">${inputs.join('')}</form><script>document.forms[0].submit()</script>`;
}
