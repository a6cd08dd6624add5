import { REVISION, type Revised } from '../../model/index.ts';
import type { Change } from '../contract/index.ts';
import type { RecordTable } from '../queries/configuration.ts';
import type { Arguments } from '../schema.ts';
import type { RowChange, WriteChange } from '../verbs/verbs.ts';
import {
  clientRow,
  clientScopeRow,
  componentRow,
  groupRow,
  realmRow,
  roleRow,
  type Sealing,
} from './configuration.ts';
import { consentRow } from './login.ts';
import { adminEventRow } from './sessions.ts';
import { accountRow, credentialRow } from './users.ts';

const TABLES = {
  realm: 'realm',
  client: 'client',
  clientScope: 'client_scope',
  role: 'role',
  group: 'realm_group',
  component: 'component',
  user: 'account',
  credential: 'credential',
} as const satisfies Record<string, RecordTable>;

/** A change with its records as rows and their secrets sealed. */
export function toRowChange(change: Change, sealing: Sealing): RowChange {
  switch (change.do) {
    case 'create':
    case 'put':
      return writeOf(change, sealing);
    case 'remove':
      return { do: 'remove', table: TABLES[change.what], id: change.id };
    case 'record':
      return { do: 'record', row: { ...adminEventRow(change.adminEvent) } };
    case 'putConsent':
      return { do: 'putConsent', row: consentRow(change.consent) };
    default:
      return change;
  }
}

function writeOf(change: Extract<Change, { do: 'create' | 'put' }>, sealing: Sealing): RowChange {
  const write = (table: RecordTable, row: object, record: Revised): WriteChange => ({
    do: change.do,
    table,
    row: { ...row } as Arguments & { id: string },
    revision: record[REVISION],
  });
  if ('realm' in change) return write('realm', realmRow(change.realm, sealing), change.realm);
  if ('client' in change) return write('client', clientRow(change.client, sealing), change.client);
  if ('clientScope' in change)
    return write('client_scope', clientScopeRow(change.clientScope), change.clientScope);
  if ('role' in change) return write('role', roleRow(change.role), change.role);
  if ('group' in change) return write('realm_group', groupRow(change.group), change.group);
  if ('component' in change)
    return write('component', componentRow(change.component, sealing), change.component);
  if ('credential' in change)
    return write('credential', credentialRow(change.credential, sealing), change.credential);
  const { roleIds, groupIds } = change.user;
  const account = write('account', accountRow(change.user), change.user);
  return { ...account, roleIds: [...roleIds], groupIds: [...groupIds] };
}
