import type { Client, TokenFamily, User, UserSession } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { GrantedScopes } from '../claims/index.ts';
import type { ProtocolContext, ProtocolRequest } from '../context.ts';
import type { EventDraft } from '../events.ts';
import type { TokenUse } from '../realm.ts';

/** One request at the token endpoint, its client authenticated. */
export interface GrantRequest {
  grant: Grant;
  ctx: ProtocolContext;
  configuration: RealmConfiguration;
  client: Client;
  request: ProtocolRequest;
  /** Details are added here as they become known. */
  event: EventDraft;
  /** Second of the request; the same for all that it leads to. */
  now: number;
}

/** A user session and the family of one client in it. */
export interface FamilyRecord {
  session: UserSession;
  family: TokenFamily;
}

/** What a grant proved: for whom and for what tokens are issued. */
export interface Proof {
  user: User;
  granted: GrantedScopes;
  /** Absent: nothing is kept and there is no refresh token. */
  record?: FamilyRecord | undefined;
  /** Small facts of the login that claims are made of. */
  notes: Readonly<Record<string, string>>;
  /**
   * Makes the record durable before the answer, given the hash of the refresh token that will be answered; runs
   * beside the signing.
   *
   * @throws Refusal where the tokens must not be given after all; they are thrown away
   */
  commit?: ((refreshTokenHash: Buffer) => Promise<void>) | undefined;
  /** Runs once the tokens are certain, before the answer. */
  settled?: (() => Promise<void>) | undefined;
}

/** One way to get tokens. The endpoint does everything that the grants have in common. */
export interface Grant {
  /** Event type of its successes, for example `LOGIN`. */
  eventType: string;
  /** Keycloak's two letters for the grant, in the `jti` of its access tokens (docs/keycloak/tokens.md#access-token). */
  shortcut: string;
  /** Its tokens replace those of an earlier grant. */
  renews?: true;
  /** What its tokens are for; demands that idkit does not enforce refuse by it. */
  use: TokenUse;
  /** The scopes were settled before: the parameter `scope` is not looked at. */
  ownScopes?: true;
  /** May this client use the grant, and is the request whole? @throws Refusal */
  check(request: GrantRequest): void;
  /**
   * For whom, and for which of the requested scopes; those of a grant with `ownScopes` are the client's defaults.
   *
   * @throws Refusal
   */
  prove(request: GrantRequest, granted: GrantedScopes): Promise<Proof>;
  /** Runs where `prove` or the issuing ended in an error: what was presented is used up all the same. */
  abandon?(request: GrantRequest): Promise<void>;
}
