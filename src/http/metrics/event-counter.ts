/** Series kept at most; a flood of new label values ends in one series instead of in memory. */
const MAX_SERIES = 10_000;

/** `keycloak_user_events_total` (facts §13). */
export interface EventSeries {
  /** Lower-case event type without `_error`. */
  event: string;
  /** Empty where the event is no error; one value for all that is wrong with a user. */
  error: string;
  realm: string;
  /** `unknown` where no such client exists. */
  client_id: string;
  count: number;
}

/**
 * What keeps a user from logging in. Told apart, the figures would say of a name that was just tried whether it exists,
 * is locked or is disabled; the events, which the realm's administrators read, tell it.
 */
const OF_A_USER: ReadonlySet<string> = new Set([
  'invalid_user_credentials',
  'user_not_found',
  'user_disabled',
  'user_temporarily_disabled',
]);

/** Counts user events by type, error, realm and client. */
export class EventCounter {
  readonly #series = new Map<string, EventSeries>();

  add(type: string, cause: string | undefined, realm: string, clientId: string | undefined): void {
    const error = cause !== undefined && OF_A_USER.has(cause) ? 'invalid_user_credentials' : cause;
    const client = error === 'client_not_found' || clientId === undefined ? 'unknown' : clientId;
    const key = `${type}\n${error ?? ''}\n${realm}\n${client}`;
    const known = this.#series.get(key);
    if (known !== undefined) {
      known.count++;
      return;
    }
    if (this.#series.size >= MAX_SERIES && client !== 'other') {
      this.add(type, error, realm, 'other');
      return;
    }
    this.#series.set(key, {
      event: type.toLowerCase().replace(/_error$/, ''),
      error: error ?? '',
      realm,
      client_id: client,
      count: 1,
    });
  }

  series(): readonly EventSeries[] {
    return [...this.#series.values()];
  }
}
