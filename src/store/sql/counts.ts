import { IdkitError } from '../../core/index.ts';
import type { ClientUuid, RealmId } from '../../model/index.ts';
import type {
  CheckedCounts,
  CountCheck,
  CountDrift,
  CountFigures,
  CountStore,
  StoreFigures,
} from '../contract/index.ts';
import type { RowOf } from '../queries/compiled/types.ts';
import { toFigures } from '../records/events.ts';
import { idText } from '../records/id-bytes.ts';
import { SESSION_ROWS } from '../verbs/move-sessions.ts';
import { SqlBackground } from './background.ts';

/** The checks in the order in which they run, each with its query. */
const CHECKS = {
  users: 'count.driftOfUsers',
  sessions: 'count.driftOfSessions',
  families: 'count.driftOfFamilies',
  logins: 'count.driftOfLogins',
  actions: 'count.driftOfActions',
} as const satisfies Record<CountCheck, string>;

/** The query that a check runs. */
export type DriftQuery = (typeof CHECKS)[CountCheck];

/** Age in seconds of a check after which it runs again. */
const CHECK_AGAIN = 86_400;
/** Time in milliseconds for which the store remembers that a check has never run. */
const LOOK_AGAIN_MS = 2_000;

type Sessions = { clientUuid: ClientUuid; online: number; offline: number };

/** Reads and checks the kept counts (see migrations/0006-counts.ts) of both databases. */
export abstract class SqlCounts extends SqlBackground implements CountStore {
  readonly #kept = new Set<string>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * Runs the slow query of a check so that it delays no other read. Returns undefined if another store is running one.
   */
  protected abstract readDrift(query: DriftQuery): Promise<readonly CountDrift[] | undefined>;

