import { type AdminEvent, effectiveRoleIds } from '../../model/index.ts';
import type { Conflict, Missing, Restored, TrashEntry, TrashKind } from '../../store/index.ts';
import { checkGrants, checkGroupGrants } from '../access/admin-roles.ts';
import { findRights, holdsMasterRole, type Right, type Rights } from '../access/rights.ts';
import { adminEvent } from '../call/changes.ts';
import type { AdminContext, Caller, RealmCall } from '../call/context.ts';
import { AdminRefusal, badInput, forbidden, notFound } from '../call/refusal.ts';
import { checkClientName } from '../client/clients.ts';
import { MASTER } from '../defaults/built-in-clients.ts';
import { type Json, text } from '../representation/json.ts';

/** The right that a caller needs to list, restore and erase deleted records of a kind: that to create such records. */
const RIGHT_OF: Readonly<Record<Exclude<TrashKind, 'realm'>, Right>> = {
  user: 'manageUsers',
  client: 'manageClients',
  group: 'manageUsers',
};

const KINDS = ['user', 'client', 'group'] as const;

/** What a list of deleted records contains. */
export interface TrashQuery {
  first: number;
  max: number;
  kind?: string;
  /** A part of the name. */
  search?: string;
}

/** Lists the deleted records of a realm that the caller may restore, the newest first. @throws AdminRefusal 403 */
export async function listTrash(call: RealmCall, query: TrashQuery): Promise<readonly Json[]> {
  const kinds = KINDS.filter((kind) => call.rights.has(RIGHT_OF[kind]));
  if (kinds.length === 0) throw forbidden();
  const wanted = kinds.filter((kind) => query.kind === undefined || query.kind === kind);
  const entries = await call.context.store.listTrash({
    realmId: call.configuration.realm.id,
    kinds: wanted,
    search: query.search ?? '',
    first: query.first,
    max: query.max,
  });
  return entries.map(trashRepresentation);
}

/** Lists deleted realms, the newest first. */
export async function listDeletedRealms(context: AdminContext, query: TrashQuery): Promise<readonly Json[]> {
  const { first, max, search = '' } = query;
  return (await context.store.listDeletedRealms({ first, max, search })).map(trashRepresentation);
}

function trashRepresentation(entry: TrashEntry): Json {
  const { id, kind, name, recordId, deletedAt, deletedBy, expiresAt, state } = entry;
  return {
    id,
    kind,
    name,
    recordId,
    deletedAt,
    deletedBy: { realmId: deletedBy.realmId, userId: deletedBy.userId },
    expiresAt: expiresAt * 1000,
    ...(state === 'whole' ? {} : { unfinished: state }),
  };
}

/** Returns an entry of the realm that the caller may restore. @throws AdminRefusal 403, 404 */
async function findEntry(call: RealmCall, id: string): Promise<TrashEntry> {
  const { configuration, rights, context } = call;
  const entry = await context.store.findTrash(id);
  // A caller with none of the rights learns nothing about the ids of entries.
  if (!KINDS.some((kind) => rights.has(RIGHT_OF[kind]))) throw forbidden();
  if (entry === undefined || entry.kind === 'realm' || entry.realmId !== configuration.realm.id)
    throw noEntry();
  rights.check(RIGHT_OF[entry.kind]);
  await checkAuthority(call, entry);
  return entry;
}

function noEntry(): AdminRefusal {
  return notFound('Deleted record not found');
}

/**
 * Refuses to restore or erase records that hold or include an administrative role, unless the caller may grant these
 * roles. Otherwise a caller who manages users could put back an administrator who was deleted for a reason.
 *
 * @throws AdminRefusal 403
 */
async function checkAuthority(call: RealmCall, entry: TrashEntry): Promise<void> {
  if (call.rights.grantsAdminRoles) return;
  const { roleIds, groupIds } = await call.context.store.trashAuthority(entry.id);
  await checkGrants(call, [...effectiveRoleIds(call.configuration, { roleIds, groupIds })]);
  await checkGroupGrants(call, groupIds);
}

/** Restores a deleted user, client or group. Returns what was restored and what was left out. @throws AdminRefusal */
export async function restoreTrash(call: RealmCall, id: string, given: Json): Promise<Json> {
  const entry = await findEntry(call, id);
  const name = nameFor(entry, given);
  // In master, the name of a client decides whether its roles are administrative.
  if (entry.kind === 'client') checkClientName(call, '', name ?? entry.name);
  const events = adminEvent(call, {
    operation: 'ACTION',
    resource: RESOURCES[entry.kind],
    path: `trash/${id}/restore`,
    representation: { kind: entry.kind, id: entry.recordId, name: name ?? entry.name },
  });
  return restoredJson(await call.context.store.restoreTrash(id, recorded(events), name), entry);
}

const RESOURCES: Readonly<Record<TrashKind, string>> = {
  realm: 'REALM',
  user: 'USER',
  client: 'CLIENT',
  group: 'GROUP',
};

function recorded(changes: ReturnType<typeof adminEvent>): AdminEvent[] {
  return changes.flatMap((change) => (change.do === 'record' ? [change.adminEvent] : []));
}

/** Reads the new name of the restored record. @throws AdminRefusal 400 */
function nameFor({ kind }: TrashEntry, given: Json): string | undefined {
  const name = text(given['name']);
  if (name === undefined) return undefined;
  if (kind === 'realm') throw badInput('invalid_request', 'A realm is restored with its own name');
  if (name.trim() === '' || name.length > 255 || name.includes('\0'))
    throw badInput('invalid_request', 'The name has 1 to 255 characters');
  return kind === 'user' ? name.toLowerCase() : name;
}

