import type { Migration } from './index.ts';

/**
 * Adds an index for each filter of the events. On SQLite, existing events stay in `event_0` and
 * `admin_event_0` until a background migration has moved them, because building an index would block the writer.
 * Postgres builds the indexes in the background.
 */
export const EVENT_INDEXES: Migration = {
  sqlite: `
ALTER TABLE event RENAME TO event_0;
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  time INTEGER NOT NULL,
  type TEXT NOT NULL,
  client_id TEXT,
  user_id TEXT,
  ip_address TEXT,
  doc TEXT NOT NULL
);
CREATE INDEX event_place ON event (realm_id, time);
CREATE INDEX event_type ON event (realm_id, type, time);
CREATE INDEX event_client ON event (realm_id, client_id, type, time) WHERE client_id IS NOT NULL;
CREATE INDEX event_user ON event (user_id, time) WHERE user_id IS NOT NULL;
CREATE INDEX event_ip ON event (realm_id, ip_address, time) WHERE ip_address IS NOT NULL;
ALTER TABLE admin_event RENAME TO admin_event_0;
CREATE TABLE admin_event (
  seq INTEGER PRIMARY KEY,
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  time INTEGER NOT NULL,
  operation_type TEXT NOT NULL,
  resource_type TEXT NOT NULL,
  resource_path TEXT NOT NULL,
  auth_realm_id TEXT NOT NULL,
  auth_client_id TEXT NOT NULL,
  auth_user_id TEXT NOT NULL,
  auth_ip_address TEXT NOT NULL,
  doc TEXT NOT NULL
);
CREATE INDEX admin_event_place ON admin_event (realm_id, time);
CREATE INDEX admin_event_resource ON admin_event (realm_id, resource_type, operation_type, time);
CREATE INDEX admin_event_path ON admin_event (realm_id, resource_path, time);
CREATE INDEX admin_event_client ON admin_event (realm_id, auth_realm_id, auth_client_id, time);
CREATE INDEX admin_event_user ON admin_event (auth_user_id, time);
CREATE INDEX admin_event_ip ON admin_event (realm_id, auth_ip_address, time);
`,
  postgres: '-- The background migration `event-indexes` builds the indexes.',
};
