import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type ExampleRealm, startExampleRealm } from '../../client/example-realm.ts';

/** Starts a web server of a client on a port of its own. It ends with the test. */
export async function listen(t: TestContext, listener?: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // The service's own site: Debian's chromium gives frames of other sites no cookies.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, server };
}

/** `idkit serve` with the example's users and these clients beside its own. */
export function serveClients(
  t: TestContext,
  clients: readonly Readonly<Record<string, unknown>>[],
): Promise<ExampleRealm> {
  return startExampleRealm(t, (text) => {
    const realm = JSON.parse(text) as {
      clients: unknown[];
      users: { clientRoles?: Readonly<Record<string, unknown>> }[];
    };
    // As users have it who were not imported with roles of their own: keycloak-js asks for their profile.
    const users = realm.users.map((user) => ({
      ...user,
      clientRoles: { ...user.clientRoles, account: ['view-profile'] },
    }));
    return JSON.stringify({ ...realm, users, clients: [...realm.clients, ...clients] });
  });
}

/** What every client here has: the code flow alone, and logout back to where it came from. */
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

/** As a confidential client keeps it. */
export const SECRET = 'a-secret-of-these-tests';
