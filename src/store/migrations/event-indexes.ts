import { run, type Steps } from '../verbs/steps.ts';
import type { BackgroundMigration, Slice } from './background.ts';

/** Part of a text that an index of Postgres contains. An index limits the size of its entries, and clients choose some texts. */
const part = (column: string) => `"left"(${column}, 100)`;

/** Gives every filter of the events an index: see `0007-event-indexes.ts`. */
export const INDEX_EVENTS: BackgroundMigration = {
  name: 'event-indexes',
  title: 'index the events for every filter',
  left: 'left.events',
  postgresIndexes: [
    { name: 'event_place', sql: 'CREATE INDEX event_place ON event (realm_id, time, seq)' },
    { name: 'event_type', sql: 'CREATE INDEX event_type ON event (realm_id, type, time)' },
    {
      name: 'event_client',
      sql: `CREATE INDEX event_client ON event (realm_id, ${part('client_id')}, type, time) WHERE client_id IS NOT NULL`,
    },
    {
      name: 'event_user',
      sql: `CREATE INDEX event_user ON event (${part('user_id')}, time) WHERE user_id IS NOT NULL`,
    },
    {
      name: 'event_ip',
      sql: `CREATE INDEX event_ip ON event (realm_id, ${part('ip_address')}, time) WHERE ip_address IS NOT NULL`,
    },
    { name: 'admin_event_place', sql: 'CREATE INDEX admin_event_place ON admin_event (realm_id, time, seq)' },
    {
      name: 'admin_event_resource',
      sql: 'CREATE INDEX admin_event_resource ON admin_event (realm_id, resource_type, operation_type, time)',
    },
    {
      name: 'admin_event_path',
      sql: `CREATE INDEX admin_event_path ON admin_event (realm_id, ${part('resource_path')}, time)`,
    },
    {
      name: 'admin_event_client',
      sql: `CREATE INDEX admin_event_client ON admin_event (realm_id, ${part('auth_realm_id')}, ${part('auth_client_id')}, time)`,
    },
    {
      name: 'admin_event_user',
      sql: `CREATE INDEX admin_event_user ON admin_event (${part('auth_user_id')}, time)`,
    },
    {
      name: 'admin_event_ip',
      sql: `CREATE INDEX admin_event_ip ON admin_event (realm_id, ${part('auth_ip_address')}, time)`,
    },
  ],
  slice: moveEvents,
  firstSlice: 500,
};

/** Moves the next events into the tables with indexes, the newest ones first. Postgres has nothing to move. */
function* moveEvents(_: string, limit: number, dialect: 'sqlite' | 'postgres'): Steps<Slice> {
  let handled = 0;
  if (dialect === 'sqlite')
    for (const table of ['event', 'admin_event'] as const) {
      if (handled > 0) break;
      handled = yield* run(`${table}.move`, { limit });
      yield* run(`${table}.moved`, { limit });
    }
  return { position: '', handled, finished: handled === 0 };
}
