import type { Stale } from '../../store/index.ts';
import type { Json } from '../representation/json.ts';

/** The kinds of refusals. The HTTP layer maps each to a status. */
export type AdminRefusalKind =
  | 'bad-request'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'unsupported-media'
  | 'not-built';

/**
 * The administrative API refuses a request. `body` is the body of the response in one of Keycloak's three shapes
 * (docs/keycloak/errors.md#error-shapes). Default: the name of the status.
 */
export class AdminRefusal extends Error {
  override readonly name = 'AdminRefusal';
  readonly kind: AdminRefusalKind;
  readonly body: Json | undefined;

  constructor(kind: AdminRefusalKind, body?: Json) {
    super(String(body?.['errorMessage'] ?? body?.['error_description'] ?? body?.['error'] ?? kind));
    this.kind = kind;
    this.body = body;
  }
}

/**
 * Another call changed the record after this call read it, and nothing was stored. The caller reads the record again
 * and retries.
 */
export class StaleRecord extends Error {
  override readonly name = 'StaleRecord';
  readonly stale: Stale;

  constructor(stale: Stale) {
    super(`${stale.what} ${stale.id} was changed after it was read`);
    this.stale = stale;
  }
}

/** Returns the 401 of Keycloak's global error handler. */
export function unauthorized(): AdminRefusal {
  return new AdminRefusal('unauthorized');
}

/** Returns the 403 of Keycloak's global error handler. */
export function forbidden(): AdminRefusal {
  return new AdminRefusal('forbidden');
}

/** Returns a 404. The text says what does not exist. */
export function notFound(error?: string): AdminRefusal {
  return new AdminRefusal('not-found', error === undefined ? undefined : { error });
}

/** Returns a 400 with Keycloak's `errorMessage`. */
export function badRequest(errorMessage: string): AdminRefusal {
  return new AdminRefusal('bad-request', { errorMessage });
}

/** Returns a 400 with Keycloak's `error`, and with its description if there is one. */
export function badInput(error: string, description?: string): AdminRefusal {
  const text = description === undefined ? {} : { error_description: description };
  return new AdminRefusal('bad-request', { error, ...text });
}

/** Returns a 409 with Keycloak's `errorMessage`. */
export function conflict(errorMessage: string): AdminRefusal {
  return new AdminRefusal('conflict', { errorMessage });
}

/** Returns the 409 for a duplicate that Keycloak has no message for, see docs/keycloak/errors.md#error-shapes. */
export function duplicateResource(): AdminRefusal {
  return new AdminRefusal('conflict', {
    error: 'conflict',
    error_description: 'Duplicate resource error',
  });
}
