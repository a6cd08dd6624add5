/**
 * Runs node-oidc-provider with its state in memory, for comparison. It serves client credentials with a JWT
 * access token (resource indicators) and refresh with rotation. Prints its port and refresh tokens for the load.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'bench' };
const store = new Map<string, Record<string, unknown>>();

/** Implements the adapter contract of node-oidc-provider on one Map. */
class MemoryAdapter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
  #key(id: string) {
    return `${this.name}:${id}`;
  }
  async upsert(id: string, payload: Record<string, unknown>) {
    store.set(this.#key(id), payload);
  }
  async find(id: string) {
    return store.get(this.#key(id));
  }
  async consume(id: string) {
    const found = store.get(this.#key(id));
    if (found) found['consumed'] = Math.floor(Date.now() / 1000);
  }
  async destroy(id: string) {
    store.delete(this.#key(id));
  }
  async revokeByGrantId() {}
  async findByUid() {
    return undefined;
  }
  async findByUserCode() {
    return undefined;
  }
}

const resource = 'https://api.example.test';
const provider = new Provider('http://127.0.0.1:0', {
  adapter: MemoryAdapter as never,
  jwks: { keys: [key as never] },
  clients: [
    {
      client_id: 'job',
      client_secret: 'job-secret',
      grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
      redirect_uris: ['https://app.example.test/cb'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
  rotateRefreshToken: () => true,
  findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  scopes: ['read', 'offline_access', 'openid'],
  ttl: { AccessToken: 300, ClientCredentials: 300, RefreshToken: 1800, Grant: 36_000 },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'read',
        audience: resource,
        accessTokenTTL: 300,
        accessTokenFormat: 'jwt' as const,
        jwt: { sign: { alg: 'RS256' as const } },
      }),
    },
  },
} as never);

async function refreshTokens(count: number): Promise<string[]> {
  const client = await provider.Client.find('job');
  const tokens: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const grant = new provider.Grant({ accountId: `user-${index}`, clientId: 'job' } as never);
    grant.addResourceScope(resource, 'read');
    const grantId = await grant.save();
    const token = new provider.RefreshToken({
      accountId: `user-${index}`,
      client,
      grantId,
      gty: 'authorization_code',
      scope: 'read',
      resource,
      rotations: 0,
      iiat: Math.floor(Date.now() / 1000),
    } as never);
    tokens.push(await token.save());
  }
  return tokens;
}

const server = createServer(provider.callback());
server.listen(0, '127.0.0.1', async () => {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  console.log(JSON.stringify({ port, tokens: await refreshTokens(Number(process.argv[2] ?? 200)) }));
});
process.on('SIGTERM', () => process.exit(0));
