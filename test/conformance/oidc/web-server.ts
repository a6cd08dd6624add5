import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Certificate } from './certificate.ts';

/** A request to the server of a client. */
export interface Received {
  method: string;
  url: URL;
  type: string | undefined;
  body: URLSearchParams;
  /** Unix time in milliseconds. */
  at: number;
  /** The TLS protocol and cipher of the connection. */
  tls: { version: string | null; cipher: string };
}

type Page = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The https server of the clients. */
export interface WebServer {
  origin: string;
  received: readonly Received[];
  /** Requests to a path, oldest first. */
  receivedAt(path: string): readonly Received[];
  /** Sets the page of a path. Other paths have an empty page. */
  serve(path: string, page: Page): void;
  close(): void;
}

/** Starts a server on a free port of this machine. */
export async function startWebServer(certificate: Certificate, tls: ServerOptions = {}): Promise<WebServer> {
  const received: Received[] = [];
  const pages = new Map<string, Page>();
  const server = createServer({ ...certificate, ...tls }, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const socket = request.socket as TLSSocket;
    const url = new URL(request.url!, 'https://127.0.0.1');
    received.push({
      method: request.method!,
      url,
      type: request.headers['content-type'],
      body: new URLSearchParams(body),
      at: Date.now(),
      tls: { version: socket.getProtocol(), cipher: socket.getCipher().standardName },
    });
    response.setHeader('content-type', 'text/html');
    const page = pages.get(url.pathname);
    if (page === undefined) response.end('<!DOCTYPE html><title>client</title><h1>client</h1>');
    else page(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // It is another origin of the same site, because Debian's Chromium blocks the cookies of frames of other sites.
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    receivedAt: (path) => received.filter(({ url }) => url.pathname === path),
    serve: (path, page) => {
      pages.set(path, page);
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
