/** The specification's window for failed renewals (Limits: "above 5% within 5 minutes"), in slices of ten seconds. */
const SLICE_MILLISECONDS = 10_000;
const SLICES = 30;

/** Refreshes of one realm within the last five minutes. */
export interface RenewalFigures {
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
