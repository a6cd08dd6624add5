import type { Seconds } from '../../core/index.ts';
import type {
  AuthenticationSession,
  AuthorizationCode,
  ClientUuid,
  Consent,
  FamilyId,
  RealmId,
  SessionId,
  TokenFamily,
  UserSession,
} from '../../model/index.ts';
import type { LoginStore, TakenCode } from '../contract/index.ts';
import {
  authenticationRow,
  codeRow,
  consentRow,
  detachedName,
  readAuthentication,
  readCode,
  readConsent,
} from '../records/login.ts';
import { familyRow, readNotes, sessionRow } from '../records/sessions.ts';
import { UNUSED } from '../schema.ts';
import { SqlCounts } from './counts.ts';

/** Implements `LoginStore` for both databases. */
export abstract class SqlLogin extends SqlCounts implements LoginStore {
  putAuthenticationSession(next: AuthenticationSession): Promise<'stored' | 'changed'> {
    return this.write('putAuthenticationSession', { now: this.now(), row: authenticationRow(next) });
  }

  async findAuthenticationSession(id: string): Promise<AuthenticationSession | undefined> {
    const row = await this.get('authentication.find', { id, now: this.now() });
    return row === undefined ? undefined : readAuthentication(row);
  }

  async removeAuthenticationSession(id: string): Promise<{ removed: boolean }> {
    return { removed: (await this.run('authentication.delete', { id })) === 1 };
  }

  async removeUnprovedSession(id: string): Promise<{ removed: boolean }> {
    return { removed: (await this.run('authentication.deleteUnproved', { id })) === 1 };
  }

  async boundAuthenticationSessions(realmId: RealmId, most: number): Promise<{ removed: number }> {
    return { removed: await this.run('authentication.bound', { realm_id: realmId, most }) };
  }

  finishLogin(login: Parameters<LoginStore['finishLogin']>[0]): Promise<'finished' | 'gone'> {
    const { authenticationSession, session, sessionMustExist, consent, code } = login;
    return this.write('finishLogin', {
      now: this.now(),
      authentication: authenticationSession,
      session: sessionRow(session),
      session_must_exist: sessionMustExist,
      consent: consent && consentRow(consent),
      code: code && codeRow(code),
    });
  }

  async findCode(hash: Buffer, now: Seconds): Promise<AuthorizationCode | undefined> {
    const row = await this.get('code.find', { hash });
    return row === undefined || row.state !== UNUSED || row.expires_at <= now
      ? undefined
      : readCode(row, hash);
  }

  async takeCode(hash: Buffer, now: Seconds): Promise<TakenCode> {
    const taken = await this.write('takeCode', { hash: hash.toString('latin1'), now });
    if (taken.outcome === 'gone') return taken;
    return { outcome: taken.outcome, code: readCode(taken.row, hash) };
  }

  startFamily(
    code: { hash: Buffer; now: Seconds } | undefined,
    family: TokenFamily,
    offlineSession?: UserSession,
  ): Promise<'started' | 'used' | 'gone'> {
    return this.write('startFamily', {
      code: code && { hash: code.hash.toString('latin1'), now: code.now },
      family: familyRow(family),
      offline_session: offlineSession && sessionRow(offlineSession),
    });
  }

  async findClientNotes(
    sessionId: SessionId,
    offline: boolean,
    clientUuid: ClientUuid,
    startedBy: Seconds,
  ): Promise<Readonly<Record<string, string>>> {
    const place = { session_id: sessionId, offline: Number(offline), client_uuid: clientUuid };
    const row = await this.get('family.notes', { ...place, started_by: startedBy });
    return row === undefined ? {} : readNotes(row.notes);
  }

  async findConsent(userId: string, clientUuid: ClientUuid): Promise<Consent | undefined> {
    const row = await this.get('consent.find', { user_id: userId, client_uuid: clientUuid });
    return row === undefined ? undefined : readConsent(row);
  }

  async listConsents(userId: string): Promise<readonly Consent[]> {
    const rows = await this.all('consent.ofUser', { user_id: userId });
    return rows.map(readConsent);
  }

  removeConsent(userId: string, clientUuid: ClientUuid): Promise<{ removed: boolean }> {
    return this.write('removeConsent', { user_id: userId, client_uuid: clientUuid, now: this.now() });
  }

  async wasDetached(familyId: FamilyId): Promise<boolean> {
    const jti = detachedName(familyId);
    return (await this.get('revoked.find', { jti, now: this.now() })) !== undefined;
  }
}
