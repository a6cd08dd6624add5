import type { HashingFigures } from '../../crypto/index.ts';
import type { StoreFigures } from '../../store/index.ts';
import { EventCounter } from './event-counter.ts';
import { RecentRenewals } from './recent-renewals.ts';
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
