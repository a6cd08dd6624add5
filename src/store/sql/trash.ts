import { setTimeout as sleep } from 'node:timers/promises';
import { type Seconds, SliceSize } from '../../core/index.ts';
import type { AdminEvent } from '../../model/index.ts';
import type { Dropped, Restored, Swept, TrashAuthority, TrashEntry, TrashStore } from '../contract/index.ts';
import { adminEventRow } from '../records/events.ts';
import { readTrash } from '../records/trash.ts';
import { ERASING, type TrashRow } from '../schema.ts';
import { rangeOf } from '../verbs/restore-trash.ts';
import { SqlCleaning } from './cleaning.ts';

/** Maximum number of left out links that a restore returns. */
const REPORTED = 100;
/** Number of expired entries that are read together. */
const EXPIRED = 20;
/** Number of parts that are read together to find what an entry grants. */
const PAGE = 500;

/** Lists, restores and erases deleted records. */
export abstract class SqlTrash extends SqlCleaning implements TrashStore {
  async listTrash(query: Parameters<TrashStore['listTrash']>[0]): Promise<readonly TrashEntry[]> {
    const { realmId, kinds, search, first, max } = query;
    const values = { realm_id: realmId, kinds, search, first, max };
    return (await this.administrative('trash.list', values)).map(readTrash);
  }

  async listDeletedRealms(
    query: Parameters<TrashStore['listDeletedRealms']>[0],
  ): Promise<readonly TrashEntry[]> {
    return (await this.administrative('trash.realms', { ...query })).map(readTrash);
  }

  async findTrash(id: string): Promise<TrashEntry | undefined> {
    const row = await this.#row(id);
    return row === undefined || row.owner_id !== null ? undefined : readTrash(row);
  }

  async #row(id: string): Promise<TrashRow | undefined> {
    const row = await this.get('trash.byId', { id });
    return row === undefined || row.state === ERASING ? undefined : row;
  }

  async trashAuthority(id: string): Promise<TrashAuthority> {
    const roleIds = new Set<string>();
    const groupIds = new Set<string>();
    for await (const { table, doc } of this.#parts(id, ['role', 'realm_group', 'user_role', 'user_group'])) {
      if (table === 'user_role') roleIds.add(String(doc['role_id']));
      else if (table === 'user_group') groupIds.add(String(doc['group_id']));
      else {
        const inner: { compositeIds?: string[]; roleIds?: string[] } = JSON.parse(String(doc['doc']));
        for (const roleId of [...(inner.compositeIds ?? []), ...(inner.roleIds ?? [])]) roleIds.add(roleId);
        if (table === 'realm_group' && typeof doc['parent_id'] === 'string') groupIds.add(doc['parent_id']);
      }
    }
    return { roleIds: [...roleIds], groupIds: [...groupIds] };
  }

  /** Reads the parts of an entry, table by table. */
  async *#parts(
    id: string,
    tables: readonly string[],
  ): AsyncIterable<{ table: string; doc: Record<string, unknown> }> {
    for (const table of tables) {
      const range = rangeOf(id, table);
      for (let { from } = range; ; ) {
        const page = await this.administrative('trash_part.inRange', { ...range, from, limit: PAGE });
        for (const { doc } of page) yield { table, doc: JSON.parse(doc) };
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) break;
        // The next id in the order of the database starts with this text.
        from = `${last.id}\u0001`;
      }
    }
  }

  async restoreTrash(id: string, adminEvents: readonly AdminEvent[], name?: string): Promise<Restored> {
    const row = await this.#row(id);
    if (row === undefined || row.owner_id !== null) return { outcome: 'gone' };
    const records = adminEvents.map(adminEventRow);
    const size = new SliceSize(this.sliceMilliseconds);
    const dropped: Dropped[] = [];
    for (;;) {
      const began = performance.now();
      const applied = await this.applyRows([{ do: 'restore', id, limit: size.limit, name, records }], []);
      if (applied.outcome === 'conflict' || applied.outcome === 'missing') return applied;
      if (applied.outcome !== 'applied' || applied.restored === undefined)
        throw new Error(`the restore of ${id} has the unexpected outcome ${applied.outcome}`);
      const { restored } = applied;
      if (restored.outcome === 'gone') return { outcome: 'gone' };
      dropped.push(...restored.dropped.slice(0, REPORTED - dropped.length));
      if (restored.outcome === 'restored') return { outcome: 'restored', entry: readTrash(row), dropped };
      await sleep(size.adapt(performance.now() - began));
    }
  }

  async eraseTrash(id: string, adminEvents: readonly AdminEvent[]): Promise<'erased' | 'missing' | 'busy'> {
    const row = await this.#row(id);
    if (row === undefined || row.owner_id !== null) return 'missing';
    return (await this.#erase(id, adminEvents)).outcome;
  }

  async #erase(
    id: string,
    adminEvents: readonly AdminEvent[],
  ): Promise<{ outcome: 'erased' | 'missing' | 'busy'; removed: number }> {
    const records = adminEvents.map(adminEventRow);
    let outcome: 'erased' | 'missing' | 'busy' = 'erased';
    const removed = await this.inSlices(async (limit) => {
      const slice = await this.write('eraseSlice', { id, limit, records });
      if (typeof slice === 'number') return slice;
      outcome = slice;
      return 0;
    });
    // If another call finished the removal, the entry is gone after some slices.
    return { outcome: removed > 0 ? 'erased' : outcome, removed };
  }

  async sweepTrash(
    now: Seconds,
    limit: number,
    expired: (entry: TrashEntry) => Promise<readonly AdminEvent[]> = async () => [],
  ): Promise<Swept> {
    const sum = { removed: 0, handled: 0 };
    const { leads, ...fault } = await this.leadsSweep();
    if (!leads) return { ...sum, more: false };
    const rows = await this.all('trash.expired', { now, limit: Math.min(limit, EXPIRED) });
    for (const row of rows) {
      const events = row.state === ERASING || row.owner_id !== null ? [] : await expired(readTrash(row));
      const { outcome } = await this.#erase(row.id, events);
      if (outcome === 'erased') sum.removed++;
      sum.handled++;
    }
    return { ...sum, more: rows.length === Math.min(limit, EXPIRED), ...fault };
  }
}
