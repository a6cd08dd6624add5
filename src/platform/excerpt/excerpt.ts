import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AdminContext,
  type ExportedItem,
  exportClientItem,
  exportGroupItem,
  exportRealmItem,
  exportUserItems,
  type ItemSource,
  openItemSource,
} from '../../admin/index.ts';
import type { SetHandle } from '../../backupset/index.ts';
import { IdkitError, type Secret, systemRandom } from '../../core/index.ts';
import { openPasswords } from '../../crypto/index.ts';
import { makeTemporaryDirectory } from '../../files/index.ts';
import { createExcerpt, openStore, readLinks } from '../../store/open.ts';
import { type FoundItem, findItem, type ItemName } from './find-item.ts';
import { takeRows } from './take-rows.ts';

const PREFIX = 'idkit-excerpt-';
/** Number of users in one request. */
const USERS_PER_BATCH = 500;
const MEMBERS_PER_BATCH = 1000;

/** A record of a set, with everything that its return needs. The caller must close it. */
export interface ItemExcerpt {
  /** The ids of the realm and of the record in the backup. */
  realmId: string;
  id: string;
  /** The whole realm without its users, for `POST /admin/realms`. Only for a realm. */
  realm?: () => Promise<unknown>;
  /** Returns the bodies for `POST /admin/realms/{realm}/put-back`, in order. They contain secrets. */
  bodies(): AsyncGenerator<Record<string, unknown>>;
  /** Removes the temporary files. */
  close(): Promise<void>;
}

export interface ExcerptOptions {
  masterKey: Secret;
  masterKeyOld?: Secret | undefined;
  signal: AbortSignal;
  /** Runs one of the two readings of the dump as a step. */
  around<T>(
    step: 'find' | 'read',
    work: (onProgress: (done: number, total?: number) => void) => Promise<T>,
  ): Promise<T>;
}

/**
 * Reads one record from a set of idkit, on SQLite or Postgres, and decrypts its secrets. The rows are kept in a temporary
 * database of mode 0600, whose secrets stay encrypted.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DAMAGED, IDKIT_VERSION, IDKIT_MASTER_KEY_WRONG
 */
export async function openExcerpt(
  set: SetHandle,
  name: ItemName,
  { masterKey, masterKeyOld, signal, around }: ExcerptOptions,
): Promise<ItemExcerpt> {
  const item = await around('find', (onProgress) => findItem(set, name, { signal, onProgress }));
  const { report } = item;
  if (report.schemaVersion === undefined)
    throw new IdkitError('IDKIT_VERSION', `${set.name} contains a dump of another program`);
  const dir = await makeTemporaryDirectory(PREFIX);
  const file = join(dir, 'excerpt.db');
  try {
    const excerpt = await createExcerpt(file, report.schemaVersion);
    try {
      await around('read', (onProgress) => takeRows(set, item, excerpt, { signal, onProgress }));
      excerpt.finish();
    } finally {
      excerpt.close();
    }
    const store = await openStore({ file, masterKey, masterKeyOld, mode: 'read' });
    const passwords = openPasswords({ threads: 1 });
    const context = { store, clock: store.clock, random: systemRandom, passwords, baseUrl: '' };
    const close = async () => {
      await passwords.close();
      await store.close();
      await rm(dir, { recursive: true, force: true });
    };
    try {
      return { ...(await itemOf(context, name, item, file)), close };
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
}

async function itemOf(
  context: AdminContext,
  name: ItemName,
  item: FoundItem,
  file: string,
): Promise<Omit<ItemExcerpt, 'close'>> {
  const source = await openItemSource(context, name.realm);
  const { configuration } = source.labels;
  const { realmId } = item;
  if (item.userId !== undefined) {
    const user = await context.store.findUser(realmId, item.userId);
    if (user === undefined) throw new IdkitError('IDKIT_BUG', `the excerpt lacks user ${item.userId}`);
    return { realmId, id: user.id, bodies: () => single(exportUserItems(source, [user])) };
  }
  if (item.clientUuid !== undefined) {
    const client = source.clients.find(({ id }) => id === item.clientUuid);
    if (client === undefined)
      throw new IdkitError('IDKIT_BUG', `the excerpt lacks client ${item.clientUuid}`);
    const account = (await context.store.findServiceAccount(client.id))?.id;
    return {
      realmId,
      id: client.id,
      bodies: () => withMembers(exportClientItem(source, client), file, (id) => id !== account),
    };
  }
  if (item.groupId !== undefined) {
    const group = configuration.groups.get(item.groupId);
    if (group === undefined) throw new IdkitError('IDKIT_BUG', `the excerpt lacks group ${item.groupId}`);
    return {
      realmId,
      id: group.id,
      bodies: () => withMembers(Promise.resolve(exportGroupItem(source, group)), file, () => true),
    };
  }
  return { realmId, id: realmId, realm: () => exportRealmItem(source), bodies: () => userBatches(source) };
}

async function* single(item: Promise<ExportedItem>): AsyncGenerator<Record<string, unknown>> {
  yield { ...(await item) };
}

/** Yields the item, then the roles and memberships of its members in batches. */
async function* withMembers(
  exported: Promise<ExportedItem>,
  file: string,
  isMember: (userId: string) => boolean,
): AsyncGenerator<Record<string, unknown>> {
  const { references, ...item } = await exported;
  // The first members belong to the body of the item, so that a small item comes back in one transaction.
  let rest: Record<string, unknown> = { ...item };
  let members: unknown[] = [];
  for (const { userId, roles, groups } of readLinks(file)) {
    if (!isMember(userId)) continue;
    members.push({ userId, roles, groups });
    if (members.length < MEMBERS_PER_BATCH) continue;
    yield { ...rest, references, members };
    [rest, members] = [{ records: {} }, []];
  }
  if (members.length > 0 || 'composites' in rest) yield { ...rest, references, members };
}

async function* userBatches(source: ItemSource): AsyncGenerator<Record<string, unknown>> {
  const { store } = source.context;
  const realmId = source.labels.configuration.realm.id;
  for (let first = 0; ; first += USERS_PER_BATCH) {
    const users = await store.listUsers({ realmId, first, max: USERS_PER_BATCH });
    if (users.length === 0) return;
    yield { ...(await exportUserItems(source, users)) };
  }
}
