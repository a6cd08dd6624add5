/** What one process counted in one minute. */
export interface MinuteCounts {
  /** The start of the minute: Unix time in milliseconds. */
  at: number;
  /** Refreshes that succeeded. */
  renewals: number;
  renewalFailures: number;
  /** Logins of users, in browsers and with the password grant. */
  logins: number;
  loginFailures: number;
}

type Kind = Exclude<keyof MinuteCounts, 'at'>;

const MINUTE = 60_000;
/** Number of minutes that are kept. */
const KEPT = 180;

/** The events that are counted. */
const KINDS: Readonly<Record<string, Kind>> = {
  REFRESH_TOKEN: 'renewals',
  REFRESH_TOKEN_ERROR: 'renewalFailures',
  LOGIN: 'logins',
  LOGIN_ERROR: 'loginFailures',
};

/** Counts refreshes and logins by minute for the last three hours, so that the console can draw them. */
export class MinuteHistory {
  readonly #minutes: MinuteCounts[] = [];
  readonly #startedAt: number;

  /** @param now the start of the process: Unix time in milliseconds */
  constructor(now: number = Date.now()) {
    this.#startedAt = now;
  }

  /** Counts an event of the given type, if it is one of those that the console draws. */
  count(type: string, now: number = Date.now()): void {
    const kind = KINDS[type];
    if (kind === undefined) return;
    this.#minuteOf(now)[kind] += 1;
  }

  /** Returns the minutes since the start of the process, at most 180, the oldest first. The last one is incomplete. */
  minutes(now: number = Date.now()): readonly MinuteCounts[] {
    const last = startOf(now);
    const first = Math.max(startOf(this.#startedAt), last - (KEPT - 1) * MINUTE);
    const counted = new Map(this.#minutes.map((minute) => [minute.at, minute]));
    const count = Math.max(1, (last - first) / MINUTE + 1);
    return Array.from({ length: count }, (_, place) => {
      const at = first + place * MINUTE;
      return counted.get(at) ?? emptyMinute(at);
    });
  }

  #minuteOf(now: number): MinuteCounts {
    const at = startOf(now);
    const newest = this.#minutes.at(-1);
    // A clock that is set back counts into the newest minute, so that the list stays sorted.
    if (newest !== undefined && newest.at >= at) return newest;
    const minute = emptyMinute(at);
    this.#minutes.push(minute);
    if (this.#minutes.length > KEPT) this.#minutes.shift();
    return minute;
  }
}

function startOf(time: number): number {
  return Math.floor(time / MINUTE) * MINUTE;
}

function emptyMinute(at: number): MinuteCounts {
  return { at, renewals: 0, renewalFailures: 0, logins: 0, loginFailures: 0 };
}
