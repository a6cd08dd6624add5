import type { Kysely } from 'kysely';
import type { AdminEvent, RealmId, UserEvent } from '../../model/index.ts';
import type { AdminEventQuery, EventQuery, EventStore } from '../contract/index.ts';
import { INDEX_EVENTS } from '../migrations/event-indexes.ts';
import type { EventFilters, EventIndex, EventSearch } from '../queries/event-search.ts';
import { eventRow, readDocument } from '../records/events.ts';
import type { Tables } from '../schema.ts';
import { inPages, SqlLists } from './lists.ts';

/** Maximum number of events that a comparison of two indexes counts. */
const COUNTED = 2_000;
/** Maximum number of values of one column that a search enumerates. */
const VALUES = 200;

type EventRow = Pick<Tables['event'], 'doc' | 'time' | 'seq'>;
/** Returns the query for one page, or undefined if no event matches. */
type Plan = (page: EventSearch) => ReturnType<EventSearch['page']> | undefined;

/** Stores and lists events. */
export abstract class SqlEvents extends SqlLists implements EventStore {
  async appendEvents(events: readonly UserEvent[]): Promise<void> {
    if (events.length > 0) await this.write('appendEvents', { rows: events.map(eventRow) });
  }

  async listEvents(query: EventQuery): Promise<readonly UserEvent[]> {
    const { eventFilters } = await import('../queries/index.ts');
    return (await this.#listAll(eventFilters(query))).map(readDocument<UserEvent>);
  }

  async *eventPages(query: EventQuery): AsyncIterable<readonly UserEvent[]> {
    const { eventFilters } = await import('../queries/index.ts');
    for await (const rows of this.#pages(eventFilters(query))) yield rows.map(readDocument<UserEvent>);
  }

  async listAdminEvents(query: AdminEventQuery): Promise<readonly AdminEvent[]> {
    const { adminEventFilters } = await import('../queries/index.ts');
    return (await this.#listAll(adminEventFilters(query))).map(readDocument<AdminEvent>);
  }

  async *adminEventPages(query: AdminEventQuery): AsyncIterable<readonly AdminEvent[]> {
    const { adminEventFilters } = await import('../queries/index.ts');
    for await (const rows of this.#pages(adminEventFilters(query))) yield rows.map(readDocument<AdminEvent>);
  }

  async clearEvents(realmId: RealmId): Promise<void> {
    await this.#clear('event', realmId);
  }

  async clearAdminEvents(realmId: RealmId): Promise<void> {
    await this.#clear('admin_event', realmId);
  }

  async #clear(table: 'event' | 'admin_event', realm_id: RealmId): Promise<void> {
    if (this.dialect === 'sqlite' && !(await this.isMigrated(INDEX_EVENTS.name)))
      await this.inSlices((limit) => this.run(`${table}.clearUnmoved`, { realm_id, limit }));
    const before = Number.MAX_SAFE_INTEGER;
    let from = 0;
    await this.inSlices(async (limit) => {
      const { handled, gone } = await this.write('removeOldest', { table, realm_id, from, before, limit });
      from = gone;
      return handled;
    });
  }

  async #listAll(filters: EventFilters): Promise<EventRow[]> {
    const open = await this.#searches();
    const search = open(filters);
    return this.#run((await this.#plan(filters, search))(search));
  }

  async *#pages(filters: EventFilters): AsyncIterable<EventRow[]> {
    const open = await this.#searches();
    const plan = await this.#plan(filters, open(filters));
    yield* inPages<EventRow>(filters, ({ first, max, after }) => {
      const before = after === undefined ? {} : { before: { time: after.time, seq: after.seq } };
      return this.#run(plan(open({ ...filters, first, max, range: { ...filters.range, ...before } })));
    });
  }

  async #run(query: ReturnType<Plan>): Promise<EventRow[]> {
    return query === undefined ? [] : this.search(query);
  }

  async #searches(): Promise<(filters: EventFilters) => EventSearch> {
    const { compiler, EventSearch } = await import('../queries/index.ts');
    const db: Kysely<Tables> = compiler(this.dialect);
    return (filters) => new EventSearch(db, this.dialect, filters);
  }

  /** Chooses the index of a search, and the parts of the index that it reads. */
  async #plan(filters: EventFilters, search: EventSearch): Promise<Plan> {
    if (!(await this.isMigrated(INDEX_EVENTS.name))) return (page) => page.slowPage();
    const { usableIndexes } = await import('../queries/index.ts');
    const indexes = usableIndexes(filters);
    const index = indexes.length > 1 ? await this.#smallest(indexes, search) : indexes[0];
    if (index !== undefined) {
      const branches = await this.#branches(index, filters, search);
      if (branches !== undefined) return (page) => (branches.length === 0 ? undefined : page.page(branches));
    } else if (filters.path !== undefined && !filters.path.startsWith('*')) {
      const [counted] = await this.search(search.paths(COUNTED));
      const isRare = Number(counted?.size) < COUNTED;
      return (page) => page.page([{}], isRare);
    }
    return (page) => page.page([{}]);
  }

  /** Returns the index in which the given columns match the fewest events. */
  async #smallest(indexes: readonly EventIndex[], search: EventSearch): Promise<EventIndex | undefined> {
    const [sizes = {}] = await this.search(search.sizes(indexes, COUNTED));
    const size = (i: number) => Number(sizes[`size_${i}`]);
    return indexes
      .map((index, i) => ({ index, size: size(i) }))
      .toSorted((one, other) => one.size - other.size)[0]?.index;
  }

  /**
   * Returns the values of the index's columns in each part to read. Enumerates the values of columns that the search
   * does not filter by. Returns undefined if there are too many.
   */
  async #branches(
    { columns, given }: EventIndex,
    filters: EventFilters,
    search: EventSearch,
  ): Promise<readonly Readonly<Record<string, string>>[] | undefined> {
    let branches: readonly Readonly<Record<string, string>>[] = [{}];
    for (const [i, column] of columns.entries()) {
      let values = filters.columns[column];
      if (values === undefined) {
        const before = given.filter((one) => columns.indexOf(one) < i);
        values = (await this.search(search.values(column, before, VALUES))).map(({ value }) => value);
      }
      branches = branches.flatMap((branch) =>
        (values ?? []).map((value) => ({ ...branch, [column]: value })),
      );
      if (branches.length >= VALUES) return undefined;
    }
    return branches;
  }
}