/** @throws AdminRefusal 404, 409 */
function restoredJson(restored: Restored, entry: TrashEntry): Json {
  if (restored.outcome === 'gone') throw noEntry();
  if (restored.outcome !== 'restored') throw clash(restored, entry);
  const { id, kind, recordId } = entry;
  return {
    id,
    kind,
    recordId,
    dropped: restored.dropped.map(({ what, id: droppedId, name }) => ({
      what,
      id: droppedId,
      ...(name === undefined ? {} : { name }),
    })),
  };
}

/** Returns the 409 for a record that cannot come back yet, with the way out. */
function clash(found: Conflict | Missing, { kind, name }: TrashEntry): AdminRefusal {
  if (found.outcome === 'missing')
    return refuse(
      `The ${kind} ${name} cannot be restored, because its ${found.what} ${found.id} does not exist. Restore that first.`,
    );
  const [what, field] = found.on.split('.') as [string, string];
  const taken = `The ${kind} ${name} cannot be restored, because another ${what} has the ${field} ${found.value}.`;
  if (field === 'id') return refuse(`${taken} Delete that ${what} first.`);
  if (kind === 'realm' || what !== kind || field === 'email')
    return refuse(`${taken} Change or delete that ${what} first.`);
  return refuse(`${taken} Rename or delete that ${what} first, or restore this one under another name.`);
}

function refuse(errorMessage: string): AdminRefusal {
  return new AdminRefusal('conflict', { errorMessage });
}

/** Erases a deleted record for good. @throws AdminRefusal */
export async function eraseTrash(call: RealmCall, id: string): Promise<void> {
  const entry = await findEntry(call, id);
  const events = adminEvent(call, {
    operation: 'DELETE',
    resource: RESOURCES[entry.kind],
    path: `trash/${id}`,
    representation: { kind: entry.kind, id: entry.recordId },
  });
  erased(await call.context.store.eraseTrash(id, recorded(events)), entry);
}

/** @throws AdminRefusal 404, 409 */
function erased(outcome: 'erased' | 'missing' | 'busy', { kind, name, state }: TrashEntry): void {
  if (outcome === 'missing') throw noEntry();
  if (outcome === 'busy')
    throw refuse(
      state === 'restoring'
        ? `The restore of the ${kind} ${name} is not finished. Restore it again first.`
        : `The deletion of the ${kind} ${name} is not finished. Delete or restore it first.`,
    );
}

/** Restores a deleted realm, with the client of master that manages it. @throws AdminRefusal */
export async function restoreRealm(
  context: AdminContext,
  caller: Caller,
  id: string,
  given: Json,
): Promise<Json> {
  const entry = await findRealmEntry(context, id);
  nameFor(entry, given);
  const path = `trash/${id}/restore`;
  const events = await masterEvent(context, caller, { operation: 'ACTION', path, entry });
  return restoredJson(await context.store.restoreTrash(id, events), entry);
}

/**
 * Erases a deleted realm for good. Its former administrators have no rights any more, so only an administrator of all
 * realms may do this.
 *
 * @throws AdminRefusal
 */
export async function eraseRealm(context: AdminContext, caller: Caller, id: string): Promise<void> {
  if (!(await holdsMasterRole(context, caller, 'admin'))) throw forbidden();
  const entry = await findRealmEntry(context, id);
  const events = await masterEvent(context, caller, { operation: 'DELETE', path: `trash/${id}`, entry });
  erased(await context.store.eraseTrash(id, events), entry);
}

/** @throws AdminRefusal 404 */
async function findRealmEntry({ store }: AdminContext, id: string): Promise<TrashEntry> {
  const entry = await store.findTrash(id);
  if (entry?.kind !== 'realm') throw noEntry();
  return entry;
}

/** Returns the admin event of master about a deleted realm. */
export async function masterEvent(
  context: AdminContext,
  caller: Caller,
  { operation, path, entry }: { operation: AdminEvent['operationType']; path: string; entry: TrashEntry },
): Promise<AdminEvent[]> {
  const configuration = await context.store.findRealm(MASTER);
  if (configuration === undefined) return [];
  const rights: Rights = await findRights(context, caller, configuration);
  const representation = { kind: entry.kind, id: entry.recordId, name: entry.name };
  return recorded(
    adminEvent(
      { context, caller, rights, configuration },
      { operation, resource: 'REALM', path, representation },
    ),
  );
}

/** The caller of events that no administrator causes. */
const NOBODY = { userId: '', clientId: '', clientUuid: '', scopes: new Set<string>(), ipAddress: '' };

/** Returns the admin event of an entry that expired. That of a realm belongs to master. */
export async function expiryEvent(context: AdminContext, entry: TrashEntry): Promise<AdminEvent[]> {
  const configuration =
    entry.kind === 'realm'
      ? await context.store.findRealm(MASTER)
      : await context.store.findRealmById(entry.realmId);
  if (configuration === undefined) return [];
  const { id: realmId, name: realmName } = configuration.realm;
  const caller = { ...NOBODY, realmId, realmName };
  const rights = await findRights(context, caller, configuration);
  return recorded(
    adminEvent(
      { context, caller, rights, configuration },
      {
        operation: 'DELETE',
        resource: RESOURCES[entry.kind],
        path: `trash/${entry.id}/expired`,
        representation: { kind: entry.kind, id: entry.recordId },
      },
    ),
  );
}
