import { createHash } from 'node:crypto';
import { isAdministrative, mapInSlices, type Seconds, Slices } from '../../core/index.ts';
import type {
  Client,
  ClientId,
  ClientUuid,
  Credential,
  FamilyId,
  LoginFailures,
  RealmId,
  SessionId,
  TokenFamily,
  User,
  UserSession,
} from '../../model/index.ts';
import type {
  Applied,
  Change,
  FamilyInSession,
  RealmConfiguration,
  Rotation,
  RotationResult,
  SessionWithClients,
  Store,
  StoreFigures,
  UserQuery,
} from '../contract/index.ts';
import type { RowOf, SlotsOf } from '../queries/compiled/types.ts';
import { toRowChange } from '../records/changes.ts';
import {
  familyRow,
  readFamilyInSession,
  readListedSession,
  readSession,
  sessionRow,
} from '../records/sessions.ts';
import { credentialRow, pickPlace, readCredential, readLoginFailures, readUser } from '../records/users.ts';
import type { Answer } from '../schema.ts';
import { possiblyTouched } from '../verbs/apply.ts';
import type { AppliedRows, RowChange, Verbs } from '../verbs/verbs.ts';

import { collect } from './lists.ts';
import { SqlTrash } from './trash.ts';

/** Maximum number of changes that are converted into rows at once. Converting them takes a few milliseconds. */
const ROWS_IN_A_TURN = 100;
/** Number of clients that are read together. Reading them takes a fraction of a millisecond. */
const CLIENTS_TOGETHER = 5;
/** How often `apply` removes the dependents of a record in slices before one transaction removes the rest. */
const SLICED = 5;
/** Maximum length of a key of `claimOnce` in characters. A longer key is hashed. */
const LONGEST_KEY = 500;

/** Implements the store on top of the operations that both drivers provide. */
export abstract class SqlStore extends SqlTrash implements Store {
  abstract figures(): Promise<StoreFigures>;
  abstract lanes(): ReturnType<Store['lanes']>;
  abstract listServices(): ReturnType<Store['listServices']>;
  abstract close(): Promise<void>;

  /** Returns immediately, because a SQLite database has only one store that writes. */
  takeTurn(name: string): Promise<() => Promise<void>>;
  takeTurn(name: string, within?: number): Promise<(() => Promise<void>) | undefined>;
  async takeTurn(): Promise<() => Promise<void>> {
    this.checkOpen();
    return async () => {};
  }

  async listRealmNames(): Promise<readonly string[]> {
    return (await this.all('realm.names', {})).map((row) => row.name);
  }

  async hasRealm(name: string): Promise<boolean> {
    return (await this.get('realm.idByName', { name })) !== undefined;
  }

  async findRealm(name: string): Promise<RealmConfiguration | undefined> {
    this.checkOpen();
    return this.cache.realmByName(name);
  }

  async findRealmById(id: RealmId): Promise<RealmConfiguration | undefined> {
    this.checkOpen();
    return this.cache.realmById(id);
  }

  async findClient(realmId: RealmId, clientId: ClientId): Promise<Client | undefined> {
    this.checkOpen();
    return this.cache.clientByName(realmId, clientId);
  }

  async findClientByUuid(realmId: RealmId, id: ClientUuid): Promise<Client | undefined> {
    this.checkOpen();
    return this.cache.clientByUuid(realmId, id);
  }

  async findClients(realmId: RealmId, ids: readonly ClientUuid[]): Promise<readonly Client[]> {
    this.checkOpen();
    const found = new Map<ClientUuid, Client | undefined>();
    for (const id of ids) found.set(id, this.cache.cachedClient(realmId, id));
    const missing = ids.filter((id) => found.get(id) === undefined);
    const slices = new Slices();
    for (let from = 0; from < missing.length; ) {
      await slices.pause();
      const part: Answer<Client | undefined>[] = [];
      do part.push(this.cache.clientByUuid(realmId, missing[from + part.length]!));
      while (part.length < CLIENTS_TOGETHER && from + part.length < missing.length && !slices.isOver);
      for (const client of await Promise.all(part)) found.set(missing[from++]!, client);
    }
    return [...found.values()].filter((client) => client !== undefined);
  }

  async listClientIds(realmId: RealmId): Promise<readonly { id: ClientUuid; clientId: ClientId }[]> {
    const rows = await this.administrative('client.ids', { realm_id: realmId });
    return rows.map(({ id, client_id: clientId }) => ({ id, clientId }));
  }

  async listClients(query: Parameters<Store['listClients']>[0]): Promise<readonly Client[]> {
    const search = query.search?.toLowerCase();
    const first = query.first ?? 0;
    const ids = (await this.administrative('client.ids', { realm_id: query.realmId }))
      .filter(({ client_id: name }) => query.clientId === undefined || name === query.clientId)
      .filter(({ client_id: name }) => search === undefined || name.toLowerCase().includes(search))
      .slice(first, query.max === undefined ? undefined : first + query.max);
    return await this.findClients(
      query.realmId,
      ids.map(({ id }) => id),
    );
  }

