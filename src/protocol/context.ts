import type { Clock, Random } from '../core/index.ts';
import type { Passwords } from '../crypto/index.ts';
import type { SessionEndings, UserEvent } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import type { KeyRing } from './keys/index.ts';

/**
 * Receives user events and passes them to the log, to the metrics and, if the realm stores such events, to the store.
 * Never throws.
 */
export interface EventSink {
  emit(event: UserEvent, realmName: string): void;
  /** Stores the pending events, so that a list of events is complete. */
  flush?(): Promise<void>;
}

/** Everything that the protocol's rules depend on. They use no global state. */
export interface ProtocolContext {
  store: Store;
  clock: Clock;
  random: Random;
  keys: KeyRing;
  passwords: Passwords;
  events: EventSink;
  /** Notifies the clients of sessions that end. If absent, no client is notified. */
  sessionEndings?: SessionEndings;
  /** The base URL without a trailing slash. The issuer is `{baseUrl}/realms/{realm}`. */
  baseUrl: string;
}

/** A parsed request to an endpoint below `/realms/{realm}/`. */
export interface ProtocolRequest {
  /** The realm name in the path. */
  realm: string;
  /** The form fields. If a field is repeated, its first value counts. */
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
  /** The client's address. If the request comes through a trusted proxy, the address that the proxy reports. */
  remoteAddress: string;
  /** Whether the connection uses TLS, or a trusted proxy reports that it does. */
  secure: boolean;
}

/** The response of an endpoint that accepts the request. */
export interface Answer<Body> {
  body: Body;
  /** The origin whose pages may read the response. Absent if the request does not name an origin. */
  allowOrigin?: string | undefined;
}
