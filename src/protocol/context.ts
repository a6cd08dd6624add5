import type { Clock, Random } from '../core/index.ts';
import type { Passwords } from '../crypto/index.ts';
import type { SessionEndings, UserEvent } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import type { KeyRing } from './keys/index.ts';

/** The destination of user events: the store (as the realm's settings say), the log and the metrics. Never throws. */
export interface EventSink {
  emit(event: UserEvent, realmName: string): void;
  /** Stores the pending events, so that the next list of events is complete. */
  flush?(): Promise<void>;
}

/** The dependencies of the protocol's rules. Nothing is global. */
export interface ProtocolContext {
  store: Store;
  clock: Clock;
  random: Random;
  keys: KeyRing;
  passwords: Passwords;
  events: EventSink;
  /** Notifies clients of sessions that end. Default: no client is notified. */
  sessionEndings?: SessionEndings;
  /** The base URL without a trailing slash. The issuer is `{baseUrl}/realms/{realm}`. */
  baseUrl: string;
}

/** A parsed request to an endpoint below `/realms/{realm}/`. */
export interface ProtocolRequest {
  /** The realm's name in the path. */
  realm: string;
  /** The form fields. A repeated field has its first value. */
  form: ReadonlyMap<string, string>;
  /** Whether a form field occurs more than once. */
  duplicated: boolean;
  /** The header `Authorization`. */
  authorization?: string;
  /** The header `Origin`. */
  origin?: string;
  /** The header `DPoP`. */
  dpop?: string;
  /** The header `Accept`. */
  accept?: string;
  /** The client's address. Behind a trusted proxy, the address that the proxy names. */
  remoteAddress: string;
  /** Whether the connection uses TLS, or a trusted proxy reports that it does. */
  secure: boolean;
}

/** The result of an endpoint that accepts the request. */
export interface Answer<Body> {
  body: Body;
  /** The origin whose pages may read the response. Absent if the request has no origin. */
  allowOrigin?: string | undefined;
}
