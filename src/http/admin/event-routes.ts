import {
  badInput,
  clearAdminEvents,
  clearEvents,
  listAdminEvents,
  listEvents,
  showEventsConfig,
  updateEventsConfig,
} from '../../admin/index.ts';
import type { AdminRow } from './admin-row.ts';
import { type Query, texts } from './query.ts';
import { readRepresentation } from './read-json.ts';
import { theRealm } from './written-records.ts';

/** The routes of events and their settings. */
export const eventRows: readonly AdminRow[] = [
  {
    method: 'GET',
    path: '/events',
    right: 'viewEvents',
    handle: async ({ query, ...call }) => {
      await call.services.protocol.events.flush?.();
      return listEvents(call, {
        ...list(query, { types: 'type' }),
        ...texts(query, { clientId: 'client', userId: 'user', ipAddress: 'ipAddress' }),
        ...dates(query),
        ...query.page(100),
      });
    },
  },
  {
    method: 'DELETE',
    path: '/events',
    right: 'manageEvents',
    writes: [],
    handle: async (call) => {
      await call.services.protocol.events.flush?.();
      await clearEvents(call);
    },
  },
  { method: 'GET', path: '/events/config', right: 'viewEvents', handle: showEventsConfig },
  {
    method: 'PUT',
    path: '/events/config',
    right: 'manageEvents',
    writes: [theRealm],
    handle: (call) =>
      updateEventsConfig(call, readRepresentation(call.request, 'RealmEventsConfigRepresentation')),
  },
  {
    method: 'GET',
    path: '/admin-events',
    right: 'viewEvents',
    handle: ({ query, ...call }) =>
      listAdminEvents(call, {
        ...list(query, { operationTypes: 'operationTypes', resourceTypes: 'resourceTypes' }),
        ...texts(query, {
          resourcePath: 'resourcePath',
          authRealmId: 'authRealm',
          authClientId: 'authClient',
          authUserId: 'authUser',
          authIpAddress: 'authIpAddress',
        }),
        ...dates(query),
        ...query.page(100),
      }),
  },
  { method: 'DELETE', path: '/admin-events', right: 'manageEvents', writes: [], handle: clearAdminEvents },
];

function list<K extends string>(
  query: Query,
  names: Readonly<Record<K, string>>,
): Partial<Record<K, readonly string[]>> {
  const lists: Partial<Record<K, readonly string[]>> = {};
  for (const name in names) {
    const values = query.all(names[name]).filter((value) => value !== '');
    if (values.length > 0) lists[name] = values;
  }
  return lists;
}

const DAY = 24 * 60 * 60 * 1000;

/**
 * Reads `dateFrom` and `dateTo`, each of which is a date or a Unix time in milliseconds. A date in `dateTo` includes
 * the whole day.
 */
function dates(query: Query): { from?: number; to?: number } {
  const from = date(query, 'dateFrom', 0);
  const to = date(query, 'dateTo', DAY - 1);
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

function date(query: Query, name: string, rest: number): number | undefined {
  const value = query.text(name);
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  const day = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(day))
    throw badInput(`Invalid value for '${name}', expected format is yyyy-MM-dd or an Epoch timestamp`);
  return day + rest;
}
