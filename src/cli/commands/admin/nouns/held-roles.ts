import { given } from '../../../flags.ts';
import type { ApiRecord } from '../lookup.ts';
import { inRealm, type Place } from '../place.ts';
import { read, readAll } from '../records/find.ts';
import { ownText } from './texts.ts';

/** A role that a user or a group has. */
export interface HeldRole {
  id: string;
  name: string;
  /** The client id of the client that owns the role. Undefined for realm roles. */
  client?: string;
  description?: unknown;
  /** `direct`, or the group or the composite role that it comes from. */
  from: string;
}

type Kind = 'users' | 'groups';

/** Lists the roles that are assigned to a user or a group itself. */
export async function listDirectRoles(
  place: Place,
  kind: Kind,
  holder: ApiRecord,
): Promise<readonly HeldRole[]> {
  return (await readMappings(place, kind, { id: holder['id'], from: 'direct' })).map(({ role }) => role);
}

/**
 * Lists all roles of a user or a group: direct ones, those of its groups and the groups above them, and what composite
 * roles among them contain.
 */
export async function listEffectiveRoles(
  place: Place,
  kind: Kind,
  holder: ApiRecord,
): Promise<readonly HeldRole[]> {
  const waiting = await readMappings(place, kind, { id: holder['id'], from: 'direct' });
  for (const group of await groupsOf(place, kind, holder)) {
    waiting.push(
      ...(await readMappings(place, 'groups', { id: group['id'], from: `group ${group['path']}` })),
    );
  }
  const held = new Map<string, HeldRole>();
  const clients = new Map<unknown, string>();
  for (const { role, isComposite } of waiting) {
    if (held.has(role.id)) continue;
    held.set(role.id, role);
    if (!isComposite) continue;
    const path = inRealm(place, 'roles-by-id', role.id, 'composites');
    for (const part of await readAll(place, path, 'roles')) {
      const client = await clientOf(place, part, clients);
      // The loop also visits what is added here.
      waiting.push(heldRole(part, { client, from: `role ${role.name}` }));
    }
  }
  return [...held.values()].sort((a, b) => keyOf(a).localeCompare(keyOf(b), 'en'));
}

function keyOf({ client = '', name }: HeldRole): string {
  return `${client}\0${name}`;
}

interface Mapping {
  role: HeldRole;
  isComposite: boolean;
}

function heldRole(
  record: ApiRecord,
  { client, from }: { client: string | undefined; from: string },
): Mapping {
  const { id, name, description, composite } = record;
  return {
    role: {
      id: String(id),
      name: String(name),
      ...(client === undefined ? {} : { client }),
      ...given('description', ownText(description)),
      from,
    },
    isComposite: composite === true,
  };
}

async function readMappings(
  place: Place,
  kind: Kind,
  { id, from }: { id: unknown; from: string },
): Promise<Mapping[]> {
  const mappings = await read(place, inRealm(place, kind, String(id), 'role-mappings'));
  const realm = (mappings['realmMappings'] as ApiRecord[] | undefined) ?? [];
  const byClient = Object.values((mappings['clientMappings'] as Record<string, ApiRecord> | undefined) ?? {});
  return [
    ...realm.map((role) => heldRole(role, { client: undefined, from })),
    ...byClient.flatMap(({ client, mappings: roles }) =>
      (roles as ApiRecord[]).map((role) => heldRole(role, { client: String(client), from })),
    ),
  ];
}

/** Returns the groups of a user, or the groups above a group, each with the groups above it. */
async function groupsOf(place: Place, kind: Kind, holder: ApiRecord): Promise<readonly ApiRecord[]> {
  const found = new Map<unknown, ApiRecord>();
  const add = async (group: ApiRecord): Promise<void> => {
    if (found.has(group['id'])) return;
    found.set(group['id'], group);
    await addAbove(group);
  };
  const addAbove = async ({ parentId }: ApiRecord): Promise<void> => {
    if (typeof parentId === 'string') await add(await read(place, inRealm(place, 'groups', parentId)));
  };
  if (kind === 'groups') await addAbove(holder);
  else {
    const path = inRealm(place, 'users', String(holder['id']), 'groups');
    for (const group of await readAll(place, path, 'groups')) {
      // The list of a user's groups may lack the parent.
      await add(await read(place, inRealm(place, 'groups', String(group['id']))));
    }
  }
  return [...found.values()];
}

async function clientOf(
  place: Place,
  { clientRole, containerId }: ApiRecord,
  clients: Map<unknown, string>,
): Promise<string | undefined> {
  if (clientRole !== true) return undefined;
  const known = clients.get(containerId);
  if (known !== undefined) return known;
  const { clientId } = await read(place, inRealm(place, 'clients', String(containerId)));
  clients.set(containerId, String(clientId));
  return String(clientId);
}
