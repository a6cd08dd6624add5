import { uuid } from '../core/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import type { ProtocolContext } from './context.ts';
import type { Refusal, RefusalCase } from './refusal.ts';

/** Keycloak's event error for each refusal that does not name one itself (docs/keycloak/tokens.md#events-of-tokens). */
const EVENT_ERRORS: Readonly<Partial<Record<RefusalCase, string>>> = {
  'https-required': 'ssl_required',
  'realm-not-enabled': 'realm_disabled',
  'realm-disabled': 'realm_disabled',
  'client-disabled': 'client_disabled',
  'client-unknown': 'client_not_found',
  'client-credentials-wrong': 'invalid_client_credentials',
  'client-assertion-refused': 'invalid_client_credentials',
  'client-assertion-signature': 'invalid_client_credentials',
  'client-protocol-wrong': 'invalid_client',
  'client-bearer-only': 'invalid_client',
  'client-method-unsupported': 'invalid_client_credentials',
  'offline-not-allowed': 'not_allowed',
  'client-not-allowed': 'not_allowed',
  'grant-refused': 'not_allowed',
  'exchange-refused': 'not_allowed',
  'consent-required': 'consent_denied',
  'consent-withdrawn': 'consent_denied',
  'service-account-not-enabled': 'invalid_client',
  'service-account-unusable': 'user_not_found',
  'missing-username': 'user_not_found',
  'user-credentials-wrong': 'invalid_user_credentials',
  'account-disabled': 'user_disabled',
  'account-not-set-up': 'resolve_required_actions',
  'login-refused': 'not_allowed',
  'missing-code': 'invalid_code',
  'code-refused': 'invalid_code',
  'missing-refresh-token': 'invalid_token',
  'refresh-token-refused': 'invalid_token',
  'revoke-invalid-token': 'invalid_token',
  'introspect-client-unknown': 'client_not_found',
  'introspect-client-wrong': 'invalid_client_credentials',
  'userinfo-missing-token': 'invalid_token',
  'userinfo-invalid-token': 'invalid_token',
};

/**
 * Maximum length, in characters, of a value that the caller chooses freely. It limits what one request adds to the
 * store and the log.
 */
const MOST_CHARACTERS = 255;

/**
 * Maximum length of a detail in characters, which is the size of Keycloak's column. Lists of scopes can be this long.
 */
const MOST_OF_A_DETAIL = 2550;

function shorten(details: Record<string, string>): void {
  for (const name in details) {
    const most = name === 'username' ? MOST_CHARACTERS : MOST_OF_A_DETAIL;
    const value = details[name] ?? '';
    if (value.length > most) details[name] = value.slice(0, most);
  }
}

/** An event that collects its details while a request runs, and is logged when the request succeeds or fails. */
export class EventDraft {
  /** Keycloak's type, for example `LOGIN`. `refused` and `failed` append `_ERROR`. */
  readonly type: string;
  clientId: string | undefined;
  userId: string | undefined;
  sessionId: string | undefined;
  readonly details: Record<string, string> = {};
  readonly #ctx: ProtocolContext;
  readonly #configuration: RealmConfiguration;
  readonly #ipAddress: string;

  constructor(ctx: ProtocolContext, configuration: RealmConfiguration, type: string, ipAddress: string) {
    this.type = type;
    this.#ctx = ctx;
    this.#configuration = configuration;
    this.#ipAddress = ipAddress;
  }

  /** Logs the success. */
  succeeded(): void {
    this.#emit(this.type, undefined);
  }

  /** Logs the refusal and its reason. */
  refused(refusal: Refusal): void {
    if (refusal.detail !== undefined) this.details['reason'] ??= refusal.detail;
    this.#emit(`${this.type}_ERROR`, refusal.eventError ?? EVENT_ERRORS[refusal.case] ?? 'invalid_request');
  }

  /** Logs a failure. `error` is one of Keycloak's event errors. */
  failed(error: string): void {
    this.#emit(`${this.type}_ERROR`, error);
  }

  #emit(type: string, error: string | undefined): void {
    const { id, name } = this.#configuration.realm;
    shorten(this.details);
    this.#ctx.events.emit(
      {
        id: uuid(this.#ctx.random),
        time: this.#ctx.clock.now(),
        type,
        realmId: id,
        ipAddress: this.#ipAddress,
        details: this.details,
        ...(this.clientId === undefined ? {} : { clientId: this.clientId.slice(0, MOST_CHARACTERS) }),
        ...(this.userId === undefined ? {} : { userId: this.userId }),
        ...(this.sessionId === undefined ? {} : { sessionId: this.sessionId }),
        ...(error === undefined ? {} : { error }),
      },
      name,
    );
  }
}
