import { createHash } from 'node:crypto';
import type { JobRecord } from '../../../backupset/index.ts';
import { nextCronTime, previousCronTime } from '../../../config/index.ts';

const HOUR = 3_600_000;
/** Bounds in milliseconds of how far a planned time may be ahead of the clock. See `furthestDone`. */
const LEAST_AHEAD = HOUR;
const MOST_AHEAD = 32 * 24 * HOUR;
/** Time in milliseconds, in addition to the jitter, after which a run is overdue. */
const GRACE = HOUR;

/** A planned job at one moment. Times are Unix times in milliseconds. */
export interface JobTimes {
  /** The planned time for which the job must run now. Of several that were missed, only the newest counts. */
  due?: number;
  /** The next planned time. Undefined if the times never match again. */
  next: number | undefined;
  /** The moment at which the job begins next: `next` with its jitter. */
  beginsAt: number | undefined;
}

/** What decides when a job runs. */
export interface JobPlan {
  /** A cron expression in UTC. */
  cron: string;
  /** The delay of a planned time in milliseconds. */
  jitter: (planned: number) => number;
}

/** Decides whether a job must run. @param now Unix time in milliseconds */
export function timesOf({ cron, jitter }: JobPlan, record: JobRecord | undefined, now: number): JobTimes {
  const began = newestBegun({ cron, jitter }, now);
  const next = nextCronTime(cron, began ?? now, 'UTC');
  const times = { next, beginsAt: next === undefined ? undefined : next + jitter(next) };
  if (began === undefined || record === undefined) return times;
  const done = newestDone(record, cron, now);
  return done !== undefined && done < began ? { ...times, due: began } : times;
}

/** Returns the newest planned time whose jitter has passed. */
function newestBegun({ cron, jitter }: JobPlan, now: number): number | undefined {
  let planned = previousCronTime(cron, now);
  // The jitter can be longer than the time between two runs.
  while (planned !== undefined && planned + jitter(planned) > now)
    planned = previousCronTime(cron, planned - 1);
  return planned;
}

/**
 * Returns the latest planned time that counts as handled. A clock that goes back repeats no run, so a planned time ahead
 * of the clock counts, by up to one interval of the job. A time that is further ahead is from a clock that was wrong, and
 * would stop the job for a long time.
 */
function furthestDone(cron: string, now: number): number {
  const interval = (nextCronTime(cron, now, 'UTC') ?? now) - (previousCronTime(cron, now) ?? now);
  return now + Math.min(MOST_AHEAD, Math.max(LEAST_AHEAD, interval));
}

/** Returns the newest planned time that the job has handled, without those of a clock that was ahead. */
function newestDone({ done }: JobRecord, cron: string, now: number): number | undefined {
  const furthest = furthestDone(cron, now);
  const times = done.map((time) => Date.parse(time)).filter((time) => time <= furthest);
  return times.length === 0 ? undefined : Math.max(...times);
}

/**
 * Returns whether a record says when the job ran last. If not, the schedule begins at this moment: it is a new platform,
 * or all times are from a clock that was ahead.
 */
export function hasBegun(cron: string, record: JobRecord | undefined, now: number): record is JobRecord {
  return record !== undefined && newestDone(record, cron, now) !== undefined;
}

/** Returns the planned times of a record with one more, newest first, and without those of a clock that was ahead. */
export function addDone(
  cron: string,
  record: JobRecord | undefined,
  due: number,
  now: number,
): readonly string[] {
  const furthest = furthestDone(cron, now);
  const kept = (record?.done ?? []).map((time) => Date.parse(time));
  return [...kept.filter((time) => time !== due && time <= furthest), due]
    .toSorted((one, other) => other - one)
    .map((time) => new Date(time).toISOString());
}

/** Returns the time after which a good run is overdue, if the job was good for a planned time. */
export function expectedBy({ cron, jitter }: JobPlan, planned: number): string {
  const next = nextCronTime(cron, planned, 'UTC') ?? planned;
  return new Date(next + jitter(next) + GRACE).toISOString();
}

/**
 * Returns a function that delays each planned time by a fixed part of `seconds`. The delay depends on the platform, the
 * machine and the job, so `status` can show it and replicas differ.
 */
export function jitterOf(seconds: number, seed: string): (planned: number) => number {
  return (planned) => {
    if (seconds === 0) return 0;
    const hash = createHash('sha256').update(`${seed} ${planned}`).digest();
    return hash.readUInt32BE(0) % (seconds * 1000);
  };
}
