import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type {
  AdminEvent,
  Client,
  Credential,
  LoginFailures,
  TokenFamily,
  User,
  UserEvent,
  UserSession,
} from '../../model/index.ts';
import type {
  AdminEventQuery,
  Applied,
  Change,
  EventQuery,
  FamilyInSession,
  RealmConfiguration,
  Rotation,
  RotationResult,
  SessionWithClients,
  Store,
  StoreFigures,
  Swept,
  UserQuery,
} from '../contract/index.ts';
import { toRowChange } from '../records/changes.ts';
import { readDocument, toListed, toUser } from '../records/read-rows.ts';
import {
  eventRow,
  type FamilyInSessionRow,
  familyRow,
  readFamilyInSession,
  readSession,
  sessionRow,
  type UsedSessionRow,
} from '../records/sessions.ts';
import { credentialRow, pickPlace, readCredential, readLoginFailures } from '../records/users.ts';
import type { Arguments, Tables } from '../schema.ts';
import type { RowChange } from '../verbs/verbs.ts';
import type { ConfigurationCache } from './configuration-cache.ts';
import { SqlLists } from './lists.ts';

/** Changes that are turned into rows before other work gets its turn: a few milliseconds. */
const ROWS_IN_A_TURN = 500;
/** Characters of a claim's key that are kept as they are. */
const LONGEST_KEY = 500;

/** The store, over what both databases' drivers give: rows of queries by name, and verbs. */
export abstract class SqlStore extends SqlLists implements Store {
  protected abstract readonly cache: ConfigurationCache;

  abstract figures(): Promise<StoreFigures>;
  abstract close(): Promise<void>;

  /** An SQLite database has one store that writes. */
  takeTurn(name: string): Promise<() => Promise<void>>;
  takeTurn(name: string, within?: number): Promise<(() => Promise<void>) | undefined>;
  async takeTurn(): Promise<() => Promise<void>> {
    this.checkOpen();
    return async () => {};
  }

  async listRealmNames(): Promise<readonly string[]> {
    return (await this.all('realm.names', {})).map((row) => String(row['name']));
  }

  async findRealm(name: string): Promise<RealmConfiguration | undefined> {
    this.checkOpen();
    return this.cache.realmByName(name);
  }

  async findRealmById(id: string): Promise<RealmConfiguration | undefined> {
    this.checkOpen();
    return this.cache.realmById(id);
  }

  async findClient(realmId: string, clientId: string): Promise<Client | undefined> {
    this.checkOpen();
    return this.cache.clientByName(realmId, clientId);
  }

  async findClientByUuid(realmId: string, id: string): Promise<Client | undefined> {
    this.checkOpen();
    return this.cache.clientByUuid(realmId, id);
  }

  async listClients(query: Parameters<Store['listClients']>[0]): Promise<readonly Client[]> {
    const search = query.search?.toLowerCase();
    const first = query.first ?? 0;
    const ids = (await this.all('client.ids', { realm_id: query.realmId }))
      .filter(({ client_id: name }) => query.clientId === undefined || name === query.clientId)
      .filter(({ client_id: name }) => search === undefined || String(name).toLowerCase().includes(search))
      .slice(first, query.max === undefined ? undefined : first + query.max);
    const clients = await Promise.all(
      ids.map(({ id }) => this.cache.clientByUuid(query.realmId, String(id))),
    );
    return clients.filter((client) => client !== undefined);
  }

  async findUser(realmId: string, id: string): Promise<User | undefined> {
    this.checkOpen();
    return this.cache.user(realmId, id);
  }

  async findUserByUsername(realmId: string, username: string): Promise<User | undefined> {
    return this.#user('user.byUsername', { realm_id: realmId, username });
  }

  async findUserByEmail(realmId: string, email: string): Promise<User | undefined> {
    return this.#user('user.byEmail', { realm_id: realmId, email });
  }

  async findServiceAccount(clientUuid: string): Promise<User | undefined> {
    this.checkOpen();
    return this.cache.serviceAccount(clientUuid);
  }

  async listUsers(query: UserQuery): Promise<readonly User[]> {
    const { compiler, userSearch } = await import('../queries/index.ts');
    return (await this.search(userSearch(compiler(this.dialect), this.dialect, query))).map(toUser);
  }

  async countUsers(query: UserQuery): Promise<number> {
    const { compiler, userCount } = await import('../queries/index.ts');
    const [row] = await this.search(userCount(compiler(this.dialect), this.dialect, query));
    return Number(row?.['users'] ?? 0);
  }

