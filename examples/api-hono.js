// The protected API with Hono. `npm install hono @hono/node-server` installs what it needs.
//
//   node examples/api-hono.js

import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { getCaller, honoBearer, openResourceServer } from 'idkit/resource-server';

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'example', PORT = '4000' } = process.env;

const api = openResourceServer({ issuer: `${BASE_URL}/realms/${REALM}`, audience: 'orders-api' });

const app = new Hono();
app.use('/orders', honoBearer(api, { clientRoles: { 'orders-api': ['read'] } }));
app.get('/orders', (context) =>
  context.json({ for: getCaller(context.req.raw).username, orders: [{ id: '1', what: 'a lamp' }] }),
);

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) }, ({ port }) => {
  console.log(`protected API on http://127.0.0.1:${port}`);
});
