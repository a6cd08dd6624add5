import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Certificate } from './certificate.ts';

/** A request that the clients' web server received. */
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

/** The https server with the pages of all clients. */
export interface WebServer {
  origin: string;
  received: readonly Received[];
  /** Returns the requests to a path, the oldest first. */
  receivedAt(path: string): readonly Received[];
  /** Sets the handler for a path. All other paths return the same simple page. */
  serve(path: string, page: Page): void;
  close(): void;
}

/** Starts the server on a free port of 127.0.0.1. */
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
    // The origin differs from that of the service, but the site is the same. Debian's Chromium blocks the cookies of
    // frames from other sites.
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
