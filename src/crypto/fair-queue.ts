/** For whom a job is done: its turn comes by realm, within the realm by address, within the address by user. */
export interface HashCaller {
  /** Id of the realm. */
  realm: string;
  /** Network address, as far as it tells senders apart. */
  address: string;
  /** Whose password it is, by whatever name. */
  user: string;
}

/** A job that waits. */
export interface QueuedJob {
  caller: HashCaller;
  /** Milliseconds of a thread that it takes. */
  cost: number;
  /** Bytes that it keeps while it waits. */
  bytes: number;
  /** When it came, milliseconds. */
  since: number;
}

/** What a queue holds at most: jobs, bytes, and milliseconds of threads. */
export interface QueueBounds {
  jobs: number;
  bytes: number;
  cost: number;
}

/** A share of the queue: all realms, one realm, one address there, or one user there. */
interface Share<Job> {
  shares: Map<string, Share<Job>>;
  /** Of a user alone, first come first. */
  jobs: Job[];
  /** Jobs of this share and all below. */
  count: number;
  /** Cost that was taken out of it, counted from where its neighbours were when it came. */
  spent: number;
  /** `spent` of the share within it that was served last. */
  level: number;
}

/**
 * A queue with bounds in which nobody is in the way of the others: who has had least is served next, and where it is
 * full the newest job of who has most in it goes. One sender, or one user at whom somebody guesses, can fill it no
 * longer than nobody else needs it.
 */
export class FairQueue<Job extends QueuedJob> {
  readonly #root: Share<Job> = newShare(0);
  readonly #bounds: QueueBounds;
  /** In the order in which they came. */
  readonly #all = new Set<Job>();
  #bytes = 0;
  #cost = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get length(): number {
    return this.#all.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a job. @returns what had to go for it, which may be the job itself */
  add(job: Job): readonly Job[] {
    this.#all.add(job);
    this.#bytes += job.bytes;
    this.#cost += job.cost;
    const way = this.#openWay(job);
    for (const share of way) share.count++;
    way.at(-1)!.jobs.push(job);
    const gone: Job[] = [];
    while (this.#isOver()) gone.push(this.#removeNewestOfMost(job.caller));
    return gone;
  }

  /** The next job of who has had least. */
  take(): Job | undefined {
    const way = [this.#root];
    for (let share = this.#root; share.shares.size > 0; ) {
      let next: Share<Job> | undefined;
      for (const one of share.shares.values()) if (next === undefined || one.spent < next.spent) next = one;
      share.level = next!.spent;
      way.push(next!);
      share = next!;
    }
    const job = way.at(-1)!.jobs[0];
    if (job === undefined) return undefined;
    for (const share of way) share.spent += job.cost;
    this.#remove(job);
    return job;
  }

  /** Takes away what came before a time, in milliseconds. */
  takeOlderThan(time: number): readonly Job[] {
    const gone: Job[] = [];
    for (const job of this.#all) {
      if (job.since >= time) break;
      gone.push(job);
    }
    for (const job of gone) this.#remove(job);
    return gone;
  }

  /** Takes everything away. */
  clear(): readonly Job[] {
    return this.takeOlderThan(Number.POSITIVE_INFINITY);
  }

  #isOver(): boolean {
    const { jobs, bytes, cost } = this.#bounds;
    // One job is taken whatever it costs: nothing else waits.
    return this.#all.size > jobs || (this.#all.size > 1 && (this.#bytes > bytes || this.#cost > cost));
  }

  #openWay({ caller }: Job): readonly Share<Job>[] {
    const way = [this.#root];
    for (const name of namesOf(caller)) {
      const parent = way.at(-1)!;
      let share = parent.shares.get(name);
      if (share === undefined) {
        share = newShare(parent.level);
        parent.shares.set(name, share);
      }
      way.push(share);
    }
    return way;
  }

  /** Among those who have the same, the newcomer's: who waits already is not sent away for another one. */
  #removeNewestOfMost(newcomer: HashCaller): Job {
    let share = this.#root;
    for (const name of namesOf(newcomer)) {
      let most = share.shares.get(name);
      for (const one of share.shares.values()) if (most === undefined || one.count > most.count) most = one;
      share = most!;
    }
    const job = share.jobs.at(-1)!;
    this.#remove(job);
    return job;
  }

  #remove(job: Job): void {
    const way = this.#openWay(job);
    const names = namesOf(job.caller);
    const { jobs } = way.at(-1)!;
    jobs.splice(jobs[0] === job ? 0 : jobs.lastIndexOf(job), 1);
    for (const [depth, share] of way.entries()) {
      share.count--;
      if (share.count === 0 && depth > 0) way[depth - 1]!.shares.delete(names[depth - 1]!);
    }
    this.#all.delete(job);
    this.#bytes -= job.bytes;
    this.#cost -= job.cost;
  }
}

function newShare<Job>(spent: number): Share<Job> {
  return { shares: new Map(), jobs: [], count: 0, spent, level: 0 };
}

function namesOf({ realm, address, user }: HashCaller): readonly [string, string, string] {
  return [realm, address, user];
}
