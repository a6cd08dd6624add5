// A token for a backend: the client credentials grant (RFC 6749 §4.4). Plain Node.js; works with idkit and Keycloak 26.
//
//   BASE_URL=http://127.0.0.1:8080 CLIENT_ID=idkit-smoke CLIENT_SECRET=… node examples/service-token.js

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'master', CLIENT_ID, CLIENT_SECRET } = process.env;

const answer = await fetch(`${BASE_URL}/realms/${encodeURIComponent(REALM)}/protocol/openid-connect/token`, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: CLIENT_ID ?? '',
    client_secret: CLIENT_SECRET ?? '',
  }),
});
const tokens = await answer.json();
if (!answer.ok) throw new Error(`${answer.status} ${tokens.error}: ${tokens.error_description}`);

console.log(`${tokens.token_type} token for ${tokens.expires_in} s, scope "${tokens.scope}"`);
