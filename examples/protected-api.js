// A protected API with role checks: the client `orders-api` of examples/realm.json has the roles `read` and `cancel`.
//
//   node examples/protected-api.js

import { fastify } from 'fastify';
import { fastifyBearer, getCaller, openResourceServer } from 'idkit/resource-server';

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'example', PORT = '4000' } = process.env;
/** The pages that may call from a browser. */
const { APP_ORIGIN = 'http://localhost:3000' } = process.env;

const api = openResourceServer({ issuer: `${BASE_URL}/realms/${REALM}`, audience: 'orders-api' });
const may = (role) => fastifyBearer(api, { clientRoles: { 'orders-api': [role] } });
const orders = new Map([
  ['1', { id: '1', what: 'a lamp' }],
  ['2', { id: '2', what: 'two chairs' }],
]);

const server = fastify();
// A browser's preflight request has no token, so this hook runs before the checks.
server.addHook('onRequest', async (request, reply) => {
  reply.header('access-control-allow-origin', APP_ORIGIN).header('vary', 'origin');
  if (request.method !== 'OPTIONS') return;
  reply.header('access-control-allow-headers', 'authorization');
  return reply.header('access-control-allow-methods', 'GET, DELETE').code(204).send();
});
server.options('/*', async () => {});
server.get('/orders', { onRequest: may('read') }, async (request) => ({
  for: getCaller(request).username,
  orders: [...orders.values()],
}));
server.delete('/orders/:id', { onRequest: may('cancel') }, async (request, reply) => {
  return reply.code(orders.delete(request.params.id) ? 204 : 404).send();
});

console.log(`protected API on ${await server.listen({ port: Number(PORT), host: '127.0.0.1' })}`);