  async findUser(realmId: RealmId, id: string): Promise<User | undefined> {
    this.checkOpen();
    return this.cache.user(realmId, id);
  }

  async findUserByUsername(realmId: RealmId, username: string): Promise<User | undefined> {
    const row = await this.get('user.byUsername', { realm_id: realmId, username });
    return row === undefined ? undefined : readUser(row);
  }

  async findUserByEmail(realmId: RealmId, email: string): Promise<User | undefined> {
    const row = await this.get('user.byEmail', { realm_id: realmId, email });
    return row === undefined ? undefined : readUser(row);
  }

  async findServiceAccount(clientUuid: ClientUuid): Promise<User | undefined> {
    this.checkOpen();
    return this.cache.serviceAccount(clientUuid);
  }

  async listUsers(query: UserQuery): Promise<readonly User[]> {
    return (await this.searchUsers(query)).map(readUser);
  }

  async countUsers(query: UserQuery): Promise<number> {
    return this.countMatchingUsers(query);
  }

  listUsersWithRole(roleId: string, first: number, max: number): Promise<readonly User[]> {
    return collect(this.roleUserPages(roleId, { first, max }));
  }

  listGroupMembers(groupId: string, first: number, max: number): Promise<readonly User[]> {
    return collect(this.memberPages(groupId, { first, max }));
  }

  async listCredentials(userId: string): Promise<readonly Credential[]> {
    const rows = await this.all('credential.ofUser', { user_id: userId });
    return rows.map((row) => readCredential(row, this.sealing.keyring));
  }

  async findSomePassword(
    realmId: RealmId,
    name: string,
  ): Promise<Pick<Credential, 'secretData' | 'credentialData'> | undefined> {
    const place = pickPlace(this.sealing.keyring, realmId, name);
    const rows = await this.all('credential.ofSome', { realm_id: realmId, place });
    for (const { doc, secret_data: secretData } of rows) {
      const { type, credentialData }: Credential = JSON.parse(doc);
      if (type === 'password' && secretData !== null) return { secretData, credentialData };
    }
    return undefined;
  }

  async apply(changes: readonly Change[]): Promise<Applied> {
    const ended = new Set<string>();
    try {
      const applied = await this.#apply(changes, (userId) => ended.add(userId));
      if (applied.outcome === 'applied' || ended.size === 0) return applied;
      return { ...applied, endedSessionsOf: [...ended] };
    } catch (error: unknown) {
      throw ended.size === 0 ? error : Object.assign(Object(error), { endedSessionsOf: [...ended] });
    }
  }

