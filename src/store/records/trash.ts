import type { KeptUntil, TrashEntry } from '../contract/index.ts';
import { FILLING, RETURNING, type TrashRow } from '../schema.ts';
import type { Kept } from '../verbs/keep.ts';

export function keptRow({ id, at, by, expiresAt, ownerId }: KeptUntil): Kept {
  const doc = JSON.stringify({ by });
  return { id, deleted_at: at, expires_at: expiresAt, owner_id: ownerId ?? null, doc };
}

export function readTrash(row: TrashRow): TrashEntry {
  const { by }: { by: TrashEntry['deletedBy'] } = JSON.parse(row.doc);
  const state = row.state === FILLING ? 'deleting' : row.state === RETURNING ? 'restoring' : 'whole';
  return {
    id: row.id,
    realmId: row.realm_id,
    kind: row.kind,
    recordId: row.record_id,
    name: row.name,
    deletedAt: row.deleted_at,
    deletedBy: by,
    expiresAt: row.expires_at,
    state,
  };
}
