import { REVISION, type Revised } from '../../model/index.ts';
import type { Change } from '../contract/index.ts';
import type { RecordTable } from '../queries/configuration.ts';
import type { RecordRow, RowChange, WriteChange } from '../verbs/verbs.ts';
import {
  clientRow,
  clientScopeRow,
  componentRow,
  groupRow,
  realmRow,
  roleRow,
  type Sealing,
} from './configuration.ts';
import { adminEventRow } from './events.ts';
import { consentRow } from './login.ts';
import { keptRow } from './trash.ts';
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

/** Converts a change into rows and encrypts their secrets. */
export function toRowChange(change: Change, sealing: Sealing): RowChange {
  switch (change.do) {
    case 'create':
    case 'put':
      return writeOf(change, sealing);
    case 'remove':
      return {
        do: 'remove',
        table: TABLES[change.what],
        id: change.id,
        ...(change.keep === undefined ? {} : { keep: keptRow(change.keep) }),
        ...(change.erase === true ? { erase: true } : {}),
      };
    case 'record':
      return { do: 'record', row: adminEventRow(change.adminEvent) };
    case 'putConsent':
      return { do: 'putConsent', row: consentRow(change.consent) };
    default:
      return change;
  }
}

function writeOf(change: Extract<Change, { do: 'create' | 'put' }>, sealing: Sealing): WriteChange {
  const write = (row: RecordRow, { [REVISION]: revision }: Revised): WriteChange => ({
    do: change.do,
    revision,
    ...row,
  });
  if ('realm' in change) return write({ table: 'realm', row: realmRow(change.realm, sealing) }, change.realm);
  if ('client' in change)
    return write({ table: 'client', row: clientRow(change.client, sealing) }, change.client);
  if ('clientScope' in change)
    return write({ table: 'client_scope', row: clientScopeRow(change.clientScope) }, change.clientScope);
  if ('role' in change) return write({ table: 'role', row: roleRow(change.role) }, change.role);
  if ('group' in change) return write({ table: 'realm_group', row: groupRow(change.group) }, change.group);
  if ('component' in change)
    return write({ table: 'component', row: componentRow(change.component, sealing) }, change.component);
  if ('credential' in change)
    return write({ table: 'credential', row: credentialRow(change.credential, sealing) }, change.credential);
  const { roleIds, groupIds } = change.user;
  const account = write({ table: 'account', row: accountRow(change.user) }, change.user);
  return { ...account, roleIds: [...roleIds], groupIds: [...groupIds] };
}