  async #apply(changes: readonly Change[], onEnded: (userId: string) => void): Promise<Applied> {
    // A short list is sent immediately, so that it is finished even if the caller closes the store next.
    const rows =
      changes.length <= ROWS_IN_A_TURN
        ? changes.map((change) => toRowChange(change, this.sealing))
        : await mapInSlices(changes, (change) => toRowChange(change, this.sealing));
    const rounds = new Map<string, number>();
    const unbounded: string[] = [];
    let applied = await this.applyRows(rows, unbounded);
    while (applied.outcome === 'many') {
      await this.removeMany(applied, onEnded);
      const { id } = applied;
      const round = (rounds.get(id) ?? 0) + 1;
      rounds.set(id, round);
      // Records that arrive faster than slices remove them are removed in the transaction of the change.
      if (round === SLICED) unbounded.push(id);
      applied = await this.applyRows(rows, unbounded);
    }
    // A stale revision can come from a cached record that is older than the database.
    if (applied.outcome === 'stale')
      this.cache.forget(possiblyTouched(rows.filter((row) => isPutOf(row, applied.id))));
    return applied.outcome === 'applied' ? { outcome: 'applied' } : applied;
  }

  protected async applyRows(
    changes: readonly RowChange[],
    unbounded: readonly string[],
  ): Promise<AppliedRows> {
    const applied = await this.write('apply', { changes, unbounded }).catch((error: unknown) => {
      // The changes may have been applied even though their confirmation was lost.
      this.cache.forget(possiblyTouched(changes));
      throw error;
    });
    if (applied.outcome === 'applied') this.cache.forget(applied.touched);
    return applied;
  }

  async rehashPassword(previous: Credential, next: Credential): Promise<'replaced' | 'changed'> {
    if (previous.secretData === undefined) return 'changed';
    const row = credentialRow({ ...next, id: previous.id }, this.sealing);
    const written = await this.run('credential.rehash', { ...row, previous: previous.secretData });
    return written === 1 ? 'replaced' : 'changed';
  }

  async startSession(session: UserSession, family: TokenFamily): Promise<void> {
    await this.write('startSession', {
      session: sessionRow(session),
      family: familyRow(family),
    });
  }

  async findSession(id: SessionId, offline: boolean): Promise<UserSession | undefined> {
    const row = await this.get('session.find', { id, offline: Number(offline), now: this.now() });
    return row === undefined ? undefined : readSession(row);
  }

  async findFamily(sessionId: SessionId, id: FamilyId): Promise<FamilyInSession | undefined> {
    const row = await this.readFamily({ session_id: sessionId, id });
    return row === undefined ? undefined : readFamilyInSession(row);
  }

  protected async readFamily(key: SlotsOf<'family.find'>): Promise<RowOf<'family.find'> | undefined> {
    return this.get('family.find', key);
  }

  async hasFamily(
    sessionId: SessionId,
    offline: boolean,
    clientUuid: ClientUuid,
    startedBy = Number.MAX_SAFE_INTEGER,
  ): Promise<boolean> {
    const of = { session_id: sessionId, offline: Number(offline), client_uuid: clientUuid };
    const key = { ...of, started_by: startedBy };
    return (await this.get('family.exists', key)) !== undefined;
  }

  async rotateRefreshToken(rotation: Rotation): Promise<RotationResult> {
    const result = await this.rotate({
      session_id: rotation.sessionId,
      id: rotation.familyId,
      presented: rotation.presentedHash.toString('latin1'),
      next: rotation.nextHash.toString('latin1'),
      now: rotation.now,
      single_use: rotation.singleUse,
      max_reuse: rotation.maxReuse,
      grace: rotation.grace?.seconds ?? 0,
      successor: rotation.grace?.successor.toString('latin1') ?? null,
    });
    if (result.outcome !== 'repeated') return result;
    return { outcome: 'repeated', successor: Buffer.from(result.successor, 'latin1') };
  }

  protected rotate(call: Verbs['rotate']['in']): Promise<Verbs['rotate']['out']> {
    return this.write('rotate', call);
  }

  removeFamily(sessionId: SessionId, id: FamilyId): Promise<{ removed: boolean }> {
    return this.write('removeFamily', { session_id: sessionId, id });
  }

  async endSession(id: SessionId, offline: boolean): Promise<{ ended: boolean }> {
    return { ended: (await this.run('session.delete', { id, offline: Number(offline) })) === 1 };
  }

  async findListedSession(id: SessionId, offline: boolean): Promise<SessionWithClients | undefined> {
    const row = await this.get('session.listed', { id, offline: Number(offline) });
    return row === undefined ? undefined : readListedSession(row);
  }

  async listClientsOfUser(userId: string, offline: boolean): Promise<readonly ClientUuid[]> {
    const of = { user_id: userId, offline: Number(offline) };
    const rows = isAdministrative()
      ? await this.administrative('session.clientsOfUser', of)
      : await this.long('session.clientsOfUser', of);
    return rows.map((row) => row.client_uuid);
  }

  async listClientSessions(
    query: Parameters<Store['listClientSessions']>[0],
  ): Promise<readonly SessionWithClients[]> {
    const { clientUuid, offline, first, max } = query;
    const values = { client_uuid: clientUuid, offline: Number(offline), first, max, after: '' };
    return (await this.administrative('session.ofClient', values)).map(readListedSession);
  }

  async revokeAccessToken(jti: string, expiresAt: Seconds): Promise<void> {
    await this.run('revoked.add', { jti, expires_at: expiresAt });
  }

  async isAccessTokenRevoked(jti: string): Promise<boolean> {
    return (await this.get('revoked.find', { jti, now: this.now() })) !== undefined;
  }

  async claimOnce(key: string, expiresAt: Seconds): Promise<boolean> {
    const values = { name: claimName(key), expires_at: expiresAt, now: this.now() };
    return (await this.run('claim.take', values)) === 1;
  }

  async isClaimed(key: string): Promise<boolean> {
    return (await this.get('claim.find', { name: claimName(key), now: this.now() })) !== undefined;
  }

  async findLoginFailures(realmId: RealmId, userId: string): Promise<LoginFailures | undefined> {
    const row = await this.get('failures.find', { realm_id: realmId, user_id: userId });
    return row === undefined ? undefined : readLoginFailures(row);
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

  async removeLoginFailures(realmId: RealmId, userId?: string): Promise<void> {
    if (userId === undefined) await this.clearFailures(realmId);
    else await this.run('failures.delete', { realm_id: realmId, user_id: userId });
  }
}

function isPutOf(change: RowChange, id: string): boolean {
  return change.do === 'put' && change.row.id === id;
}

/**
 * Returns the key of a claim as it is stored. A long key is replaced with its hash, because clients can choose part of
 * it and an index limits the length of its entries.
 */
function claimName(key: string): string {
  return key.length > LONGEST_KEY ? createHash('sha256').update(key).digest('hex') : key;
}
