import {
  type DumpReport,
  type RowSink,
  readDumpRows,
  type SetHandle,
  type WorkOptions,
} from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';

/** The record of a set that an operator names. With only a realm, it is the whole realm. */
export interface ItemName {
  realm: string;
  /** A username or an id. */
  user?: string;
  /** A clientId or an id. */
  client?: string;
  /** A path such as `/staff/night`, or an id. */
  group?: string;
}

/** The ids of the record, and of the records with which other records refer to it. */
export interface FoundItem {
  report: DumpReport;
  realmId: string;
  userId?: string;
  clientUuid?: string;
  groupId?: string;
  /** The roles of the client. */
  roleIds: ReadonlySet<string>;
  /** The group and its subgroups. */
  groupIds: ReadonlySet<string>;
}

/** Limit of the records with the same name in different realms. */
const MOST_CANDIDATES = 200_000;

/**
 * Finds a record in the dump of a set by its name.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DAMAGED; IDKIT_VERSION for a set of Keycloak
 */
export async function findItem(set: SetHandle, name: ItemName, options: WorkOptions): Promise<FoundItem> {
  const rows = new ItemRows(name);
  const report = await readDumpRows(set, rows, options);
  if (report.postgres?.keycloakVersion !== undefined || report.postgres?.unread === true)
    throw new IdkitError(
      'IDKIT_VERSION',
      `${set.name} is a set of Keycloak, whose records cannot be put back one by one`,
      {
        hints: [
          'the administrative API of Keycloak would assign new ids',
          'restore the set on another host, and export the record there',
        ],
      },
    );
  return { report, ...rows.find(set.name) };
}

interface Candidate {
  id: string;
  realmId: string;
}

class ItemRows implements RowSink {
  readonly #name: ItemName;
  #realmId: string | undefined;
  readonly #candidates: Candidate[] = [];
  readonly #groups = new Map<string, { realmId: string; parentId: string | null; name: string }>();
  readonly #roles = new Map<string, Set<string>>();

  constructor(name: ItemName) {
    this.#name = name;
  }

  table(table: string, columns: readonly string[]): ReturnType<RowSink['table']> {
    const at = (column: string) => columns.indexOf(column);
    const [id, realm] = [at('id'), at('realm_id')];
    const { user, client, group } = this.#name;
    if (table === 'realm')
      return (row) => {
        if (row.text(at('name')) === this.#name.realm) this.#realmId = row.text(id) ?? '';
      };
    if (table === 'account' && user !== undefined)
      return this.#named(id, realm, at('username'), user.toLowerCase(), user);
    if (table === 'client' && client !== undefined)
      return this.#named(id, realm, at('client_id'), client, client);
    if (table === 'role' && client !== undefined)
      return (row) => {
        const owner = row.text(at('client_uuid'));
        if (owner === null) return;
        const roles = this.#roles.get(owner) ?? new Set();
        this.#roles.set(owner, roles.add(row.text(id) ?? ''));
      };
    if (table === 'realm_group' && group !== undefined)
      return (row) =>
        void this.#groups.set(row.text(id) ?? '', {
          realmId: row.text(realm) ?? '',
          parentId: row.text(at('parent_id')),
          name: row.text(at('name')) ?? '',
        });
    return undefined;
  }

  /** Returns the reader that collects the records with a name or an id. */
  #named(
    id: number,
    realm: number,
    name: number,
    wanted: string,
    wantedId: string,
  ): ReturnType<RowSink['table']> {
    return (row) => {
      const rowId = row.text(id) ?? '';
      if (row.text(name) !== wanted && rowId !== wantedId) return;
      if (this.#candidates.length < MOST_CANDIDATES)
        this.#candidates.push({ id: rowId, realmId: row.text(realm) ?? '' });
    };
  }

  find(set: string): Omit<FoundItem, 'report'> {
    const { realm, user, client, group } = this.#name;
    const realmId = this.#realmId;
    if (realmId === undefined) throw missing(set, `a realm ${realm}`);
    const found = { realmId, roleIds: new Set<string>(), groupIds: new Set<string>() };
    if (group !== undefined) {
      const groupId = this.#findGroup(realmId, group);
      if (groupId === undefined) throw missing(set, `a group ${group} in realm ${realm}`);
      return { ...found, groupId, groupIds: this.#below(groupId) };
    }
    if (user === undefined && client === undefined) return found;
    const candidate = this.#candidates.find((one) => one.realmId === realmId);
    if (candidate === undefined)
      throw missing(set, `${user === undefined ? `a client ${client}` : `a user ${user}`} in realm ${realm}`);
    if (user !== undefined) return { ...found, userId: candidate.id };
    return { ...found, clientUuid: candidate.id, roleIds: this.#roles.get(candidate.id) ?? new Set() };
  }

  #findGroup(realmId: string, named: string): string | undefined {
    if (this.#groups.get(named)?.realmId === realmId) return named;
    const path = named.startsWith('/') ? named : `/${named}`;
    for (const [id, group] of this.#groups)
      if (group.realmId === realmId && this.#pathOf(id) === path) return id;
    return undefined;
  }

  #pathOf(id: string): string {
    const names: string[] = [];
    const seen = new Set<string>();
    for (
      let at: string | null = id;
      at !== null && !seen.has(at);
      at = this.#groups.get(at)?.parentId ?? null
    ) {
      seen.add(at);
      names.unshift(this.#groups.get(at)?.name ?? '');
    }
    return `/${names.join('/')}`;
  }

  #below(rootId: string): ReadonlySet<string> {
    const tree = new Set([rootId]);
    for (const parent of tree)
      for (const [id, { parentId }] of this.#groups) if (parentId === parent) tree.add(id);
    return tree;
  }
}

function missing(set: string, what: string): IdkitError {
  return new IdkitError('IDKIT_NOT_FOUND', `${set} does not contain ${what}`, {
    hints: [
      'idkit backups list shows the other sets',
      `idkit backups show ${set} shows the realms of the set`,
    ],
  });
}
