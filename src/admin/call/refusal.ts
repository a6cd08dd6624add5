import type { Stale } from '../../store/index.ts';
import type { Json } from '../representation/json.ts';

/** Why administration was refused, in words that the HTTP layer turns into a status. */
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
 * (docs/keycloak/errors.md#error-shapes). Default: the text of the status.
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

/** A record was changed by somebody else since it was read; nothing was done. Who meets it reads again. */
export class StaleRecord extends Error {
  override readonly name = 'StaleRecord';
  readonly stale: Stale;

  constructor(stale: Stale) {
    super(`${stale.what} ${stale.id} was changed since it was read`);
    this.stale = stale;
  }
}

/** 401 of Keycloak's global handler. */
export function unauthorized(): AdminRefusal {
  return new AdminRefusal('unauthorized');
}

/** 403 of Keycloak's global handler. */
export function forbidden(): AdminRefusal {
  return new AdminRefusal('forbidden');
}

/** 404 with the text of what is not there. */
export function notFound(error?: string): AdminRefusal {
  return new AdminRefusal('not-found', error === undefined ? undefined : { error });
}

/** 400 with Keycloak's `errorMessage`. */
export function badRequest(errorMessage: string): AdminRefusal {
  return new AdminRefusal('bad-request', { errorMessage });
}

/** 400 with Keycloak's `error`, and a description where it has one. */
export function badInput(error: string, description?: string): AdminRefusal {
  const text = description === undefined ? {} : { error_description: description };
  return new AdminRefusal('bad-request', { error, ...text });
}

/** 409 with Keycloak's `errorMessage`. */
export function conflict(errorMessage: string): AdminRefusal {
  return new AdminRefusal('conflict', { errorMessage });
}

/** 409 of a model duplicate that Keycloak did not foresee (facts §1). */
export function duplicateResource(): AdminRefusal {
  return new AdminRefusal('conflict', {
    error: 'conflict',
    error_description: 'Duplicate resource error',
  });
}
