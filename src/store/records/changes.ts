import type { Change } from '../contract.ts';
import type { RecordTable } from '../queries/configuration.ts';
import type { Arguments } from '../rows.ts';
import type { RowChange } from '../verbs/verbs.ts';
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
  const write = (table: RecordTable, row: object): RowChange => ({
    do: change.do,
    table,
    row: { ...row } as Arguments & { id: string },
  });
  if ('realm' in change) return write('realm', realmRow(change.realm, sealing));
  if ('client' in change) return write('client', clientRow(change.client, sealing));
  if ('clientScope' in change) return write('client_scope', clientScopeRow(change.clientScope));
  if ('role' in change) return write('role', roleRow(change.role));
  if ('group' in change) return write('realm_group', groupRow(change.group));
  if ('component' in change) return write('component', componentRow(change.component, sealing));
  if ('credential' in change) return write('credential', credentialRow(change.credential, sealing));
  const { roleIds, groupIds } = change.user;
  return {
    do: change.do,
    table: 'account',
    row: { ...accountRow(change.user) },
    roleIds: [...roleIds],
    groupIds: [...groupIds],
  };
}
