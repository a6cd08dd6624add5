import {
  badInput,
  clearAdminEvents,
  clearEvents,
  createComponent,
  deleteComponent,
  listAdminEvents,
  listComponents,
  listEvents,
  showComponent,
  showEventsConfig,
  updateComponent,
  updateEventsConfig,
} from '../../admin/index.ts';
import type { AdminRow } from './admin-row.ts';
import { Created } from './call.ts';
import type { Query } from './query.ts';
import { readRepresentation } from './read-json.ts';
import { theComponent, theRealm } from './written-records.ts';

/** Events, keys and components. */
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
  {
    method: 'GET',
    path: '/keys',
    right: 'viewRealm',
    handle: (call) => {
      const keys = call.services.protocol.keys.list(call.configuration);
      const active: Record<string, string> = {};
      for (const key of keys) if (key.status === 'ACTIVE') active[key.algorithm] ??= key.kid;
      return {
        active,
        keys: keys.map(({ priority, ...key }) => ({ ...key, providerPriority: priority })),
      };
    },
  },
  {
    method: 'GET',
    path: '/components',
    right: 'viewRealm',
    handle: (call) =>
      listComponents(call, texts(call.query, { parent: 'parent', type: 'type', name: 'name' })),
  },
  {
    method: 'POST',
    path: '/components',
    right: 'manageRealm',
    writes: [],
    handle: async (call) => {
      const id = await createComponent(call, readRepresentation(call.request, 'ComponentRepresentation'));
      return new Created(`components/${id}`);
    },
  },
  {
    method: 'GET',
    path: '/components/:id',
    right: 'viewRealm',
    handle: (call) => showComponent(call, call.param('id')),
  },
  {
    method: 'PUT',
    path: '/components/:id',
    right: 'manageRealm',
    writes: [theComponent],
    handle: (call) =>
      updateComponent(call, call.param('id'), readRepresentation(call.request, 'ComponentRepresentation')),
  },
  {
    method: 'DELETE',
    path: '/components/:id',
    right: 'manageRealm',
    writes: [theComponent],
    handle: (call) => deleteComponent(call, call.param('id')),
  },
];

function texts<K extends string>(
  query: Query,
  names: Readonly<Record<K, string>>,
): Partial<Record<K, string>> {
  const values: Partial<Record<K, string>> = {};
  for (const name in names) {
    const value = query.text(names[name]);
    if (value) values[name] = value;
  }
  return values;
}

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

/** `dateFrom` and `dateTo`: a day or Unix time in milliseconds. A day of `dateTo` is included whole. */
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
