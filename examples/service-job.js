// A machine-to-machine job: asks the protected API for orders, as the client `orders` itself. The token is cached and
// renewed 30 s before its end, and a 401 gets a new one.
//
//   CLIENT_SECRET=… node examples/service-job.js

import { openServiceTokens } from 'idkit/client';

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'example', API = 'http://127.0.0.1:4000' } = process.env;
const { CLIENT_ID = 'orders', CLIENT_SECRET } = process.env;

const tokens = openServiceTokens({
  issuer: `${BASE_URL}/realms/${REALM}`,
  clientId: CLIENT_ID,
  // Asked for at each renewal: where a secrets manager changes the secret, the next renewal has the new one.
  clientSecret: () => CLIENT_SECRET ?? '',
  apiOrigins: [new URL(API).origin],
});

const answer = await tokens.fetch(`${API}/orders`);
if (!answer.ok) throw new Error(`the API answers ${answer.status}`);
const { orders } = await answer.json();
console.log(`${orders.length} orders`);
