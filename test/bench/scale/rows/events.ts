import { DatabaseSync } from 'node:sqlite';
import { databaseFile } from '../../seed.ts';
import { type Figure, measureLarge, ms, type Row, refresh } from '../bench.ts';
import { uuidOf } from '../seeds/plan.ts';
import type { Side } from '../side.ts';

/** Each filter of events. */
export const eventsRow: Row = {
  name: 'events',
  measure: (bench) =>
    measureLarge(bench, 1, async (running, large) => {
      const { calls } = running;
      const { events } = large.plan;
      const every = Math.max(2, Math.floor(events / 100));
      const filters: Record<string, string> = {
        'the newest': 'max=100',
        'a rare type': 'type=RESET_PASSWORD&max=100',
        'a type without events': 'type=VERIFY_EMAIL&max=100',
        'one user': `user=${uuidOf('u11')}&max=100`,
        'a user without events': `user=${uuidOf('nobody')}&max=100`,
        'a rare client': 'client=rare&max=100',
        'a client without events': 'client=nobody&max=100',
        'an address': `ipAddress=10.${Math.floor(every / 65536) % 256}.${Math.floor(every / 256) % 256}.${every % 256}&max=100`,
        'an address without events': 'ipAddress=192.0.2.1&max=100',
        'one user and a type': `user=${uuidOf('u11')}&type=LOGIN&max=100`,
        'a day': 'dateFrom=2020-01-01&dateTo=2020-01-02&max=100',
        'page at offset 10,000': 'first=10000&max=100',
      };
      const figures: Record<string, Figure> = {};
      for (const [line, filter] of Object.entries(filters)) {
        const path = `/admin/realms/rs/events?${filter}`;
        const first = await calls.time('GET', path);
        const value = first.ms > 1000 || first.status !== 200 ? first.ms : await calls.median(path, 5);
        const detail = first.status === 200 ? `first time ${ms(first.ms)}` : `status ${first.status}`;
        figures[`events: ${line}, ms`] = { value, detail };
      }
      return figures;
    }),
};

/** The wait of refreshes while another realm's events are emptied. */
export const emptyingRow: Row = {
  name: 'emptying',
  async measure(bench) {
    for (const { large } of bench.sides) {
      if (await hasEvents(large, 'es')) continue;
      await large.fill((into) => into.events('es', Math.max(10_000, Math.floor(large.plan.events / 5))));
    }
    return measureLarge(bench, 1, async (running, large) => {
      const { port, calls } = running;
      await refresh(large, port, 2, 100);
      const without = await refresh(large, port, bench.seconds * 2, 100);
      let emptied = { ms: Number.NaN, status: 0 };
      const emptying = calls.time('DELETE', '/admin/realms/es/events').then((timed) => {
        emptied = timed;
      });
      const during = await refresh(large, port, bench.seconds * 2, 100);
      await emptying;
      return {
        'refresh p99 while events are emptied / without': {
          value: during.p99 / without.p99,
          detail: `${ms(during.p99)} over ${ms(without.p99)}, longest p99.9 ${ms(during.p999)}`,
        },
        'emptying a fifth of the events, ms': { value: emptied.ms, detail: `status ${emptied.status}` },
      };
    });
  },
};

async function hasEvents(side: Side, realm: string): Promise<boolean> {
  const query = `SELECT 1 FROM event JOIN realm ON realm.id = realm_id WHERE realm.name = '${realm}' LIMIT 1`;
  if (side.cluster) return (await side.cluster.sql(query, side.database)).length > 0;
  const database = new DatabaseSync(databaseFile(side.dir));
  try {
    return database.prepare(query).all().length > 0;
  } finally {
    database.close();
  }
}
