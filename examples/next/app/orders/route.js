// The protected API as a route of Next.js, app/orders/route.js.

import { getCaller, openResourceServer, webBearer } from 'idkit/resource-server';

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'example' } = process.env;

const api = openResourceServer({ issuer: `${BASE_URL}/realms/${REALM}`, audience: 'orders-api' });

export const GET = webBearer(api, { clientRoles: { 'orders-api': ['read'] } }, (request) =>
  Response.json({ for: getCaller(request).username, orders: [{ id: '1', what: 'a lamp' }] }),
);
