import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { JobRecord, RootOverview, SetOverview } from '../backupset/index.ts';
import { type JobId, nextCronTime, ownVersion, plannedJobs, type Settings } from '../config/index.ts';
import { IdkitError, seconds, systemErrorCode } from '../core/index.ts';
import type { Metrics, Operations } from '../http/index.ts';
import type { Store } from '../store/index.ts';
import { findAlerts } from './operations-alerts.ts';

/** Time in milliseconds for which the overview of the backup root and the figures are reused. */
const REUSED_MS = 10_000;

/** Time in seconds by which a job that runs at least daily may be late. Others may be late by a seventh of their interval. */
const LATE_SECONDS = 2 * 3600;

/** The parts of a service from which its state is read. */
export interface OperationsParts {
  settings: Settings;
  store: Pick<Store, 'figures' | 'listDue' | 'listBackgroundMigrations' | 'listServices' | 'clock'>;
  metrics: Pick<Metrics, 'history' | 'renewals'>;
  /** Returns the base URL, which is known when the service listens. */
  baseUrl: () => string;
}

/**
 * Returns a function that reads the state of the platform. Parallel calls share one reading. A part that cannot be read
 * is absent, so that it does not hide the others.
 */
export function openOperations(parts: OperationsParts): () => Promise<Operations> {
  const startedAt = new Date(Date.now() - process.uptime() * 1000).toISOString();
  let reading: Promise<Slow> | undefined;
  let goodUntil = 0;
  const readSlow = (): Promise<Slow> => {
    if (reading !== undefined && performance.now() < goodUntil) return reading;
    goodUntil = performance.now() + REUSED_MS;
    reading = readParts(parts);
    return reading;
  };
  return async () => {
    const slow = await readSlow();
    const known: Omit<Operations, 'alerts'> = {
      at: new Date().toISOString(),
      service: {
        version: ownVersion(),
        startedAt,
        baseUrl: parts.baseUrl(),
        host: hostname(),
        pid: process.pid,
      },
      ...slow,
      traffic: parts.metrics.history.minutes(),
      renewals: parts.metrics.renewals.figures(),
    };
    return { ...known, alerts: findAlerts(known) };
  };
}

type Slow = Pick<Operations, 'replicas' | 'database' | 'backups' | 'schedule'>;

async function readParts(parts: OperationsParts): Promise<Slow> {
  const [replicas, database, backups] = await Promise.all([
    readReplicas(parts),
    readDatabase(parts),
    readBackups(parts.settings),
  ]);
  const schedule = await readSchedule(parts.settings, backups.overview, Date.now());
  return { replicas, database, backups, schedule };
}

/** Runs a read, and returns the fallback if the database or the file system does not respond. */
async function orElse<T>(read: () => Promise<T>, fallback: T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof IdkitError || systemErrorCode(error) !== undefined) return fallback;
    throw error;
  }
}

async function readReplicas({ store }: OperationsParts): Promise<Operations['replicas']> {
  const services = await orElse(() => store.listServices(), []);
  const own = { name: `idkit serve ${hostname()} ${process.pid}` };
  if (services.length === 0) return [own];
  return services.map(({ name, since }) => ({ name, since: new Date(since).toISOString() }));
}

async function readDatabase({ settings, store }: OperationsParts): Promise<Operations['database']> {
  const { database } = settings;
  const figures = await orElse(() => store.figures(), undefined);
  const due = await orElse(() => store.listDue(seconds(store.clock)), []);
  const migrations = await orElse(() => store.listBackgroundMigrations(), []);
  const free =
    database.kind === 'sqlite' ? await orElse(() => statfs(dirname(database.file)), undefined) : undefined;
  return {
    kind: database.kind,
    ...(figures === undefined
      ? {}
      : {
          figures: {
            bytes: figures.databaseBytes,
            schemaVersion: figures.schemaVersion,
            realms: figures.realms,
            users: figures.users,
            userSessions: figures.userSessions,
            offlineSessions: figures.offlineSessions,
            openLogins: figures.openLogins,
          },
        }),
    ...(free === undefined ? {} : { freeBytes: free.bavail * free.bsize }),
    due: due.filter(({ records }) => records > 0),
    migrations: migrations.map(({ name, title, handled, left }) => ({
      name,
      title,
      handled,
      ...(left === undefined ? {} : { left }),
    })),
  };
}

