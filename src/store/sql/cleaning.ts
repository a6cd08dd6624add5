import type { Seconds } from '../../core/index.ts';
import type { RealmId, RealmSettings } from '../../model/index.ts';
import type { Store, Swept } from '../contract/index.ts';
import { type SessionLifetimes, sessionLifetimes } from '../records/session-lifetimes.ts';
import type { ConfigurationCache } from './configuration-cache.ts';
import { SqlEvents } from './events.ts';

/** Removes expired records, and ends many sessions at once. */
export abstract class SqlCleaning extends SqlEvents implements Pick<Store, 'sweep'> {
  protected abstract readonly cache: ConfigurationCache;
  /** Session lifetimes by realm, as of `version` of the configuration cache. */
  readonly #lifetimes = { version: -1, ofRealm: new Map<RealmId, SessionLifetimes>() };

  /**
   * Reports whether this store does the work that only one store of a database does at a time: it removes old events.
   */
  protected abstract leadsSweep(): Promise<boolean>;

  async sweep(now: Seconds, limit: number): Promise<Swept> {
    const { removed, handled } = await this.#sweepRecords(now, limit);
    if (handled >= limit || !(await this.leadsSweep())) return { removed, handled };
    const events = await this.#sweepEvents(now, limit - handled);
    return { removed: removed + events, handled: handled + events };
  }

  /** Removes one slice of sessions, logins, codes, claims and revocations. */
  async #sweepRecords(now: Seconds, limit: number): Promise<Swept> {
    const sum = { removed: 0, handled: 0 };
    for (;;) {
      const known = this.#knownLifetimes();
      const lifetimes = [...known.values()];
      const slice = { now, limit: limit - sum.handled, lifetimes, dialect: this.dialect };
      const { removed, handled, unknown } = await this.write('sweep', slice);
      sum.removed += removed;
      sum.handled += handled;
      for (const realmId of unknown) await this.#learnLifetimes(realmId, known);
      if (unknown.length === 0 || sum.handled >= limit) return sum;
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

  /** Removes events that are older than their realm allows. */
  async #sweepEvents(now: Seconds, limit: number): Promise<number> {
    let removed = 0;
    for (const { id, events_kept, admin_events_kept } of await this.long('realm.retention', {})) {
      const kept = { event: Number(events_kept ?? 0), admin_event: Number(admin_events_kept ?? 0) };
      for (const table of ['event', 'admin_event'] as const) {
        const age = kept[table];
        if (!(age > 0) || removed >= limit) continue;
        const before = (now - age) * 1000;
        removed += await this.write('removeOldest', { table, realm_id: id, before, limit: limit - removed });
      }
    }
    return removed;
  }
}
