// A machine-to-machine job: gets orders from the protected API as the client `orders`. The token is cached and renewed
// 30 s before it expires. After a 401 the library gets a new one.
//
//   CLIENT_SECRET=… node examples/service-job.js

import { openServiceTokens } from 'idkit/client';

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'example', API = 'http://127.0.0.1:4000' } = process.env;
const { CLIENT_ID = 'orders', CLIENT_SECRET } = process.env;

const tokens = openServiceTokens({
  issuer: `${BASE_URL}/realms/${REALM}`,
  clientId: CLIENT_ID,
  // Called at each renewal, so a secret that a secrets manager changes is used from the next renewal on.
  clientSecret: () => CLIENT_SECRET,
  apiOrigins: [new URL(API).origin],
});

const answer = await tokens.fetch(`${API}/orders`);
if (!answer.ok) throw new Error(`the API answers ${answer.status}`);
const { orders } = await answer.json();
console.log(`${orders.length} orders`);
