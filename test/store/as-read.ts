import { REVISION, type Revised } from '../../src/model/index.ts';
import type { Applied, Change, Store } from '../../src/store/index.ts';

/** Applies changes. Each `put` gets the current revision of its record, as if the record had just been read. */
export async function applyAsRead(store: Store, changes: readonly Change[]): Promise<Applied> {
  const asRead: Change[] = [];
  for (const change of changes) asRead.push(change.do === 'put' ? await withRevision(store, change) : change);
  return store.apply(asRead);
}

async function withRevision(
  store: Store,
  change: Extract<Change, { do: 'create' | 'put' }>,
): Promise<Change> {
  const [kind, record] = Object.entries(change).find(([name]) => name !== 'do') as [string, { id: string }];
  const stored = await findStored(store, change);
  return { do: 'put', [kind]: { ...record, [REVISION]: stored?.[REVISION] } } as unknown as Change;
}

async function findStored(
  store: Store,
  change: Extract<Change, { do: 'create' | 'put' }>,
): Promise<Revised | undefined> {
  if ('realm' in change) return (await store.findRealmById(change.realm.id))?.realm;
  if ('client' in change) return store.findClientByUuid(change.client.realmId, change.client.id);
  if ('user' in change) return store.findUser(change.user.realmId, change.user.id);
  if ('credential' in change) {
    const { id, userId } = change.credential;
    return (await store.listCredentials(userId)).find((one) => one.id === id);
  }
  if ('component' in change) {
    const { id, realmId } = change.component;
    return (await store.findRealmById(realmId))?.components.find((one) => one.id === id);
  }
  if ('role' in change) return (await store.findRealmById(change.role.realmId))?.roles.get(change.role.id);
  if ('group' in change)
    return (await store.findRealmById(change.group.realmId))?.groups.get(change.group.id);
  const { id, realmId } = change.clientScope;
  return (await store.findRealmById(realmId))?.clientScopes.get(id);
}

/** Returns the record without its revision. */
export function unread<T extends Revised | undefined>(record: T): T {
  if (record === undefined) return record;
  const { [REVISION]: _, ...rest } = record;
  return rest as T;
}
