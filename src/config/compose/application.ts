/** The content of config/application/server.mjs, a minimal sample application that checks access tokens. */
export const APPLICATION = `// An application that the platform's login protects, for Node.js 20 or newer, without packages.
//   GET /health  {"status":"UP"} while it is healthy
//   GET /api     200 with an access token of the issuer, otherwise 401
// "idkit smoke" checks both (applications in idkit.yaml). The package idkit/resource-server needs less code for this.
import { createPublicKey, verify } from 'node:crypto';
import { createServer } from 'node:http';

const { ISSUER, KEYS } = process.env;
let keys = [];

async function findKey(kid) {
  const known = keys.find((key) => key.kid === kid);
  if (known) return known;
  const answer = await fetch(KEYS, { signal: AbortSignal.timeout(5000) });
  keys = (await answer.json()).keys;
  return keys.find((key) => key.kid === kid);
}

async function readToken(token) {
  const [head, body, signature] = token.split('.');
  const { alg, kid } = JSON.parse(Buffer.from(head, 'base64url'));
  const claims = JSON.parse(Buffer.from(body, 'base64url'));
  const jwk = alg === 'RS256' ? await findKey(kid) : undefined;
  if (!jwk) throw new Error('no key');
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const signed = Buffer.from(\`\${head}.\${body}\`);
  if (!verify('sha256', signed, key, Buffer.from(signature, 'base64url'))) throw new Error('bad signature');
  if (claims.iss !== ISSUER || claims.exp * 1000 <= Date.now() || claims.typ !== 'Bearer') throw new Error('bad claims');
  return claims;
}

const server = createServer(async (request, response) => {
  const answer = (status, value, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };
  if (request.url === '/health') return answer(200, { status: 'UP' });
  if (request.url !== '/api') return answer(404, { error: 'not_found' });
  try {
    const claims = await readToken(/^Bearer (.+)$/i.exec(request.headers.authorization ?? '')[1]);
    answer(200, { hello: claims.preferred_username ?? claims.sub });
  } catch {
    answer(401, { error: 'invalid_token' }, { 'www-authenticate': 'Bearer realm="master"' });
  }
});
server.listen(3000);
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => server.close(() => process.exit(0)));
`;
