import { createServer } from 'node:http';
import type { TestContext } from 'node:test';
import Provider from 'oidc-provider';

/** An OpenID provider other than idkit, which rotates refresh tokens and accepts any name on its login page. */
export interface OtherProvider {
  issuer: string;
  /** Returns the number of refreshes so far. */
  refreshes(): number;
  faults(): readonly string[];
}

export async function startOtherProvider(t: TestContext, redirectUri: string): Promise<OtherProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'shop',
        token_endpoint_auth_method: 'none',
        application_type: 'native',
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    clientBasedCORS: () => true,
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    features: { rpInitiatedLogout: { enabled: true } },
    ttl: { AccessToken: 300, IdToken: 300 },
  });
  let refreshes = 0;
  const faults: string[] = [];
  provider.on('grant.success', (ctx) => {
    if (ctx.oidc.params?.['grant_type'] === 'refresh_token') refreshes += 1;
  });
  provider.on('grant.error', (_, error) => faults.push(`${error.message} ${error.error_detail ?? ''}`));
  server.on('request', provider.callback());
  return { issuer, refreshes: () => refreshes, faults: () => faults };
}
