import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { adminApi } from '../administrator.ts';
import { login, type TestService } from '../service.ts';

/** A client whose page is at a different origin from the service. */
export interface RelyingParty {
  clientId: string;
  origin: string;
  redirectUri: string;
  /** The requests that the client's server received, in order. */
  requests: readonly { method: string; url: URL; body: string; headers: NodeJS.Dict<string | string[]> }[];
  /** Returns the URL of an authorization request of the client. */
  authorizationUrl(parameters?: Readonly<Record<string, string>>): string;
  close(): void;
}

/** Starts the server of a client and registers the client. */
export async function startRelyingParty(
  service: TestService,
  options: { realm?: string; client?: Readonly<Record<string, unknown>> } = {},
): Promise<RelyingParty> {
  const { realm = 'master', client = {} } = options;
  const requests: RelyingParty['requests'][number][] = [];
  const server: Server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const url = new URL(request.url!, 'http://127.0.0.1');
    requests.push({ method: request.method!, url, body, headers: request.headers });
    response
      .setHeader('content-type', 'text/html')
      .end('<!DOCTYPE html><title>client</title><h1>client</h1>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The client's pages have another origin but the same site, because Debian's Chromium blocks cookies in frames of
  // other sites.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redirectUri = `${origin}/cb`;
  const clientId = 'web';
  const { access_token } = await login(service);
  const made = await adminApi(service, access_token!)('POST', `/${realm}/clients`, {
    clientId,
    publicClient: true,
    redirectUris: [redirectUri],
    webOrigins: ['+'],
    ...client,
  });
  if (made.status !== 201) throw new Error(`client: ${made.status} ${JSON.stringify(made.json)}`);
  const base = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid' };
  return {
    clientId,
    origin,
    redirectUri,
    requests,
    authorizationUrl: (parameters = {}) =>
      `${service.address}/realms/${realm}/protocol/openid-connect/auth?${new URLSearchParams({ ...base, state: 's1', ...parameters })}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
