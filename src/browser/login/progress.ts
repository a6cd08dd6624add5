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

/** What shows that the user is who they say. */
export type Proof =
  /** A login that the browser had before. */
  | { by: 'session'; sso: SsoSession }
  /** The password, and the second factor where there is one, in this login. */
  | { by: 'password'; password: Credential; authenticatedAt: number };

/** A login whose user is proved. */
export interface LoginInProgress {
  client: Client;
  request: AuthorizationRequest;
  user: User;
  proof: Proof;
  /** Its record; absent before the first page. */
  row?: AuthenticationSession;
}

/** Second at which the user proved themselves. */
export function provedAt(proof: Proof): number {
  return proof.by === 'session' ? proof.sso.authenticatedAt : proof.authenticatedAt;
}

/**
 * The proof that a stored login rests on, if it still holds: the session is the browser's own and lives, or the
 * password is the one that was matched and guesses have not locked its user since; the user is enabled.
 */
export async function findProgress(
  call: BrowserCall,
  client: Client,
  row: AuthenticationSession,
): Promise<LoginInProgress | undefined> {
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

/** The event of a login whose user is proved. */
export function startProvedEvent(
  call: BrowserCall,
  { client, request, user }: Pick<LoginInProgress, 'client' | 'request' | 'user'>,
): EventDraft {
  const event = startLoginEvent(call, client);
  describeRequest(event, request);
  event.userId = user.id;
  event.details['username'] = user.username;
  return event;
}

/** What every event of a login tells of the request (observed admin-events-keys/event-code). */
export function describeRequest(event: EventDraft, request: AuthorizationRequest): void {
  event.details['redirect_uri'] = request.redirectUri;
  event.details['response_type'] = request.responseType;
  event.details['response_mode'] = request.responseMode;
}

/** What a client that needs a consent asks for. */
export interface ConsentNeed {
  /** Scopes that the user has not agreed to yet. */
  missing: readonly ClientScope[];
  /** Every scope that consent is asked for. */
  asked: readonly ClientScope[];
  /** What the user agreed to before. */
  before: Consent | undefined;
}

/**
 * The scopes of a request that the user must see (facts §8.4, `display.on.consent.screen`); with `prompt=consent` all
 * of them again (OpenID Connect Core §3.1.2.1). Undefined where the client needs no consent.
 */
export async function findConsentNeed(
  { ctx, configuration }: BrowserCall,
  { client, request, user }: Pick<LoginInProgress, 'client' | 'request' | 'user'>,
): Promise<ConsentNeed | undefined> {
  if (!client.consentRequired) return undefined;
  const scopes = resolveScopes(configuration, client, request.scope);
  const granted = scopes.outcome === 'granted' ? scopes.granted.scopes : [];
  const before = await ctx.store.findConsent(user.id, client.id);
  const asked = missingConsent(client, granted, undefined);
  const missing = request.prompt.includes('consent') ? asked : missingConsent(client, granted, before);
  return { asked, before, missing };
}
