import type {
  ClientUuid,
  FamilyId,
  RealmId,
  SessionId,
  TokenFamily,
  UserSession,
} from '../../model/index.ts';
import type {
  Applied,
  Change,
  FamilyInSession,
  LoginStore,
  Range,
  Rotation,
  RotationResult,
  SessionWithClients,
  Store,
  TakenCode,
  UserSessionQuery,
} from '../contract/index.ts';
import { readUnmovedSession } from '../records/sessions.ts';
import type { Answer } from '../schema.ts';
import { SESSION_ROWS } from '../verbs/move-sessions.ts';
import { SqlStore } from './store.ts';

/** Number of sessions that are moved in one transaction, or listed with one statement. */
const TOGETHER = 100;

/**
 * Serves the sessions of an older version while the background migration `session rows` moves them. A call that concerns
 * one session or one user moves their sessions first. Lists and counts of more sessions read both places.
 */
export abstract class SqlMovingSessions extends SqlStore {
  override async startSession(session: UserSession, family: TokenFamily): Promise<void> {
    const moving = this.#move(session.id);
    if (moving !== undefined) await moving;
    return super.startSession(session, family);
  }

  override findSession(id: SessionId, offline: boolean): Promise<UserSession | undefined> {
    return this.#orMoved(id, () => super.findSession(id, offline), isFound);
  }

  override findListedSession(id: SessionId, offline: boolean): Promise<SessionWithClients | undefined> {
    return this.#orMoved(id, () => super.findListedSession(id, offline), isFound);
  }

  override findFamily(sessionId: SessionId, id: FamilyId): Promise<FamilyInSession | undefined> {
    return this.#orMoved(sessionId, () => super.findFamily(sessionId, id), isFound);
  }

