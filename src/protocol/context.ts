import type { Clock, Random } from '../core/index.ts';
import type { Passwords } from '../crypto/index.ts';
import type { SessionEndings, UserEvent } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import type { KeyRing } from './keys/index.ts';

/** Where user events go: the store (as the realm's settings say), the log and the metrics. Never throws. */
export interface EventSink {
  emit(event: UserEvent, realmName: string): void;
  /** Stores what waits to be stored, so that whoever lists events sees all that happened before. */
  flush?(): Promise<void>;
}

/** What the protocol's rules work with; nothing of it is global. */
export interface ProtocolContext {
  store: Store;
  clock: Clock;
  random: Random;
  keys: KeyRing;
  passwords: Passwords;
  events: EventSink;
  /** Tells clients of sessions that end; absent: nobody is told. */
  sessionEndings?: SessionEndings;
  /** {base_url} without a trailing slash; the issuer is `{baseUrl}/realms/{realm}`. */
  baseUrl: string;
}

/** A request to an endpoint below `/realms/{realm}/`, parsed once. */
export interface ProtocolRequest {
  /** Name in the path. */
  realm: string;
  /** Form fields; the first value where one is given twice. */
  form: ReadonlyMap<string, string>;
  /** A form field was given twice. */
  duplicated: boolean;
  /** The header `Authorization`. */
  authorization?: string;
  /** The header `Origin`. */
  origin?: string;
  /** The header `DPoP`. */
  dpop?: string;
  /** The header `Accept`. */
  accept?: string;
  /** The client's address; behind a trusted proxy the one that it names. */
  remoteAddress: string;
  /** TLS, or a trusted proxy says so. */
  secure: boolean;
}

/** What an endpoint answers when it does not refuse. */
export interface Answer<Body> {
  body: Body;
  /** The origin whose pages may read the answer; absent where none was sent. */
  allowOrigin?: string | undefined;
}
