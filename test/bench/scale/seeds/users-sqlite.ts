import type { DatabaseSync } from 'node:sqlite';
import { eventColumns, userColumns, userDocument, uuidOf } from './plan.ts';

/** Registers the SQL function `uuid_of(TEXT)`, which is `uuidOf` of plan.ts. */
function registerIds(database: DatabaseSync): void {
  database.function('uuid_of', { deterministic: true }, (name) => uuidOf(String(name)));
}

const numbers = (count: number) =>
  `(WITH RECURSIVE number (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i + 1 < ${count}) SELECT i FROM number)`;

/** Adds users to the realm `rs`, each with the password and the roles of the user `ada`. */
export function seedUsers(database: DatabaseSync, users: number): void {
  registerIds(database);
  const { first, last } = userColumns(users);
  const ada = `(SELECT account.* FROM account JOIN realm ON realm.id = realm_id WHERE realm.name = 'rs' AND username = 'ada')`;
  // The tables of version 0.1.0 do not have the username.
  const named = database
    .prepare(`SELECT 1 FROM pragma_table_info('user_role') WHERE name = 'username'`)
    .get();
  const [column, value] = named === undefined ? ['', ''] : [', username', `, 'user' || i`];
  // A table without row ids fills many times faster in the order of its key.
  database.exec(`CREATE TEMP TABLE made AS SELECT uuid_of('u' || i) AS id, i FROM ${numbers(users)} ORDER BY 1;
    BEGIN;
    INSERT INTO account
      (id, realm_id, username, email, first_name, last_name, enabled, email_verified, service_account_client, doc)
    SELECT made.id, ada.realm_id, 'user' || i, 'user' || i || '@example.test', lower(${first}), lower(${last}),
      1, 1, NULL, ${userDocument(users)}
    FROM made CROSS JOIN ${ada} AS ada ORDER BY made.id;
    INSERT INTO user_role (user_id, role_id${column})
    SELECT made.id, role_id${value} FROM made CROSS JOIN (SELECT role_id FROM user_role JOIN ${ada} AS ada ON ada.id = user_id)
    ORDER BY made.id;
    INSERT INTO credential (id, user_id, priority, secret_data, doc, sealed)
    SELECT uuid_of('c' || i) AS credential_id, made.id, priority, secret_data, known.doc, sealed
    FROM made CROSS JOIN
      (SELECT priority, secret_data, credential.doc, sealed FROM credential JOIN ${ada} AS ada ON ada.id = user_id) AS known
    ORDER BY credential_id;
    COMMIT;
    DROP TABLE made;
    ANALYZE`);
}

/** Adds events of the last 30 days to a realm. They are of the realm's seeded users. */
export function seedEvents(database: DatabaseSync, realm: string, events: number, users: number): void {
  registerIds(database);
  const { type, client, ip, time } = eventColumns(events);
  database.exec(`CREATE TEMP TABLE made AS SELECT i, uuid_of('u' || i) AS id FROM ${numbers(Math.min(users, events))};
    BEGIN;
    INSERT INTO event (realm_id, time, type, client_id, user_id, ip_address, doc)
    SELECT realm_id, time, type, client_id, user_id, ip_address,
      '{"id":"' || hex(i) || '","time":' || time || ',"type":"' || type || '","realmId":"' || realm_id || '","clientId":"' || client_id || '","userId":"' || user_id || '","sessionId":"' || hex(i * 7919) || '","ipAddress":"' || ip_address || '","details":{"grant_type":"refresh_token","scope":"openid profile email","token_id":"' || user_id || '"}}'
    FROM (SELECT number.i AS i, realm.id AS realm_id, ${time.replaceAll(/\bi\b/g, 'number.i')} AS time,
        ${type.replaceAll(/\bi\b/g, 'number.i')} AS type, ${client.replaceAll(/\bi\b/g, 'number.i')} AS client_id,
        made.id AS user_id, ${ip.replaceAll(/\bi\b/g, 'number.i')} AS ip_address
      FROM realm CROSS JOIN ${numbers(events)} AS number JOIN made ON made.rowid = number.i % ${users} + 1
      WHERE realm.name = '${realm}');
    COMMIT;
    DROP TABLE made;
    ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)`);
}
