// The protected API with Express.
//
//   node examples/api-express.js

import express from 'express';
import { expressBearer, getCaller, openResourceServer } from 'idkit/resource-server';

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'example', PORT = '4000' } = process.env;

const api = openResourceServer({ issuer: `${BASE_URL}/realms/${REALM}`, audience: 'orders-api' });
const mayRead = expressBearer(
  api,
  { clientRoles: { 'orders-api': ['read'] } },
  { onRefusal: ({ reason, message }, { path }) => console.warn(`${path}: ${reason}: ${message}`) },
);

const app = express();
app.get('/orders', mayRead, (request, response) => {
  response.json({ for: getCaller(request).username, orders: [{ id: '1', what: 'a lamp' }] });
});

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`protected API on http://127.0.0.1:${server.address().port}`);
});