  override hasFamily(...key: Parameters<Store['hasFamily']>): Promise<boolean> {
    return this.#orMoved(
      key[0],
      () => super.hasFamily(...key),
      (has) => has,
    );
  }

  override findClientNotes(
    ...key: Parameters<LoginStore['findClientNotes']>
  ): Promise<Readonly<Record<string, string>>> {
    return this.#orMoved(
      key[0],
      () => super.findClientNotes(...key),
      (notes) => Object.keys(notes).length > 0,
    );
  }

  override rotateRefreshToken(rotation: Rotation): Promise<RotationResult> {
    return this.#orMoved(
      rotation.sessionId,
      () => super.rotateRefreshToken(rotation),
      ({ outcome }) => outcome !== 'gone',
    );
  }

  override removeFamily(sessionId: SessionId, id: FamilyId): Promise<{ removed: boolean }> {
    return this.#orMoved(
      sessionId,
      () => super.removeFamily(sessionId, id),
      ({ removed }) => removed,
    );
  }

  override endSession(id: SessionId, offline: boolean): Promise<{ ended: boolean }> {
    return this.#orMoved(
      id,
      () => super.endSession(id, offline),
      ({ ended }) => ended,
    );
  }

  override async finishLogin(login: Parameters<LoginStore['finishLogin']>[0]): Promise<'finished' | 'gone'> {
    const moving = this.#move(login.session.id);
    if (moving !== undefined) await moving;
    return super.finishLogin(login);
  }

  override async takeCode(hash: Buffer, now: number): Promise<TakenCode> {
    if (this.isMigrated(SESSION_ROWS) !== true) {
      const code = await this.get('code.find', { hash });
      if (code !== undefined) await this.#move(code.session_id);
    }
    return super.takeCode(hash, now);
  }

  override async startFamily(
    ...input: Parameters<LoginStore['startFamily']>
  ): Promise<'started' | 'used' | 'gone'> {
    const moving = this.#move(input[1].sessionId);
    if (moving !== undefined) await moving;
    return super.startFamily(...input);
  }

  override async removeConsent(userId: string, clientUuid: ClientUuid): Promise<{ removed: boolean }> {
    const moving = this.#moveOfUser(userId);
    if (moving !== undefined) await moving;
    return super.removeConsent(userId, clientUuid);
  }

  override async apply(changes: readonly Change[]): Promise<Applied> {
    for (const change of changes) {
      const moving = change.do === 'endSessions' ? this.#moveOfUser(change.userId) : undefined;
      if (moving !== undefined) await moving;
    }
    return super.apply(changes);
  }

  override async endUserSessions(
    userId: string,
    options: { offlineToo: boolean },
  ): Promise<{ ended: number }> {
    const moving = this.#moveOfUser(userId);
    if (moving !== undefined) await moving;
    return super.endUserSessions(userId, options);
  }

  override async endRealmSessions(realmId: RealmId): Promise<{ ended: number }> {
    if (await this.isMigrated(SESSION_ROWS)) return super.endRealmSessions(realmId);
    const of = { realm_id: realmId, limit: TOGETHER };
    let unmoved = 0;
    // A slice may remove nothing, because its sessions are moved at this moment. So only a look ends the loop.
    while ((await this.all('unmoved.ofRealm', { ...of, limit: 1 })).length > 0)
      unmoved += await this.run('unmoved.deleteOfRealm', of);
    const { ended } = await super.endRealmSessions(realmId);
    return { ended: unmoved + ended };
  }

  override async *userSessionPages(
    query: UserSessionQuery & Partial<Range>,
  ): AsyncIterable<readonly SessionWithClients[]> {
    await this.#moveOfUser(query.userId);
    yield* super.userSessionPages(query);
  }

  override async listClientsOfUser(userId: string, offline: boolean): Promise<readonly ClientUuid[]> {
    const moving = this.#moveOfUser(userId);
    if (moving !== undefined) await moving;
    return super.listClientsOfUser(userId, offline);
  }

  override async listClientSessions(
    query: Parameters<Store['listClientSessions']>[0],
  ): Promise<readonly SessionWithClients[]> {
    if (await this.isMigrated(SESSION_ROWS)) return super.listClientSessions(query);
    const all: SessionWithClients[] = [];
    for await (const page of this.clientSessionPages(query)) all.push(...page);
    return all;
  }

  /**
   * Lists the sessions that are not moved yet before all others. A session that is moved at this moment may be listed
   * twice, but is never missing.
   */
  override async *clientSessionPages(
    query: { clientUuid: ClientUuid; offline: boolean } & Range,
  ): AsyncIterable<readonly SessionWithClients[]> {
    if (await this.isMigrated(SESSION_ROWS)) return yield* super.clientSessionPages(query);
    const of = { client_uuid: query.clientUuid, offline: Number(query.offline) };
    let { first, max: left } = query;
    let after = '';
    while (left > 0) {
      const max = Math.min(TOGETHER, left);
      const rows = await this.administrative('unmoved.ofClient', { ...of, first, max, after });
      if (rows.length === 0) break;
      yield rows.map(readUnmovedSession);
      left -= rows.length;
      after = rows.at(-1)!.id;
      first = 0;
    }
    if (left === 0) return;
    if (after === '' && first > 0) {
      const [unmoved] = await this.administrative('unmoved.countOfClient', of);
      first = Math.max(0, first - (unmoved?.sessions ?? 0));
    }
    yield* super.clientSessionPages({ ...query, first, max: left });
  }

  /** Calls `act`. If it misses a session that is not moved yet, moves the session and calls `act` again. */
  #orMoved<T>(id: SessionId, act: () => Promise<T>, hasFound: (result: T) => boolean): Promise<T> {
    // This must come first: the session may be moved, and the migration finish, while `act` runs.
    const isMigrated = this.isMigrated(SESSION_ROWS);
    return isMigrated === true ? act() : this.#orMovedFirst(id, { act, hasFound, isMigrated });
  }

  async #orMovedFirst<T>(
    id: SessionId,
    {
      act,
      hasFound,
      isMigrated: known,
    }: { act: () => Promise<T>; hasFound: (result: T) => boolean; isMigrated: Answer<boolean> },
  ): Promise<T> {
    const isMigrated = await known;
    const result = await act();
    if (isMigrated || hasFound(result)) return result;
    await this.#move(id);
    return act();
  }

  /** Moves a session. Returns undefined if all sessions have been moved, so that the caller continues immediately. */
  #move(id: SessionId): Promise<void> | undefined {
    return this.#unlessMigrated(async () => {
      if ((await this.get('unmoved.find', { id })) !== undefined)
        await this.write('moveSessions', { ids: [id] });
    });
  }

  #moveOfUser(userId: string): Promise<void> | undefined {
    return this.#unlessMigrated(async () => {
      for (;;) {
        const rows = await this.all('unmoved.ofUser', { user_id: userId, limit: TOGETHER });
        if (rows.length === 0) return;
        await this.write('moveSessions', { ids: rows.map(({ id }) => id).toSorted() });
      }
    });
  }

  #unlessMigrated(move: () => Promise<void>): Promise<void> | undefined {
    const isMigrated = this.isMigrated(SESSION_ROWS);
    if (isMigrated === true) return undefined;
    return Promise.resolve(isMigrated).then((known) => (known ? undefined : move()));
  }
}

function isFound(found: unknown): boolean {
  return found !== undefined;
}
