import {
  type DumpRow,
  type RowReader,
  readDumpRows,
  type SetHandle,
  type WorkOptions,
} from '../../backupset/index.ts';
import type { Excerpt, ExcerptValue } from '../../store/open.ts';
import type { FoundItem } from './find-item.ts';

/** The tables with the configuration of a realm, each with the column of the realm. */
const OF_REALM: Readonly<Record<string, string>> = {
  realm: 'id',
  client: 'realm_id',
  client_scope: 'realm_id',
  role: 'realm_id',
  realm_group: 'realm_id',
  component: 'realm_id',
};

/** The tables whose rows belong to a user. */
const OF_USER: ReadonlySet<string> = new Set(['user_role', 'user_group', 'credential', 'user_consent']);

/**
 * Copies the rows of a realm's configuration, and of the users that belong to the item, from a dump into an excerpt. In
 * every dump of idkit, users precede the rows that belong to them.
 *
 * @throws IDKIT_DAMAGED
 */
export async function takeRows(
  set: SetHandle,
  item: FoundItem,
  excerpt: Excerpt,
  options: WorkOptions,
): Promise<void> {
  const wholeRealm = item.userId === undefined && item.clientUuid === undefined && item.groupId === undefined;
  const users = new Set<string>();
  const table = (name: string, columns: readonly string[]): RowReader | undefined => {
    const at = (column: string) => columns.indexOf(column);
    const isWanted = wantedRows(name, at);
    if (isWanted === undefined) return undefined;
    const insert = excerpt.inserter(name, columns);
    const isBytes = columns.map((column) => column === 'sealed');
    return (row) => {
      if (isWanted(row))
        insert(columns.map((_column, place): ExcerptValue => cellOf(row, place, isBytes[place]!)));
    };
  };
  const wantedRows = (
    name: string,
    at: (column: string) => number,
  ): ((row: DumpRow) => boolean) | undefined => {
    if (name === 'meta') return () => true;
    const realmColumn = Object.hasOwn(OF_REALM, name) ? OF_REALM[name] : undefined;
    if (realmColumn !== undefined) return (row) => row.text(at(realmColumn)) === item.realmId;
    if (name === 'account')
      return (row) => {
        const id = row.text(at('id')) ?? '';
        const wanted = wholeRealm
          ? row.text(at('realm_id')) === item.realmId
          : id === item.userId ||
            (item.clientUuid !== undefined && row.text(at('service_account_client')) === item.clientUuid);
        if (wanted) users.add(id);
        return wanted;
      };
    if (!OF_USER.has(name)) return undefined;
    const [user, role, group] = [at('user_id'), at('role_id'), at('group_id')];
    return (row) =>
      users.has(row.text(user) ?? '') ||
      item.roleIds.has(row.text(role) ?? '') ||
      item.groupIds.has(row.text(group) ?? '');
  };
  await readDumpRows(set, { table }, options);
}

function cellOf(row: DumpRow, place: number, isBytes: boolean): ExcerptValue {
  return isBytes ? row.blob(place) : row.text(place);
}
