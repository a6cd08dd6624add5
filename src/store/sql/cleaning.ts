import type { Seconds } from '../../core/index.ts';
import type { ClientUuid, RealmId, RealmSettings } from '../../model/index.ts';
import type { Applied, Change, DueRecords, Store, Swept } from '../contract/index.ts';
import { readClient } from '../records/configuration.ts';
import { ENDLESS, type SessionLifetimes, sessionLifetimes } from '../records/session-lifetimes.ts';
import { CODE_MARK } from '../verbs/sweep.ts';
import type { AppliedRows, Many, RowChange } from '../verbs/verbs.ts';
import type { ConfigurationCache } from './configuration-cache.ts';
import { SqlEvents } from './events.ts';

/** Number of users whose sessions are ended together. */
const USERS = 100;
/** Maximum number of attempts to disable a realm or client that others change at the same time. */
const ATTEMPTS = 10;

type EventTable = 'event' | 'admin_event';

/** How long a realm keeps the events of a table, in seconds. */
interface Retention {
  realmId: RealmId;
  table: EventTable;
  kept: number;
}

/** Removes expired records, and ends many sessions at once. */
export abstract class SqlCleaning
  extends SqlEvents
  implements Pick<Store, 'sweep' | 'sweepEvents' | 'listDue' | 'endUserSessions' | 'endRealmSessions'>
{
  protected abstract readonly cache: ConfigurationCache;
  /** Session lifetimes by realm, as of `version` of the configuration cache. */
  readonly #lifetimes = { version: -1, ofRealm: new Map<RealmId, SessionLifetimes>() };
  /** The realms that remove their old events, as of `version` of the configuration cache. */
  #retained: { version: number; retention: readonly Retention[] } = { version: -1, retention: [] };
  /** The times in milliseconds before which this sweep has left no events, by table and realm. */
  readonly #gone = new Map<string, number>();
  /** Place in `#retained` of the events that were removed last. */
  #lastRemoved = { realmId: '', table: '' };

  /**
   * Reports whether this store does the work that only one store of a database does at a time: it removes old events.
   * `fault` is the error of other such work.
   */
  protected abstract leadsSweep(): Promise<{ leads: boolean; fault?: unknown }>;

  abstract apply(changes: readonly Change[]): Promise<Applied>;

  /**
   * Applies changes, and drops what they touch from the caches of all stores.
   *
   * @param unbounded ids of records for which the result is not `Many`
   */
  protected abstract applyRows(
    changes: readonly RowChange[],
    unbounded: readonly string[],
  ): Promise<AppliedRows>;

  async endUserSessions(userId: string, options: { offlineToo: boolean }): Promise<{ ended: number }> {
    const offline = Number(options.offlineToo);
    // The first slice also ends unfinished logins and unexchanged codes, so that no session can start from them.
    const ended = await this.inSlices((limit) =>
      this.write('endUserSessions', { user_id: userId, offline, limit }),
    );
    return { ended };
  }

  async endRealmSessions(realmId: RealmId): Promise<{ ended: number }> {
    let ended = 0;
    for await (const userIds of this.#userIds(realmId)) ended += await this.#endSessions(userIds, 0);
    return { ended };
  }

  /**
   * Removes the records that depend on a record, in slices. A realm or client is disabled first, so that nobody uses
   * what is left of it if the removal is interrupted.
   *
   * @param onEnded called with the id of a user after each slice that ended sessions of this user
   */
  protected async removeMany(
    { of, id, offline, keep }: Many,
    onEnded: (userId: string) => void,
  ): Promise<void> {
    const trash =
      keep === undefined || of === 'account' || of === 'role'
        ? undefined
        : await this.write('openEntry', { table: of, id, keep });
    if (of === 'account') await this.#endSessions([id], offline, () => onEnded(id));
    else if (of === 'client') await this.#emptyClient(id, onEnded, trash);
    else if (of === 'realm') await this.#emptyRealm(id, trash);
    else if (of === 'role')
      await this.#removeUsersOfRoles([id], (await this.get('role.byId', { id }))?.realm_id);
    else await this.#removeMembers(id, trash);
  }

  async #emptyClient(
    client_uuid: ClientUuid,
    onEnded: (userId: string) => void,
    trash: string | undefined,
  ): Promise<void> {
    await this.#disable(async () => {
      const row = await this.get('client.byId', { id: client_uuid });
      if (row === undefined) return undefined;
      const client = readClient(row, this.sealing.keyring);
      return client.enabled ? { do: 'put', client: { ...client, enabled: false } } : undefined;
    });
    await this.inSlices((limit) => this.write('removeFamiliesOfClient', { client_uuid, limit }));
    await this.inSlices((limit) =>
      trash === undefined
        ? this.run('slice.deleteConsents', { client_uuid, limit })
        : this.write('keepSlice', { trash, what: 'consents', client_uuid, limit }),
    );
    for (const { id } of await this.all('slice.serviceAccounts', { client_uuid }))
      await this.#endSessions([id], 1, () => onEnded(id));
    const roles = await this.all('role.ofClient', { client_uuid });
    const row = await this.get('client.byId', { id: client_uuid });
    const roleIds = roles.map(({ id }) => id);
    if (roleIds.length > 0) await this.#removeUsersOfRoles(roleIds, row?.realm_id, trash);
  }

  async #removeUsersOfRoles(
    role_ids: readonly string[],
    realmId: RealmId | undefined,
    trash?: string,
  ): Promise<void> {
    await this.#unlinkUsers(realmId, (limit) =>
      trash === undefined
        ? this.run('slice.deleteUsersOfRoles', { role_ids, limit })
        : this.write('keepSlice', { trash, what: 'usersOfRoles', ids: role_ids, limit }),
    );
  }

  /** Removes the members of a group and of its subgroups. */
  async #removeMembers(id: string, trash: string | undefined): Promise<void> {
    const group = await this.get('realm_group.byId', { id });
    const group_ids = (await this.all('slice.subtree', { id })).map((row) => row.id);
    await this.#unlinkUsers(group?.realm_id, (limit) =>
      trash === undefined
        ? this.run('slice.deleteMembers', { group_ids, limit })
        : this.write('keepSlice', { trash, what: 'members', ids: group_ids, limit }),
    );
  }

  /** Removes links from users to roles or groups in slices. The caches then drop the users, even after an error. */
  async #unlinkUsers(
    realmId: RealmId | undefined,
    remove: (limit: number) => Promise<number>,
  ): Promise<void> {
    if (realmId === undefined) return;
    let removed = 0;
    try {
      await this.inSlices(async (limit) => {
        const slice = await remove(limit);
        removed += slice;
        return slice;
      });
    } finally {
      if (removed > 0) await this.#forgetUsers(realmId);
    }
  }

  /** @param change returns the change that disables the record, or undefined if it is disabled or does not exist */
  async #disable(change: () => Promise<Change | undefined>): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const next = await change();
      if (next === undefined || (await this.apply([next])).outcome === 'applied') return;
    }
  }

  protected async clearFailures(realm_id: RealmId): Promise<void> {
    await this.inSlices((limit) => this.run('slice.deleteFailures', { realm_id, limit }));
  }

  async #emptyRealm(realmId: RealmId, trash: string | undefined): Promise<void> {
    await this.#disable(async () => {
      const realm = (await this.cache.realmById(realmId))?.realm;
      if (!realm?.settings.enabled) return undefined;
      return { do: 'put', realm: { ...realm, settings: { ...realm.settings, enabled: false } } };
    });
    await this.clearEvents(realmId);
    await this.clearAdminEvents(realmId);
    await this.clearFailures(realmId);
    for await (const user_ids of this.#userIds(realmId)) {
      await this.#endSessions(user_ids, 1);
      await this.#removeUsers(realmId, user_ids, trash);
    }
  }

  /** Removes users of a realm, and drops the realm's users from the caches of all stores. */
  async #removeUsers(
    realmId: RealmId,
    user_ids: readonly string[],
    trash: string | undefined,
  ): Promise<void> {
    if (trash === undefined) await this.run('slice.deleteUsers', { user_ids });
    else await this.write('keepSlice', { trash, what: 'users', user_ids });
    await this.#forgetUsers(realmId);
  }

  /** Drops all users of a realm from the caches of all stores. */
  async #forgetUsers(realmId: RealmId): Promise<void> {
    await this.applyRows([{ do: 'forgetUsers', realmId }], []);
  }

  #endSessions(user_ids: readonly string[], offline: number, onEnded?: () => void): Promise<number> {
    return this.inSlices(async (limit) => {
      const ended = await this.run('slice.deleteSessions', { user_ids, offline, limit });
      if (ended > 0) onEnded?.();
      return ended;
    });
  }

  /** Lists the ids of a realm's users page by page. */
  async *#userIds(realmId: RealmId): AsyncIterable<readonly string[]> {
    for (let after = ''; ; ) {
      const rows = await this.all('slice.users', { realm_id: realmId, after, limit: USERS });
      if (rows.length > 0) yield rows.map(({ id }) => id);
      if (rows.length < USERS) return;
      after = rows.at(-1)?.id ?? '';
    }
  }

  async listDue(now: Seconds): Promise<readonly DueRecords[]> {
    const before = now - CODE_MARK;
    const [rows, events] = await Promise.all([
      this.all('sweep.backlog', { now, before, hour: Math.floor(now / 3600) }),
      this.#dueEvents(now),
    ]);
    const others = rows.map(({ due_kind: kind, records, oldest }) => {
      const since = Number(oldest ?? now) + (kind === 'codes' ? CODE_MARK : 0);
      return {
        kind,
        records: Number(records),
        overdueSeconds: oldest === null ? 0 : Math.max(0, now - since),
      };
    });
    return [...others, ...events];
  }

  async #dueEvents(now: Seconds): Promise<readonly DueRecords[]> {
    const rows = await this.all('sweep.eventBacklog', this.#keptEvents(await this.#retention(), now));
    return rows.map(({ event_kind: kind, records, overdue }) => ({
      kind,
      records: Number(records),
      overdueSeconds: Math.max(0, Number(overdue ?? 0) / 1000),
    }));
  }

  /** Returns the realms that remove their old events. Reads them only after the configuration has changed. */
  async #retention(): Promise<readonly Retention[]> {
    const { version } = this.cache;
    if (this.#retained.version === version) return this.#retained.retention;
    const realms = await this.long('realm.retention', {});
    const retention = realms.flatMap(({ id, events_kept, admin_events_kept }) => {
      const values = { event: Number(events_kept ?? 0), admin_event: Number(admin_events_kept ?? 0) };
      return (['event', 'admin_event'] as const).flatMap((table) =>
        values[table] > 0 ? [{ realmId: id, table, kept: Math.min(Math.ceil(values[table]), ENDLESS) }] : [],
      );
    });
    retention.sort((a, b) => (isAfter(a, b) ? 1 : -1));
    this.#retained = { version, retention };
    return retention;
  }

  async sweep(now: Seconds, limit: number): Promise<Swept> {
    const sum = { removed: 0, handled: 0 };
    // One slice uses the same lifetimes throughout. Otherwise changes in quick succession could make it start again
    // without end.
    const known = this.#knownLifetimes();
    for (;;) {
      const lifetimes = [...known.values()];
      const slice = { now, limit: limit - sum.handled, lifetimes, dialect: this.dialect };
      const { removed, handled, more, unknown } = await this.write('sweep', slice);
      sum.removed += removed;
      sum.handled += handled;
      for (const realmId of unknown) await this.#learnLifetimes(realmId, known);
      if (unknown.length === 0 || sum.handled >= limit)
        return { ...sum, more: sum.handled > 0 && (more || unknown.length > 0) };
    }
  }

  /** Returns the lifetimes that were read since the configuration last changed. */
  #knownLifetimes(): Map<RealmId, SessionLifetimes> {
    const { version } = this.cache;
    if (this.#lifetimes.version !== version) {
      this.#lifetimes.version = version;
      this.#lifetimes.ofRealm = new Map();
    }
    return this.#lifetimes.ofRealm;
  }

  async #learnLifetimes(realmId: RealmId, known: Map<RealmId, SessionLifetimes>): Promise<void> {
    const [realm, clients] = await Promise.all([
      this.get('realm.byId', { id: realmId }),
      this.long('client.withLifetimes', { realm_id: realmId }),
    ]);
    // The realm may have been removed meanwhile, and its sessions with it.
    if (realm === undefined) return;
    const { settings }: { settings: RealmSettings } = JSON.parse(realm.doc);
    const attributes = clients.map(({ doc }) => {
      const client: { attributes?: Record<string, string> } = JSON.parse(doc);
      return client.attributes ?? {};
    });
    known.set(realmId, sessionLifetimes(realmId, settings, attributes));
  }

  async sweepEvents(now: Seconds, limit: number): Promise<Swept> {
    const sum = { removed: 0, handled: 0 };
    const { leads, ...fault } = await this.leadsSweep();
    if (!leads) {
      this.#gone.clear();
      return { ...sum, more: false };
    }
    for (const { realmId, table, kept } of await this.#withOldEvents(now)) {
      if (sum.handled >= limit) break;
      const before = firstKept(now, kept);
      const from = this.#gone.get(keyOf({ realmId, table })) ?? 0;
      const slice = { table, realm_id: realmId, from, before, limit: limit - sum.handled };
      const { removed, handled, gone } = await this.write('removeOldest', slice);
      this.#gone.set(keyOf({ realmId, table }), gone);
      this.#lastRemoved = { realmId, table };
      sum.removed += removed;
      sum.handled += handled;
    }
    const more = sum.handled >= limit;
    // The next sweep also finds events that were stored late.
    if (!more) this.#gone.clear();
    return { ...sum, more, ...fault };
  }

  /**
   * Returns the realms with events that they no longer keep. Those after `#lastRemoved` come first, so that a realm that
   * always has such events does not delay the others.
   */
  async #withOldEvents(now: Seconds): Promise<readonly Retention[]> {
    const retention = await this.#retention();
    if (retention.length === 0) return [];
    const rows = await this.long('sweep.realmsWithOldEvents', this.#keptEvents(retention, now));
    const found = new Set(rows.map(({ kind, owner }) => `${kind} ${owner}`));
    const old = retention.filter((one) => found.has(keyOf(one)));
    const next = old.findIndex((one) => isAfter(one, this.#lastRemoved));
    return next === -1 ? old : [...old.slice(next), ...old.slice(0, next)];
  }

  /**
   * The arguments of queries about old events: JSON arrays of realms, each with the first time that it keeps and the
   * time before which this sweep has left none.
   */
  #keptEvents(retention: readonly Retention[], now: Seconds) {
    const of = (table: EventTable) =>
      JSON.stringify(
        retention.flatMap((one) =>
          one.table === table
            ? [
                {
                  realm_id: one.realmId,
                  since: firstKept(now, one.kept),
                  gone: this.#gone.get(keyOf(one)) ?? 0,
                },
              ]
            : [],
        ),
      );
    return { kept_events: of('event'), kept_admin_events: of('admin_event') };
  }
}

function keyOf({ table, realmId }: Pick<Retention, 'table' | 'realmId'>): string {
  return `${table} ${realmId}`;
}

/** Compares two places in the order of realms and tables. */
function isAfter(
  one: { realmId: string; table: string },
  other: { realmId: string; table: string },
): boolean {
  return one.realmId === other.realmId ? one.table > other.table : one.realmId > other.realmId;
}

/** The first time in milliseconds that a realm keeps. */
function firstKept(now: Seconds, kept: number): number {
  return (now - kept) * 1000;
}
