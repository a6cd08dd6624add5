// The protected API without a framework.
//
//   node examples/api-node-http.js

import { createServer } from 'node:http';
import { getCaller, httpBearer, openResourceServer } from 'idkit/resource-server';

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'example', PORT = '4000' } = process.env;

const api = openResourceServer({ issuer: `${BASE_URL}/realms/${REALM}`, audience: 'orders-api' });
const listOrders = httpBearer(api, { clientRoles: { 'orders-api': ['read'] } }, (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ for: getCaller(request).username, orders: [{ id: '1', what: 'a lamp' }] }));
});

const server = createServer((request, response) => {
  if (request.method !== 'GET' || request.url !== '/orders') return response.writeHead(404).end();
  listOrders(request, response).catch((error) => {
    console.error(error);
    response.destroy();
  });
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`protected API on http://127.0.0.1:${server.address().port}`);
});
