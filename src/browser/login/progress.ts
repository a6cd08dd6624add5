import type {
  AuthenticationSession,
  AuthorizationRequest,
  Client,
  ClientScope,
  Consent,
  Credential,
  User,
} from '../../model/index.ts';
import { missingConsent, resolveScopes } from '../../protocol/claims/index.ts';
import type { EventDraft } from '../../protocol/index.ts';
import { isLockedNow } from '../../protocol/login/index.ts';
import { type BrowserCall, startLoginEvent } from '../call.ts';
import { findSsoSession, type SsoSession } from '../sso/sso-session.ts';
import { stageOf } from './stage.ts';

/** How the user proved their identity. */
export type Proof =
  /** The session that the browser already had. */
  | { by: 'session'; sso: SsoSession }
  /** The password that the user entered in this login, with the second factor if the user has one. */
  | { by: 'password'; password: Credential; authenticatedAt: number };

/** A login whose user is authenticated. */
export interface LoginInProgress {
  client: Client;
  request: AuthorizationRequest;
  user: User;
  proof: Proof;
  /** The database row of the login. Absent until the first page is shown. */
  row?: AuthenticationSession;
}

/** An authenticated login that is stored in the database. */
export type StoredLogin = LoginInProgress & { row: AuthenticationSession };

/** Returns the Unix time in seconds at which the user authenticated. */
export function provedAt(proof: Proof): number {
  return proof.by === 'session' ? proof.sso.authenticatedAt : proof.authenticatedAt;
}

/**
 * Returns the proof of a stored login, if it is still valid. If the proof is a session, it must be alive and belong to
 * this browser. If it is a password, it must be current, and the user must not be locked. The user must be enabled in
 * both cases.
 */
export async function findProgress(
  call: BrowserCall,
  client: Client,
  row: AuthenticationSession,
): Promise<StoredLogin | undefined> {
  const stage = stageOf(row);
  if (stage.at !== 'proved') return undefined;
  const { userId, authenticatedAt, by } = stage;
  const { request } = row;
  if ('sessionId' in by) {
    const sso = await findSsoSession(call.ctx, call.configuration, call.request);
    if (sso === undefined || sso.session.id !== by.sessionId || sso.user.id !== userId) return undefined;
    return { client, request, row, user: sso.user, proof: { by: 'session', sso } };
  }
  const [user, credentials] = await Promise.all([
    call.ctx.store.findUser(call.configuration.realm.id, userId),
    call.ctx.store.listCredentials(userId),
  ]);
  const password = credentials.find((one) => one.id === by.passwordId && one.type === 'password');
  if (user === undefined || !user.enabled || password === undefined) return undefined;
  if (await isLockedNow(call, user)) return undefined;
  return { client, request, row, user, proof: { by: 'password', password, authenticatedAt } };
}

/** Starts the event of a login whose user is authenticated. */
export function startProvedEvent(
  call: BrowserCall,
  { client, request, user }: Pick<LoginInProgress, 'client' | 'request' | 'user'>,
): EventDraft {
  const event = startLoginEvent(call, client);
  addRequestDetails(event, request);
  event.userId = user.id;
  event.details['username'] = user.username;
  return event;
}

/** Adds the request's details, which every event of a login has (docs/keycloak/realms.md#events). */
export function addRequestDetails(event: EventDraft, request: AuthorizationRequest): void {
  event.details['redirect_uri'] = request.redirectUri;
  event.details['response_type'] = request.responseType;
  event.details['response_mode'] = request.responseMode;
}

/** The scopes for which a client needs the user's consent. */
export interface ConsentNeed {
  /** Scopes that the user has not agreed to. */
  missing: readonly ClientScope[];
  /** All scopes that need a consent. */
  all: readonly ClientScope[];
  /** The user's earlier consent. */
  before: Consent | undefined;
}

/**
 * Returns the scopes of a request that need the user's consent (`display.on.consent.screen`;
 * docs/keycloak/login.md#consent). With `prompt=consent` all of them need it again (OpenID Connect Core §3.1.2.1).
 * Returns undefined if the client needs no consent.
 */
export async function findConsentNeed(
  { ctx, configuration }: BrowserCall,
  { client, request, user }: Pick<LoginInProgress, 'client' | 'request' | 'user'>,
): Promise<ConsentNeed | undefined> {
  if (!client.consentRequired) return undefined;
  const scopes = resolveScopes(configuration, client, request.scope);
  const granted = scopes.outcome === 'granted' ? scopes.granted.scopes : [];
  const before = await ctx.store.findConsent(user.id, client.id);
  const all = missingConsent(client, granted, undefined);
  const missing = request.prompt.includes('consent') ? all : missingConsent(client, granted, before);
  return { all, before, missing };
}
