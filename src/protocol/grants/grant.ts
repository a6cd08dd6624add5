import type { Client, TokenFamily, User, UserSession } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { GrantedScopes } from '../claims/index.ts';
import type { ProtocolContext, ProtocolRequest } from '../context.ts';
import type { EventDraft } from '../events.ts';
import type { TokenUse } from '../realm.ts';

/** A request at the token endpoint with an authenticated client. */
export interface GrantRequest {
  grant: Grant;
  ctx: ProtocolContext;
  configuration: RealmConfiguration;
  client: Client;
  request: ProtocolRequest;
  /** Collects details while the request runs. */
  event: EventDraft;
  /** Unix time in seconds of the request, the same for all its effects. */
  now: number;
}

/** A user session and the family of one client in it. */
export interface FamilyRecord {
  session: UserSession;
  family: TokenFamily;
}

/** The result of a grant: the user and the tokens to issue. */
export interface Proof {
  user: User;
  granted: GrantedScopes;
  /** Absent: nothing is stored, and there is no refresh token. */
  record?: FamilyRecord | undefined;
  /** Facts of the login for the claims. */
  notes: Readonly<Record<string, string>>;
  /**
   * Stores the record before the response is sent, with the hash of the new refresh token. Runs in parallel with the
   * signing.
   *
   * @throws Refusal if the tokens must not be issued after all; they are discarded
   */
  commit?: ((refreshTokenHash: Buffer) => Promise<void>) | undefined;
  /** Runs once the tokens are sure to be issued, before the response is sent. */
  settled?: (() => Promise<void>) | undefined;
}

/** A way to get tokens. The endpoint does the work that all grants share. */
export interface Grant {
  /** Event type of a success, for example `LOGIN`. */
  eventType: string;
  /** Keycloak's two letters for the grant, in the `jti` of its access tokens (docs/keycloak/tokens.md#access-token). */
  shortcut: string;
  /** Set if its tokens replace those of an earlier grant. */
  renews?: true;
  /** The use of its tokens. A demand that idkit does not enforce may prevent only some uses. */
  use: TokenUse;
  /** Set if an earlier request fixed the scopes. The parameter `scope` is then ignored. */
  ownScopes?: true;
  /** Checks that the client may use the grant and that the request is complete. @throws Refusal */
  check(request: GrantRequest): void;
  /**
   * Proves the user. `granted` has the requested scopes, or the client's default scopes for a grant with `ownScopes`.
   *
   * @throws Refusal
   */
  prove(request: GrantRequest, granted: GrantedScopes): Promise<Proof>;
  /** Runs after a failure of `prove` or of the issuing, to invalidate the presented credential anyway. */
  abandon?(request: GrantRequest): Promise<void>;
}