  async countRequiredActions(realmId: string): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { actions, users } of await this.administrative('user.requiredActions', { realm_id: realmId }))
      for (const action of JSON.parse(String(actions)) as string[])
        counts.set(action, (counts.get(action) ?? 0) + Number(users));
    return counts;
  }

  async listUsersWithRole(roleId: string, first: number, max: number): Promise<readonly User[]> {
    return (await this.administrative('user.withRole', { id: roleId, first, max, after: '' })).map(toUser);
  }

  async listGroupMembers(groupId: string, first: number, max: number): Promise<readonly User[]> {
    return (await this.administrative('user.inGroup', { id: groupId, first, max, after: '' })).map(toUser);
  }

  async listCredentials(userId: string): Promise<readonly Credential[]> {
    const rows = await this.all('credential.ofUser', { user_id: userId });
    return rows.map((row) => readCredential(row as Tables['credential'], this.sealing.keyring));
  }

  async findSomePassword(
    realmId: string,
    name: string,
  ): Promise<Pick<Credential, 'secretData' | 'credentialData'> | undefined> {
    const place = pickPlace(this.sealing.keyring, realmId, name);
    const rows = await this.all('credential.ofSome', { realm_id: realmId, place });
    for (const { doc, secret_data: secretData } of rows) {
      const { type, credentialData } = JSON.parse(String(doc)) as Credential;
      if (type === 'password' && typeof secretData === 'string') return { secretData, credentialData };
    }
    return undefined;
  }

  /** Of many changes, as an import makes them, other work gets its turn in between. */
  async #toRows(changes: readonly Change[]): Promise<RowChange[]> {
    const rows: RowChange[] = [];
    for (let from = 0; from < changes.length; from += ROWS_IN_A_TURN) {
      if (from > 0) await setImmediate();
      const part = changes.slice(from, from + ROWS_IN_A_TURN);
      rows.push(...part.map((change) => toRowChange(change, this.sealing)));
    }
    return rows;
  }

  async apply(changes: readonly Change[]): Promise<Applied> {
    // A short list is on its way at once: a store that closes finishes what was asked for before.
    const rows =
      changes.length <= ROWS_IN_A_TURN
        ? changes.map((change) => toRowChange(change, this.sealing))
        : await this.#toRows(changes);
    const applied = await this.write('apply', { changes: rows }).catch((error: unknown) => {
      // It may have been done, and only the answer was lost.
      this.cache.forgetAll();
      throw error;
    });
    // What this store remembers may be older than the database.
    if (applied.outcome === 'stale') this.cache.forgetAll();
    if (applied.outcome !== 'applied') return applied;
    this.cache.forget(applied.touched);
    return { outcome: 'applied' };
  }

  async rehashPassword(previous: Credential, next: Credential): Promise<'replaced' | 'changed'> {
    if (previous.secretData === undefined) return 'changed';
    const row = credentialRow({ ...next, id: previous.id }, this.sealing);
    const written = await this.run('credential.rehash', { ...row, previous: previous.secretData });
    return written === 1 ? 'replaced' : 'changed';
  }

  async startSession(session: UserSession, family: TokenFamily): Promise<void> {
    await this.write('startSession', {
      session: { ...sessionRow(session) },
      family: { ...familyRow(family) },
    });
  }

  async findSession(id: string, offline: boolean): Promise<UserSession | undefined> {
    const row = await this.get('session.find', { id, offline: Number(offline), now: this.now() });
    return row === undefined ? undefined : readSession(row as unknown as UsedSessionRow);
  }

  async findFamily(id: string): Promise<FamilyInSession | undefined> {
    const row = await this.get('family.find', { id });
    return row === undefined ? undefined : readFamilyInSession(row as unknown as FamilyInSessionRow);
  }

  async hasFamily(
    sessionId: string,
    offline: boolean,
    clientUuid: string,
    startedBy = Number.MAX_SAFE_INTEGER,
  ): Promise<boolean> {
    const of = { session_id: sessionId, offline: Number(offline), client_uuid: clientUuid };
    const key = { ...of, started_by: startedBy };
    return (await this.get('family.exists', key)) !== undefined;
  }

  rotateRefreshToken(rotation: Rotation): Promise<RotationResult> {
    return this.write('rotate', {
      id: rotation.familyId,
      presented: rotation.presentedHash.toString('latin1'),
      next: rotation.nextHash.toString('latin1'),
      now: rotation.now,
      single_use: rotation.singleUse,
      max_reuse: rotation.maxReuse,
    });
  }

  removeFamily(id: string): Promise<{ removed: boolean }> {
    return this.write('removeFamily', { id });
  }

  async endSession(id: string, offline: boolean): Promise<{ ended: boolean }> {
    return { ended: (await this.run('session.delete', { id, offline: Number(offline) })) === 1 };
  }

  async endUserSessions(userId: string, options: { offlineToo: boolean }): Promise<{ ended: number }> {
    const values = { user_id: userId, offline: Number(options.offlineToo) };
    return { ended: await this.write('endUserSessions', values) };
  }

  async endRealmSessions(realmId: string): Promise<{ ended: number }> {
    return { ended: await this.run('session.deleteOfRealm', { realm_id: realmId }) };
  }

  async listUserSessions(userId: string, offline: boolean): Promise<readonly SessionWithClients[]> {
    return (await this.long('session.ofUser', { user_id: userId, offline: Number(offline) })).map(toListed);
  }

  async listClientSessions(
    query: Parameters<Store['listClientSessions']>[0],
  ): Promise<readonly SessionWithClients[]> {
    const { clientUuid, offline, first, max } = query;
    const values = { client_uuid: clientUuid, offline: Number(offline), first, max, after: '' };
    return (await this.administrative('session.ofClient', values)).map(toListed);
  }

  async countClientSessions(
    realmId: string,
  ): Promise<readonly { clientUuid: string; online: number; offline: number }[]> {
    const counts = new Map<string, { clientUuid: string; online: number; offline: number }>();
    for (const row of await this.administrative('session.countByClient', { realm_id: realmId })) {
      const clientUuid = String(row['client_uuid']);
      const count = counts.get(clientUuid) ?? { clientUuid, online: 0, offline: 0 };
      count[row['offline'] === 1 ? 'offline' : 'online'] = Number(row['sessions']);
      counts.set(clientUuid, count);
    }
    return [...counts.values()];
  }

  async revokeAccessToken(jti: string, expiresAt: number): Promise<void> {
    await this.run('revoked.add', { jti, expires_at: expiresAt });
  }

  async isAccessTokenRevoked(jti: string): Promise<boolean> {
    return (await this.get('revoked.find', { jti, now: this.now() })) !== undefined;
  }

  async claimOnce(key: string, expiresAt: number): Promise<boolean> {
    const values = { name: claimName(key), expires_at: expiresAt, now: this.now() };
    return (await this.run('claim.take', values)) === 1;
  }

  async isClaimed(key: string): Promise<boolean> {
    return (await this.get('claim.find', { name: claimName(key), now: this.now() })) !== undefined;
  }

  async findLoginFailures(realmId: string, userId: string): Promise<LoginFailures | undefined> {
    const row = await this.get('failures.find', { realm_id: realmId, user_id: userId });
    return row === undefined ? undefined : readLoginFailures(row as Tables['login_failures']);
  }

  putLoginFailures(next: LoginFailures): Promise<'stored' | 'changed'> {
    const { realmId, userId, revision, ...doc } = next;
    return this.write('putLoginFailures', {
      realm_id: realmId,
      user_id: userId,
      revision,
      next: revision + 1,
      doc: JSON.stringify(doc),
    });
  }

  async removeLoginFailures(realmId: string, userId?: string): Promise<void> {
    if (userId === undefined) await this.run('failures.clear', { realm_id: realmId });
    else await this.run('failures.delete', { realm_id: realmId, user_id: userId });
  }

  async appendEvents(events: readonly UserEvent[]): Promise<void> {
    if (events.length > 0) await this.write('appendEvents', { rows: events.map(eventRow) });
  }

  async listEvents(query: EventQuery): Promise<readonly UserEvent[]> {
    const { compiler, eventSearch } = await import('../queries/index.ts');
    return (await this.search(eventSearch(compiler(this.dialect), query))).map(readDocument<UserEvent>);
  }

  async clearEvents(realmId: string): Promise<void> {
    await this.run('event.clear', { realm_id: realmId });
  }

  async listAdminEvents(query: AdminEventQuery): Promise<readonly AdminEvent[]> {
    const { adminEventSearch, compiler } = await import('../queries/index.ts');
    return (await this.search(adminEventSearch(compiler(this.dialect), query))).map(readDocument<AdminEvent>);
  }

  async clearAdminEvents(realmId: string): Promise<void> {
    await this.run('admin_event.clear', { realm_id: realmId });
  }

  sweep(now: number, limit: number): Promise<Swept> {
    return this.write('sweep', { now, limit });
  }

  async #user(query: string, values: Arguments): Promise<User | undefined> {
    const row = await this.get(query, values);
    return row === undefined ? undefined : toUser(row);
  }
}

/** An index keeps no key of any length, and part of this one is what a client chose. */
function claimName(key: string): string {
  return key.length > LONGEST_KEY ? createHash('sha256').update(key).digest('hex') : key;
}
