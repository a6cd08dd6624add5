import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { dumpOf, inPieces, never, startKeycloakServer } from '../platform/postgres/keycloak-server.ts';
import { missingPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

const CLIENTS = 200;

test('200 clients that keep reconnecting cannot prevent a swap, and each of them sees either the previous or the new state', {
  skip: missingPostgres() ?? false,
}, async (t) => {
  const server = await startKeycloakServer(t, { settings: { max_connections: '260' } });
  const database = server.open();
  const { sql } = await dumpOf(database);
  server.sql('keycloak', `UPDATE realm SET name = 'later' WHERE name = 'acme'`);
  await database.load(inPieces(sql), { id: 'x', masterKey: undefined, signal: never });
  await database.checkLoaded('x', undefined);

  const seen = new Set<string>();
  let storm = true;
  let attempts = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (storm) {
      const client = new Client({
        connectionString: server.url.replace('keycloak@', 'keycloak:Keycloak-Role-1@'),
        ssl: false,
      });
      // The swap interrupts the client, which connects again.
      client.on('error', () => undefined);
      attempts++;
      try {
        await client.connect();
        const { rows } = await client.query(
          "SELECT string_agg(name, ',' ORDER BY name) AS realms FROM realm",
        );
        seen.add(String(rows[0].realms));
        await client.query('SELECT pg_sleep(0.05)');
      } catch {
        await sleep(5);
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  });
  try {
    const all = () => seen.has('globex,initech,later,master') && attempts >= CLIENTS;
    await waitUntil('every client has connected and one has seen the live realms', all, {
      seen: () => [...seen],
    });
    await database.swap('x');
    const swapped = () => seen.has('acme,globex,initech,master');
    await waitUntil('a client has seen the realms of the other database', swapped, { seen: () => [...seen] });
    await database.swapBack('x');
    await database.swap('x');
  } finally {
    storm = false;
    await Promise.all(clients);
  }
  assert.deepEqual([...seen].sort(), ['acme,globex,initech,master', 'globex,initech,later,master']);
  await database.discard('x', { previous: true });
  assert.deepEqual(server.databases(), ['keycloak']);
});