async function readBackups({ backup, dir }: Settings): Promise<Operations['backups']> {
  const { root, keepDays, mirror } = backup;
  const { overviewRoot } = await import('../backupset/index.ts');
  const known = { root, keepDays, mirror: mirror !== null };
  try {
    const overview = await overviewRoot(root, Date.now());
    const newest = newestGood(overview);
    return {
      ...known,
      overview,
      ...(newest === undefined
        ? {}
        : { restore: `idkit --dir ${quote(dir)} restore --from ${quote(join(root, newest.name))}` }),
    };
  } catch (error) {
    if (!(error instanceof IdkitError) && systemErrorCode(error) === undefined) throw error;
    return { ...known, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the newest set that can be restored. */
export function newestGood({ sets }: RootOverview): SetOverview | undefined {
  return sets.find(({ whole, future, state }) => whole && !future && state !== 'bad');
}

function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

async function readSchedule(
  settings: Settings,
  overview: RootOverview | undefined,
  now: number,
): Promise<Operations['schedule']> {
  const { findJobRecord } = await import('../backupset/index.ts');
  const rows: Operations['schedule'][number][] = [];
  for (const { id, title, cron } of plannedJobs(settings)) {
    const record = await orElse(() => findJobRecord(settings.backup.root, id), undefined);
    const last = findLast(overview, id, record);
    const next = nextCronTime(cron, now, 'UTC') ?? now;
    const everySeconds = ((nextCronTime(cron, next, 'UTC') ?? next) - next) / 1000;
    const isOverdue = record !== undefined && now > Date.parse(record.expectedBy);
    rows.push({
      id,
      title,
      everySeconds,
      ...(last === undefined ? {} : { last }),
      ...(record === undefined ? {} : { next: new Date(next).toISOString() }),
      late: isOverdue || (leavesResults(id) && isOlderThan(last, lateAfter(everySeconds), now)),
    });
  }
  return rows;
}

/** Whether the result of a job can be seen even if no scheduler has run it. */
function leavesResults(id: JobId): boolean {
  return id !== 'mirror' && id !== 'retention';
}

function lateAfter(everySeconds: number): number {
  return everySeconds + (everySeconds > 86_400 ? everySeconds / 7 : LATE_SECONDS);
}

function isOlderThan(last: LastRun | undefined, ageSeconds: number, now: number): boolean {
  return last === undefined || now - Date.parse(last.at) > ageSeconds * 1000;
}

type LastRun = NonNullable<Operations['schedule'][number]['last']>;

/** Finds the last result of a job: the recorded ones, or what the sets themselves show. The newest one counts. */
function findLast(
  overview: RootOverview | undefined,
  id: string,
  record: JobRecord | undefined,
): LastRun | undefined {
  const { sets, last } = overview ?? { sets: [], last: {} as RootOverview['last'] };
  const found: LastRun[] = [];
  const recorded = last[id];
  if (recorded !== undefined)
    found.push({ at: recorded.at, outcome: recorded.outcome, messages: recorded.messages });
  if (record?.last !== undefined) {
    const { at, outcome, message, milliseconds } = record.last;
    found.push({ at, outcome, messages: message === undefined ? [] : [message], milliseconds });
  }
  for (const set of sets.filter(({ future }) => !future)) {
    if (id === 'verify' && set.verified !== undefined)
      found.push({
        at: set.verified.at,
        outcome: set.verified.verdict === 'good' ? 'good' : 'failed',
        messages: set.verified.problems,
      });
    if (id === 'drill' && set.drill !== undefined)
      found.push({
        at: set.drill.startedAt,
        outcome: set.drill.outcome === 'passed' ? 'good' : 'failed',
        messages: set.drill.problems,
      });
    if (set.parts.some((part) => id === `backup-${part}`))
      found.push({ at: set.startedAt, outcome: 'good', messages: [] });
  }
  return found.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at)).at(-1);
}