  async checkCounts(): Promise<CheckedCounts | undefined> {
    const rows = new Map((await this.#checks()).map((row) => [row.kind, row]));
    const now = this.now();
    for (const check of Object.keys(CHECKS) as CountCheck[]) {
      const row = rows.get(check);
      if (row !== undefined && row.checked_at > now - CHECK_AGAIN && row.checked_at <= now) continue;
      const drifts = await this.readDrift(CHECKS[check]);
      if (drifts === undefined) return undefined;
      const generation = row?.generation ?? 0;
      const input = { check, generation, now: this.now(), drifts };
      // Otherwise another store has ended the same check.
      if (!(await this.write('correctCounts', input))) continue;
      return { check, isFirst: row === undefined, drifts };
    }
    return undefined;
  }

  /** Reports whether the counts of a check are complete. */
  protected async areKept(check: CountCheck): Promise<boolean> {
    if (this.#kept.has(check)) return true;
    if (performance.now() < this.#lookedAt + LOOK_AGAIN_MS) return false;
    await this.#checks();
    return this.#kept.has(check);
  }

  async #checks(): Promise<RowOf<'count.checks'>[]> {
    const rows = this.hasCounts() ? await this.all('count.checks', {}) : [];
    this.#lookedAt = performance.now();
    for (const { kind } of rows) this.#kept.add(kind);
    return rows;
  }

  /** Returns the number of a realm's users without service accounts. Returns undefined if the count is not kept yet. */
  protected async keptUsers(realmId: RealmId): Promise<number | undefined> {
    if (!(await this.areKept('users'))) return undefined;
    return (await this.get('count.ofOwner', { kind: 'users', owner: realmId }))?.amount ?? 0;
  }

  async countUnverifiedUsers(realmId: RealmId): Promise<number> {
    const [row] = await this.administrative('user.unverified', { realm_id: realmId });
    return Number(row?.users ?? 0);
  }

  async countRequiredActions(realmId: RealmId): Promise<ReadonlyMap<string, number>> {
    const values = { realm_id: realmId };
    const rows = (await this.areKept('actions'))
      ? await this.all('count.ofActions', values)
      : (await this.administrative('user.requiredActions', values)).map(({ actions, users }) => ({
          actions,
          amount: users,
        }));
    const counts = new Map<string, number>();
    for (const { actions, amount } of rows) {
      const names: readonly string[] = JSON.parse(actions) ?? [];
      if (amount > 0) for (const name of names) counts.set(name, (counts.get(name) ?? 0) + amount);
    }
    return counts;
  }

  async countSessionsOfClient(clientUuid: ClientUuid): Promise<{ online: number; offline: number }> {
    if (!(await this.areKept('families'))) {
      const rows = await this.administrative('session.countOfClient', { client_uuid: clientUuid });
      return bothCounts(rows.map(({ offline, sessions }) => [offline === 1, sessions]));
    }
    const rows = (await this.isMigrated(SESSION_ROWS))
      ? await this.all('count.ofClient', { client_uuid: clientUuid })
      : await this.administrative('count.ofClientAndUnmoved', {
          client_uuid: clientUuid,
          client: clientUuid,
        });
    return bothCounts(rows.map(({ kind, amount }) => [kind === 'clientOfflineSessions', amount]));
  }

  async countClientSessions(realmId: RealmId): Promise<readonly Sessions[]> {
    const counts = new Map<string, Sessions>();
    const add = (clientUuid: ClientUuid, isOffline: boolean, sessions: number) => {
      if (sessions === 0) return;
      const count = counts.get(clientUuid) ?? { clientUuid, online: 0, offline: 0 };
      count[isOffline ? 'offline' : 'online'] = sessions;
      counts.set(clientUuid, count);
    };
    if (await this.areKept('families'))
      for (const { kind, owner, amount } of await this.#clientCounts(realmId))
        add(idText(Buffer.from(owner, 'hex')), kind === 'clientOfflineSessions', amount);
    else
      for (const row of await this.administrative('session.countByClient', { realm_id: realmId }))
        add(row.client_uuid, row.offline === 1, row.sessions);
    return [...counts.values()];
  }

  async #clientCounts(realmId: RealmId): Promise<RowOf<'count.ofClients'>[]> {
    const isMigrated = await this.isMigrated(SESSION_ROWS);
    return this.administrative(isMigrated ? 'count.ofClients' : 'count.ofClientsAndUnmoved', {
      realm_id: realmId,
    });
  }

  /** Returns the figures. Counts records only until the first check of an older database. */
  protected async readFigures(
    database: Pick<StoreFigures, 'schemaVersion' | 'databaseBytes'>,
  ): Promise<StoreFigures> {
    const [checks, totals, realms] = await Promise.all([
      this.#checks(),
      this.#totals(),
      this.get('count.realms', {}),
    ]);
    const isKept = Object.keys(CHECKS).every((check) => this.#kept.has(check));
    const figures: CountFigures = {
      countDrift: checks.reduce((sum, { drift }) => sum + drift, 0),
      countsCheckedAt: isKept ? Math.min(...checks.map((row) => row.checked_at)) : undefined,
    };
    if (!isKept) {
      const [counts] = await this.administrative('figures', {});
      if (counts === undefined) throw new IdkitError('IDKIT_BUG', 'the query "figures" returned no row');
      return { ...toFigures(counts, database), ...figures };
    }
    const amount = (kind: string) => totals.get(kind) ?? 0;
    return {
      ...database,
      realms: realms?.realms ?? 0,
      users: amount('users'),
      userSessions: amount('sessions'),
      offlineSessions: amount('offlineSessions'),
      tokenFamilies: amount('families'),
      openLogins: amount('logins'),
      ...figures,
    };
  }

  async #totals(): Promise<ReadonlyMap<string, number>> {
    if (!this.hasCounts()) return new Map();
    const rows = (await this.isMigrated(SESSION_ROWS))
      ? await this.all('count.totals', {})
      : await this.administrative('count.totalsAndUnmoved', {});
    return new Map(rows.map(({ kind, amount }) => [kind, amount]));
  }
}

function bothCounts(counts: readonly (readonly [isOffline: boolean, sessions: number])[]): {
  online: number;
  offline: number;
} {
  const of = (offline: boolean) => counts.find(([isOffline]) => isOffline === offline)?.[1] ?? 0;
  return { online: of(false), offline: of(true) };
}
