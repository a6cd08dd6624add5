import type { HashingFigures } from '../../crypto/index.ts';
import type { Store } from '../../store/index.ts';
import { MinuteHistory } from './minute-history.ts';

/** The counters of the service. They work without prom-client, which is loaded only at the first scrape. */
export class Metrics {
  readonly requests = new RequestHistogram();
  readonly events = new EventCounter();
  readonly renewals = new RecentRenewals();
  readonly history = new MinuteHistory();
  readonly #reuseByRealm = new Map<string, number>();
  readonly #repeatsByRealm = new Map<string, number>();
  /**
   * Returns the number of passwords that are waiting to be hashed, and the number that were rejected because too many
   * were waiting.
   */
  readonly hashing: () => HashingFigures;
  #droppedEvents = 0;

  constructor(hashing: () => HashingFigures = () => ({ waiting: 0, refused: 0 })) {
    this.hashing = hashing;
  }

  /** Counts a reused refresh token, which ended its user session. */
  countReuse(realm: string): void {
    this.#reuseByRealm.set(realm, (this.#reuseByRealm.get(realm) ?? 0) + 1);
  }

  /** Counts a refresh that a client repeated within the grace period, and that returned the same refresh token again. */
  countRepeat(realm: string): void {
    this.#repeatsByRealm.set(realm, (this.#repeatsByRealm.get(realm) ?? 0) + 1);
  }

  /** Counts events that were not stored. */
  countDroppedEvents(count: number): void {
    this.#droppedEvents += count;
  }

  reuses(): readonly { realm: string; count: number }[] {
    return [...this.#reuseByRealm].map(([realm, count]) => ({ realm, count }));
  }

  repeats(): readonly { realm: string; count: number }[] {
    return [...this.#repeatsByRealm].map(([realm, count]) => ({ realm, count }));
  }

  get droppedEvents(): number {
    return this.#droppedEvents;
  }
}

/** The store's part of the metrics, which every scrape reads in addition to the counters. */
export type FigureSource = Pick<
  Store,
  'figures' | 'lanes' | 'listDue' | 'listBackgroundMigrations' | 'clock'
>;

/** Maximum number of series. Beyond it, all new clients share the series `other`, so that memory stays bounded. */
const MAX_SERIES = 10_000;

/** One series of `keycloak_user_events_total` (docs/keycloak/realms.md#metrics). */
interface EventSeries {
  /** The event type in lower case without `_error`. */
  event: string;
  /** Empty for a success. The errors in `USER_ERRORS` share one value. */
  error: string;
  realm: string;
  /** `unknown` if the client does not exist. */
  client_id: string;
  count: number;
}

/**
 * Errors of a login that share one label value. Separate values would reveal whether a user exists, is locked or is
 * disabled. Events distinguish the errors, but only administrators of the realm can read events.
 */
const USER_ERRORS: ReadonlySet<string> = new Set([
  'invalid_user_credentials',
  'user_not_found',
  'user_disabled',
  'user_temporarily_disabled',
]);

/** Counts user events by type, error, realm and client. */
class EventCounter {
  readonly #series = new Map<string, EventSeries>();

  add(type: string, cause: string | undefined, realm: string, clientId: string | undefined): void {
    const error = cause !== undefined && USER_ERRORS.has(cause) ? 'invalid_user_credentials' : cause;
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

/** Duration in milliseconds of one slice of the window in which refreshes are counted. */
const SLICE_MILLISECONDS = 10_000;
/** Number of slices in the window, which covers five minutes. */
const SLICES = 30;

/** The refreshes of one realm within the last five minutes. */
interface RenewalFigures {
  realm: string;
  good: number;
  failed: number;
}

interface Slice {
  /** The time of the slice, as a number of slices since the clock started. */
  number: number;
  good: number;
  failed: number;
}

/** Counts the refreshes of the last five minutes by realm, so that a single scrape shows the share of failures. */
export class RecentRenewals {
  readonly #now: () => number;
  readonly #byRealm = new Map<string, Slice[]>();

  /** @param now a monotonic clock in milliseconds */
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

  /** Returns the counts of every realm that has had a refresh since the process started. */
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

/** Upper bounds of the buckets in seconds. The last bucket, +Inf, is implied. */
export const REQUEST_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

/** Counts and times of the requests with the same method, route and status. */
export interface RequestSeries {
  method: string;
  /** The route's pattern, never the path itself. */
  uri: string;
  status: number;
  /** Requests per bucket, not cumulative. There is one more bucket than in REQUEST_BUCKETS. */
  buckets: number[];
  sumSeconds: number;
  count: number;
}

/**
 * Collects request times by route. It uses plain arrays instead of prom-client's histograms, so that a request costs
 * only one map lookup and a few additions.
 */
export class RequestHistogram {
  readonly #byRoute = new Map<string, Map<number, RequestSeries>>();

  /** Returns the object to which a route reports the times of its requests. */
  forRoute(method: string, uri: string): RouteTimes {
    const key = `${method} ${uri}`;
    let byStatus = this.#byRoute.get(key);
    if (byStatus === undefined) {
      byStatus = new Map();
      this.#byRoute.set(key, byStatus);
    }
    return new RouteTimes(method, uri, byStatus);
  }

  /** Returns the series of all routes that had at least one request. */
  series(): readonly RequestSeries[] {
    return [...this.#byRoute.values()].flatMap((byStatus) => [...byStatus.values()]);
  }
}

/** Collects the request times of one route. */
export class RouteTimes {
  readonly #method: string;
  readonly #uri: string;
  readonly #byStatus: Map<number, RequestSeries>;

  constructor(method: string, uri: string, byStatus: Map<number, RequestSeries>) {
    this.#method = method;
    this.#uri = uri;
    this.#byStatus = byStatus;
  }

  observe(status: number, seconds: number): void {
    let series = this.#byStatus.get(status);
    if (series === undefined) {
      series = {
        method: this.#method,
        uri: this.#uri,
        status,
        buckets: new Array<number>(REQUEST_BUCKETS.length + 1).fill(0),
        sumSeconds: 0,
        count: 0,
      };
      this.#byStatus.set(status, series);
    }
    let bucket = 0;
    while (bucket < REQUEST_BUCKETS.length && seconds > REQUEST_BUCKETS[bucket]!) bucket++;
    series.buckets[bucket]!++;
    series.sumSeconds += seconds;
    series.count++;
  }
}
