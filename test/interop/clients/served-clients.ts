import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type ExampleRealm, startExampleRealm } from '../../client/example-realm.ts';

/** Starts the web server of a client on a free port. The server stops when the test ends. */
export async function listen(t: TestContext, listener?: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // Use the same site as the service, because Debian's Chromium sends no cookies to frames of other sites.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, server };
}

/** Starts `idkit serve` with the realm of the examples and additional clients. */
export function serveClients(
  t: TestContext,
  clients: readonly Readonly<Record<string, unknown>>[],
): Promise<ExampleRealm> {
  return startExampleRealm(t, (text) => {
    const realm = JSON.parse(text) as {
      clients: unknown[];
      users: { clientRoles?: Readonly<Record<string, unknown>> }[];
    };
    // keycloak-js can load a user's profile only if the user has this role. The import does not add it.
    const users = realm.users.map((user) => ({
      ...user,
      clientRoles: { ...user.clientRoles, account: ['view-profile'] },
    }));
    return JSON.stringify({ ...realm, users, clients: [...realm.clients, ...clients] });
  });
}

/** Returns a client that allows only the code flow, and whose logout may return to the client. */
export function clientOf(clientId: string, origin: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    clientId,
    enabled: true,
    standardFlowEnabled: true,
    redirectUris: [`${origin}/*`],
    webOrigins: ['+'],
    attributes: { 'post.logout.redirect.uris': '+' },
    ...more,
  };
}

/** The secret of the confidential clients. */
export const SECRET = 'a-secret-of-these-tests';
