import { randomInt } from 'node:crypto';

/**
 * The caller of a job. The queue alternates between realms, between the addresses of a realm, and between the users of
 * an address.
 */
export interface HashCaller {
  /** Realm id. */
  realm: string;
  /** The part of the sender's network address that identifies a network. */
  address: string;
  /** The name or id that identifies the user whose password is hashed. */
  user: string;
}

export interface QueuedJob {
  caller: HashCaller;
  /** Time that the job needs on a thread, in milliseconds. */
  cost: number;
  /** Memory that the job uses while it waits, in bytes. */
  bytes: number;
  /** Arrival of the job, in milliseconds of a monotonic clock. */
  since: number;
}

/** The limits of a queue. */
export interface QueueBounds {
  /** Number of jobs. */
  jobs: number;
  /** Memory of all jobs in bytes. */
  bytes: number;
  /** Work of all jobs in milliseconds. */
  cost: number;
}

/** A node in the tree of callers: all realms, one realm, an address of a realm, or a user of an address. */
interface Share<Job> {
  shares: Map<string, Share<Job>>;
  /** Waiting jobs in the order of arrival. Only the nodes of users have jobs. */
  jobs: Job[];
  /** Number of waiting jobs in this node and below it. */
  count: number;
  /** Total cost of the jobs taken so far. A new node starts at the `level` of its parent. */
  spent: number;
  /** The least `spent` of the children when one of them was served last. */
  level: number;
}

/**
 * A bounded queue in which no caller can block another. The next job belongs to the caller who has used the least time.
 * If the queue is full, it drops the newest job of the caller with the most jobs. So a single sender, or guesses for a
 * single user, can fill the queue only while no other caller needs it. Among equal callers, chance decides whose job is
 * next, and whose is dropped: a sender who guesses under many names could otherwise keep every user of the same address
 * out by being first. Preferring the names of existing users would show which users exist.
 */
export class FairQueue<Job extends QueuedJob> {
  readonly #root: Share<Job> = newShare(0);
  readonly #bounds: QueueBounds;
  readonly #choose: (count: number) => number;
  /** Sorted by arrival. */
  readonly #all = new Set<Job>();
  #bytes = 0;
  #cost = 0;

  /** @param choose returns a random integer from 0 up to, but not including, its argument */
  constructor(bounds: QueueBounds, choose: (count: number) => number = (count) => randomInt(count)) {
    this.#bounds = bounds;
    this.#choose = choose;
  }

  get length(): number {
    return this.#all.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a job.
   *
   * @returns the jobs that were dropped to make room, possibly the new one
   */
  add(job: Job): readonly Job[] {
    this.#all.add(job);
    this.#bytes += job.bytes;
    this.#cost += job.cost;
    const path = this.#openPath(job);
    for (const share of path) share.count++;
    path.at(-1)!.jobs.push(job);
    const gone: Job[] = [];
    while (this.#isOver()) gone.push(this.#removeNewestOfMost());
    return gone;
  }

  /**
   * Removes and returns the next job, which belongs to the caller who has used the least time.
   *
   * @param fits whether a job can be taken now. Default: every job can.
   */
  take(fits: (job: Job) => boolean = () => true): Job | undefined {
    const job = this.#next(this.#root, fits);
    if (job === undefined) return undefined;
    for (const share of this.#openPath(job)) share.spent += job.cost;
    this.remove(job);
    return job;
  }

  #next(share: Share<Job>, fits: (job: Job) => boolean): Job | undefined {
    if (share.shares.size === 0) return share.jobs.find(fits);
    const shares = new Set(share.shares.values());
    share.level = Math.min(...[...shares].map(({ spent }) => spent));
    while (shares.size > 0) {
      const next = this.#first(shares, (one) => one.spent);
      const job = this.#next(next, fits);
      if (job !== undefined) return job;
      shares.delete(next);
    }
    return undefined;
  }

  /** Removes and returns all jobs that arrived before `time`, in milliseconds. */
  takeOlderThan(time: number): readonly Job[] {
    const gone: Job[] = [];
    for (const job of this.#all) {
      if (job.since >= time) break;
      gone.push(job);
    }
    for (const job of gone) this.remove(job);
    return gone;
  }

  /** Removes and returns all jobs. */
  clear(): readonly Job[] {
    return this.takeOlderThan(Number.POSITIVE_INFINITY);
  }

  #isOver(): boolean {
    const { jobs, bytes, cost } = this.#bounds;
    // A job that waits alone is accepted whatever its cost.
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

  /** Returns the share that has the least `rank`, or any of several. */
  #first(shares: Iterable<Share<Job>>, rank: (share: Share<Job>) => number): Share<Job> {
    let first: Share<Job>[] = [];
    let least = Number.POSITIVE_INFINITY;
    for (const share of shares) {
      const own = rank(share);
      if (own < least) {
        first = [share];
        least = own;
      } else if (own === least) first.push(share);
    }
    return first.length === 1 ? first[0]! : first[this.#choose(first.length)]!;
  }

  /** Removes and returns the newest job of the caller with the most jobs, or of one of them. */
  #removeNewestOfMost(): Job {
    let share = this.#root;
    while (share.shares.size > 0) share = this.#first(share.shares.values(), (one) => -one.count);
    const job = share.jobs.at(-1)!;
    this.remove(job);
    return job;
  }

  /** Removes a job. Does nothing if it was removed before. */
  remove(job: Job): void {
    if (!this.#all.has(job)) return;
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
