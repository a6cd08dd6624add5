import {
  createComponent,
  deleteComponent,
  listComponents,
  showComponent,
  updateComponent,
} from '../../admin/index.ts';
import type { AdminRow } from './admin-row.ts';
import { Created } from './call.ts';
import { texts } from './query.ts';
import { readRepresentation } from './read-json.ts';
import { theComponent } from './written-records.ts';

/** The routes of components, and of the keys that components contain. */
export const componentRows: readonly AdminRow[] = [
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
