import type { Client, TokenFamily, User, UserSession } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { GrantedScopes } from '../claims/index.ts';
import type { ProtocolContext, ProtocolRequest } from '../context.ts';
import type { EventDraft } from '../events.ts';
import type { TokenUse } from '../realm.ts';

/** A request to the token endpoint from an authenticated client. */
export interface GrantRequest {
  grant: Grant;
  ctx: ProtocolContext;
  configuration: RealmConfiguration;
  client: Client;
  request: ProtocolRequest;
  /** The event of this request, which collects details until the request ends. */
  event: EventDraft;
  /** The time of the request, Unix time in seconds. Everything that the request stores or issues has this time. */
  now: number;
}

/** A user session, and the token family of one client in that session. */
export interface FamilyRecord {
  session: UserSession;
  family: TokenFamily;
}

/** The result of a grant: the user and the tokens to issue. */
export interface Proof {
  user: User;
  granted: GrantedScopes;
  /** The session and the token family to store. Without it, nothing is stored and no refresh token is issued. */
  record?: FamilyRecord | undefined;
  /** Notes of the login, which mappers can turn into claims. */
  notes: Readonly<Record<string, string>>;
  /**
   * Stores the record before the response is sent, with the new refresh token and its hash. Runs in parallel with the
   * signing of the other tokens. If it returns a refresh token, the response contains that one, and the new one is
   * discarded (docs/keycloak/tokens.md#grace).
   *
   * @throws Refusal if the tokens must not be issued after all; they are discarded
   */
  commit?: ((hash: Buffer, refreshToken: string | undefined) => Promise<string | undefined>) | undefined;
  /**
   * Runs after the record is stored and before the response is sent, for example to replace an outdated password hash.
   *
   * @throws Refusal if the tokens must not be issued after all; they are discarded
   */
  settled?: (() => Promise<void>) | undefined;
}

/** One grant type of the token endpoint. The endpoint does the work that all grants share. */
export interface Grant {
  /** The type of the event that a success logs, for example `LOGIN`. */
  eventType: string;
  /**
   * Keycloak's two-letter code for the grant, in the `jti` of its access tokens (docs/keycloak/tokens.md#access-token).
   */
  shortcut: string;
  /** Whether the issued tokens replace earlier ones, as in a refresh. */
  renews?: true;
  /** The situation in which tokens are issued. Some demands affect only some situations. */
  use: TokenUse;
  /** Whether the scopes come from an earlier request. The parameter `scope` is then ignored. */
  ownScopes?: true;
  /** Checks that the client may use the grant and that the request is complete. @throws Refusal */
  check(request: GrantRequest): void;
  /**
   * Determines for which user tokens are issued. `granted` has the requested scopes, or the client's default scopes for
   * a grant with `ownScopes`.
   *
   * @throws Refusal
   */
  prove(request: GrantRequest, granted: GrantedScopes): Promise<Proof>;
  /** Invalidates the presented credential if `prove` or the issuing of the tokens failed. */
  abandon?(request: GrantRequest): Promise<void>;
}
