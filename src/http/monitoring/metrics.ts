import type { HashingFigures } from '../../crypto/index.ts';
import type { StoreFigures } from '../../store/index.ts';
import { RequestHistogram } from './request-histogram.ts';

/** The service's figures. Counting is cheap; prom-client is loaded and fed when somebody scrapes. */
export class Metrics {
  readonly requests = new RequestHistogram();
  readonly events = new EventCounter();
  readonly renewals = new RecentRenewals();
  readonly #reuseByRealm = new Map<string, number>();
  /** Password hashes that wait, and that were refused because too many waited. */
  readonly hashing: () => HashingFigures;
  #droppedEvents = 0;

  constructor(hashing: () => HashingFigures = () => ({ waiting: 0, refused: 0 })) {
    this.hashing = hashing;
  }

  /** A refresh token was presented again and its user session ended. */
  countReuse(realm: string): void {
    this.#reuseByRealm.set(realm, (this.#reuseByRealm.get(realm) ?? 0) + 1);
  }

  /** Events that could not be stored. */
  countDroppedEvents(count: number): void {
    this.#droppedEvents += count;
  }

  reuses(): readonly { realm: string; count: number }[] {
    return [...this.#reuseByRealm].map(([realm, count]) => ({ realm, count }));
  }

  get droppedEvents(): number {
    return this.#droppedEvents;
  }
}

/** What a scrape reads beside the counters. */
export interface FigureSource {
  figures(): Promise<StoreFigures>;
}

/** Series kept at most; a flood of new label values ends in one series instead of in memory. */
const MAX_SERIES = 10_000;

/** `keycloak_user_events_total` (facts §13). */
interface EventSeries {
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
class EventCounter {
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

/** The specification's window for failed renewals (Limits: "above 5% within 5 minutes"), in slices of ten seconds. */
const SLICE_MILLISECONDS = 10_000;
const SLICES = 30;

/** Refreshes of one realm within the last five minutes. */
interface RenewalFigures {
  realm: string;
  good: number;
  failed: number;
}

interface Slice {
  /** Which slice of time this is, counted from the start of the clock. */
  number: number;
  good: number;
  failed: number;
}

/** Counts refreshes by realm over the last five minutes, so that one look tells the share that failed. */
export class RecentRenewals {
  readonly #now: () => number;
  readonly #byRealm = new Map<string, Slice[]>();

  /** @param now milliseconds of a clock that is never set back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  add(realm: string, outcome: 'good' | 'failed'): void {
    let slices = this.#byRealm.get(realm);
    if (slices === undefined) {
      slices = Array.from({ length: SLICES }, () => ({ number: -1, good: 0, failed: 0 }));
      this.#byRealm.set(realm, slices);
    }
    const number = Math.floor(this.#now() / SLICE_MILLISECONDS);
    const slice = slices[number % SLICES]!;
    if (slice.number !== number) Object.assign(slice, { number, good: 0, failed: 0 });
    slice[outcome]++;
  }

  /** Every realm that ever saw a refresh, with 0 where there were none of late. */
  figures(): readonly RenewalFigures[] {
    const oldest = Math.floor(this.#now() / SLICE_MILLISECONDS) - SLICES;
    return [...this.#byRealm].map(([realm, slices]) => {
      const recent = slices.filter(({ number }) => number > oldest);
      return {
        realm,
        good: recent.reduce((sum, { good }) => sum + good, 0),
        failed: recent.reduce((sum, { failed }) => sum + failed, 0),
      };
    });
  }
}
