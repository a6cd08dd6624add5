/** The caller of a job. Realms take turns, then the addresses of a realm, then the users of an address. */
export interface HashCaller {
  /** Id of the realm. */
  realm: string;
  /** The part of the network address that distinguishes senders. */
  address: string;
  /** The user whose password is hashed, under any name. */
  user: string;
}

export interface QueuedJob {
  caller: HashCaller;
  /** The thread time that it needs, in milliseconds. */
  cost: number;
  /** Memory that it uses while it waits, in bytes. */
  bytes: number;
  /** Time of its arrival, in milliseconds of a monotonic clock. */
  since: number;
}

/** Limits of a queue: jobs, bytes, and work in milliseconds. */
export interface QueueBounds {
  jobs: number;
  bytes: number;
  cost: number;
}

/** A share of the queue: all realms, one realm, one address of it, or one user of that address. */
interface Share<Job> {
  shares: Map<string, Share<Job>>;
  /** Jobs in order of arrival. Only the share of a user has any. */
  jobs: Job[];
  /** Jobs of this share and all shares in it. */
  count: number;
  /** Cost of the jobs taken so far. A new share starts at the `level` of its parent. */
  spent: number;
  /** `spent` of the inner share that was served last. */
  level: number;
}

/**
 * A bounded queue in which no caller blocks another. The next job is that of the caller who has used the least time. If
 * the queue is full, it drops the newest job of the caller with the most jobs. One sender, or guesses at one user, fill
 * it only as long as no other caller needs it.
 */
export class FairQueue<Job extends QueuedJob> {
  readonly #root: Share<Job> = newShare(0);
  readonly #bounds: QueueBounds;
  /** In order of arrival. */
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

  /** Adds a job. @returns the jobs that were dropped to make room, possibly the new one */
  add(job: Job): readonly Job[] {
    this.#all.add(job);
    this.#bytes += job.bytes;
    this.#cost += job.cost;
    const path = this.#openPath(job);
    for (const share of path) share.count++;
    path.at(-1)!.jobs.push(job);
    const gone: Job[] = [];
    while (this.#isOver()) gone.push(this.#removeNewestOfMost(job.caller));
    return gone;
  }

  /** Removes and returns the next job: that of the caller who has used the least time. */
  take(): Job | undefined {
    const path = [this.#root];
    for (let share = this.#root; share.shares.size > 0; ) {
      let next: Share<Job> | undefined;
      for (const one of share.shares.values()) if (next === undefined || one.spent < next.spent) next = one;
      share.level = next!.spent;
      path.push(next!);
      share = next!;
    }
    const job = path.at(-1)!.jobs[0];
    if (job === undefined) return undefined;
    for (const share of path) share.spent += job.cost;
    this.#remove(job);
    return job;
  }

  /** Removes and returns the jobs that arrived before a time, in milliseconds. */
  takeOlderThan(time: number): readonly Job[] {
    const gone: Job[] = [];
    for (const job of this.#all) {
      if (job.since >= time) break;
      gone.push(job);
    }
    for (const job of gone) this.#remove(job);
    return gone;
  }

  /** Removes and returns all jobs. */
  clear(): readonly Job[] {
    return this.takeOlderThan(Number.POSITIVE_INFINITY);
  }

  #isOver(): boolean {
    const { jobs, bytes, cost } = this.#bounds;
    // A single job is accepted whatever its cost, because no other job waits.
    return this.#all.size > jobs || (this.#all.size > 1 && (this.#bytes > bytes || this.#cost > cost));
  }

  #openPath({ caller }: Job): readonly Share<Job>[] {
    const path = [this.#root];
    for (const name of namesOf(caller)) {
      const parent = path.at(-1)!;
      let share = parent.shares.get(name);
      if (share === undefined) {
        share = newShare(parent.level);
        parent.shares.set(name, share);
      }
      path.push(share);
    }
    return path;
  }

  /** Among callers with equally many jobs, the new job is dropped rather than a waiting one. */
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
    const path = this.#openPath(job);
    const names = namesOf(job.caller);
    const { jobs } = path.at(-1)!;
    jobs.splice(jobs[0] === job ? 0 : jobs.lastIndexOf(job), 1);
    for (const [depth, share] of path.entries()) {
      share.count--;
      if (share.count === 0 && depth > 0) path[depth - 1]!.shares.delete(names[depth - 1]!);
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
