import type { Client } from 'pg';
import { eventColumns, userColumns, userDocument } from './plan.ts';
import { uuidSql } from './sessions-postgres.ts';

/** Adds users to the realm `rs`, each with the password and the roles of the user `ada`. */
export async function seedUsers(client: Client, users: number): Promise<void> {
  const { first, last } = userColumns(users);
  const id = uuidSql(`'u' || i`);
  const numbers = `generate_series(0, ${users - 1}) AS i`;
  const ada = `(SELECT account.* FROM account JOIN realm ON realm.id = realm_id WHERE realm.name = 'rs' AND username = 'ada')`;
  await client.query(`INSERT INTO account
      (id, realm_id, username, email, first_name, last_name, enabled, email_verified, service_account_client, doc)
    SELECT ${id}, ada.realm_id, 'user' || i, 'user' || i || '@example.test', lower(${first}), lower(${last}),
      1, 1, NULL, ${userDocument(users)}
    FROM ${ada} AS ada, ${numbers}`);
  // The tables of version 0.1.0 do not have the username.
  const named = await client.query(
    `SELECT FROM pg_attribute WHERE attrelid = 'user_role'::regclass AND attname = 'username'`,
  );
  const [column, value] = named.rowCount === 0 ? ['', ''] : [', username', `, 'user' || i`];
  await client.query(`INSERT INTO user_role (user_id, role_id${column})
    SELECT ${id}, role_id${value} FROM user_role JOIN ${ada} AS ada ON ada.id = user_id, ${numbers}`);
  await client.query(`INSERT INTO credential (id, user_id, priority, secret_data, doc, sealed)
    SELECT ${uuidSql(`'c' || i`)}, ${id}, priority, secret_data, credential.doc, sealed
    FROM credential JOIN ${ada} AS ada ON ada.id = user_id, ${numbers}`);
  for (const table of ['account', 'user_role', 'credential']) await client.query(`ANALYZE ${table}`);
}

/** Adds events of the last 30 days to a realm. They are of the realm's seeded users. */
export async function seedEvents(
  client: Client,
  realm: string,
  events: number,
  users: number,
): Promise<void> {
  const { type, client: clientId, ip, time } = eventColumns(events);
  const document = (of: string) =>
    `'{"id":"' || md5('e' || i) || '","time":' || time || ',"type":"' || type || '","realmId":"' || realm_id || '","clientId":"' || client_id || '","userId":"' || user_id || '","sessionId":"' || ${of} || '","ipAddress":"' || ip_address || '","details":{"grant_type":"refresh_token","scope":"openid profile email","token_id":"' || md5('t' || i) || '"}}'`;
  await client.query(`INSERT INTO event (realm_id, time, type, client_id, user_id, ip_address, doc)
    SELECT realm_id, time, type, client_id, user_id, ip_address, ${document(`md5('s' || i)`)} FROM
      (SELECT i, realm.id AS realm_id, ${time} AS time, ${type} AS type, ${clientId} AS client_id,
        ${uuidSql(`'u' || (i % ${users})`)} AS user_id, ${ip} AS ip_address
       FROM realm, generate_series(0::bigint, ${events - 1}) AS i WHERE realm.name = '${realm}') AS made`);
  await client.query('ANALYZE event');
}
