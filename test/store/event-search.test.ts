import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  adminEventFilters,
  compiler,
  EventSearch,
  eventFilters,
  usableIndexes,
} from '../../src/store/queries/index.ts';

const page = { realmId: 'realm-1', first: 0, max: 100 };

test('a search of events compares only the indexes whose first column it filters by', () => {
  const used = (query: object) =>
    usableIndexes(adminEventFilters({ ...page, ...query })).map(({ columns, given }) => [columns[0], given]);
  const operationTypes = ['ACTION'] as const;
  assert.deepEqual(used({ operationTypes, authUserId: 'u' }), [['auth_user_id', ['auth_user_id']]]);
  assert.deepEqual(used({ authClientId: 'c', authIpAddress: 'a' }), [
    ['auth_ip_address', ['auth_ip_address']],
  ]);
  assert.deepEqual(used({ authUserId: 'u', resourceTypes: ['USER'], operationTypes }), [
    ['auth_user_id', ['auth_user_id']],
    ['resource_type', ['resource_type', 'operation_type']],
  ]);
  assert.deepEqual(used({ authClientId: 'c', operationTypes }), [['auth_realm_id', ['auth_client_id']]]);
  assert.deepEqual(used({}), []);
});

test('a search of events counts the events in a range of times only if the index has them in order', () => {
  const filters = eventFilters({ ...page, clientId: 'app', ipAddress: '::1', from: 1 });
  const search = new EventSearch(compiler('sqlite'), 'sqlite', filters);
  const { sql } = search.sizes(usableIndexes(filters), 10).compile();
  const [byAddress, byClient] = sql.split('size_0');
  assert.match(byAddress!, /"ip_address" = \?\) and time >= \?/);
  assert.doesNotMatch(byClient!, /time/);
});
