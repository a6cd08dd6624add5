import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findHolders, nextCronTime, type Settings } from '../../config/index.ts';
import type { JobOverview } from '../schedule/run/overview.ts';
import { schedulerLock } from '../schedule/run/scheduler.ts';
import { plannedTimers } from '../schedule/timers.ts';

import { finding, type Judgement, warning } from './judge.ts';

/** A procedure that a timer or cron line runs. */
export interface ScheduledRun {
  procedure: 'backup' | 'verify' | 'drill' | 'mirror' | 'retention';
  /** The next run: ISO 8601, UTC. Absent if the timer is not active. */
  next?: string;
  /** The unit, or the file of the cron line. */
  place: string;
  /** Set if the last run of the unit failed: its result and exit status. */
  failed?: string;
}

/**
 * The next runs, and where they were read. `running`: `idkit schedule run` runs them. `none`: no timer was found, so they
 * are those that `idkit schedule` prints.
 */
export interface FoundSchedule {
  source: 'installed' | 'running' | 'none';
  runs: readonly ScheduledRun[];
}

/** Where cron lines and timers are read. Tests replace them. */
export interface ScheduleSources {
  /** Files with lines of cron, and directories of such files. */
  cronFiles: readonly string[];
  /** Returns the output of a program, or undefined if it fails or is not installed. */
  run(program: string, args: readonly string[]): Promise<string | undefined>;
}

export const SYSTEM_SOURCES: ScheduleSources = {
  cronFiles: ['/etc/crontab', '/etc/cron.d'],
  async run(program, args) {
    try {
      return (await promisify(execFile)(program, [...args], { timeout: 5_000 })).stdout;
    } catch {
      // Containers have neither systemd nor cron, and a user without lines has no crontab.
      return undefined;
    }
  },
};

/**
 * Finds what runs procedures for this platform: timers, cron lines, or `idkit schedule run`.
 *
 * @param now Unix time in milliseconds
 */
export async function findSchedule(
  settings: Settings,
  now: number,
  sources: ScheduleSources = SYSTEM_SOURCES,
): Promise<FoundSchedule> {
  const { dir } = settings;
  const installed = [...(await findTimers(dir, sources)), ...(await findCronLines(dir, now, sources))];
  if (installed.length > 0) return { source: 'installed', runs: installed };
  const [scheduler] = await findHolders(schedulerLock(dir));
  const planned = plannedTimers(settings).map(({ id, cron }): ScheduledRun => {
    const next = nextCronTime(cron, now, 'UTC');
    return {
      procedure: procedureOfJob(id) ?? 'backup',
      place:
        scheduler === undefined ? id : `${scheduler.command}, process ${scheduler.pid} on ${scheduler.host}`,
      ...(next === undefined ? {} : { next: new Date(next).toISOString() }),
    };
  });
  return { source: scheduler === undefined ? 'none' : 'running', runs: planned };
}

/** Returns the procedure that a command line of idkit runs. */
function procedureOf(command: string): ScheduledRun['procedure'] | undefined {
  const [, job] = /\sschedule run\s(?:.*\s)?--job[ =]([a-z-]+)/.exec(command) ?? [];
  if (job !== undefined) return procedureOfJob(job);
  const [, word] = /(?:^|\s)(backup|verify|drill)(?:\s|$)/.exec(command) ?? [];
  if (word === 'verify' && /\s--drill(?:\s|$)/.test(command)) return 'drill';
  return word as ScheduledRun['procedure'] | undefined;
}

function procedureOfJob(job: string): ScheduledRun['procedure'] | undefined {
  return (['backup', 'verify', 'drill', 'mirror', 'retention'] as const).find((name) => job.startsWith(name));
}

/** True if a command line runs idkit for this platform. Without `--dir`, it is assumed to. */
function isOurs(command: string, dir: string): boolean {
  if (!/\bidkit\b/.test(command)) return false;
  if (!/\s--dir[ =]/.test(command)) return true;
  return command
    .split(dir)
    .slice(1)
    .some((rest) => /^["'\s;]|^$/.test(rest));
}

/** Reads the timers of systemd, of the system and of this user. */
async function findTimers(dir: string, sources: ScheduleSources): Promise<readonly ScheduledRun[]> {
  const runs: ScheduledRun[] = [];
  for (const scope of ['--system', '--user']) {
    const show = (properties: string, unit: string) =>
      sources.run('systemctl', [scope, 'show', '--timestamp=unix', `--property=${properties}`, unit]);
    const timers = parseUnits(
      (await show('Id,Unit,ActiveState,NextElapseUSecRealtime', 'idkit*.timer')) ?? '',
    );
    for (const timer of timers) {
      const unit = timer.get('Unit');
      if (unit === undefined || unit === '') continue;
      const [service] = parseUnits((await show('Id,ExecStart,Result,ExecMainStatus', unit)) ?? '');
      const run = service === undefined ? undefined : runOfUnit(timer, service, dir);
      if (run !== undefined) runs.push(run);
    }
  }
  return runs;
}

/** Returns undefined if the unit belongs to another platform or program. */
function runOfUnit(
  timer: ReadonlyMap<string, string>,
  service: ReadonlyMap<string, string>,
  dir: string,
): ScheduledRun | undefined {
  const command = service.get('ExecStart') ?? '';
  const procedure = procedureOf(command);
  if (procedure === undefined || !isOurs(command, dir)) return undefined;
  const [, seconds] = /^@(\d+)/.exec(timer.get('NextElapseUSecRealtime') ?? '') ?? [];
  const isActive = timer.get('ActiveState') === 'active' && seconds !== undefined && seconds !== '0';
  const result = service.get('Result') ?? 'success';
  return {
    procedure,
    place: timer.get('Id') ?? '',
    ...(isActive ? { next: new Date(Number(seconds) * 1000).toISOString() } : {}),
    ...(result === 'success'
      ? {}
      : { failed: `${result}, exit code ${service.get('ExecMainStatus') ?? 'unknown'}` }),
  };
}

/** Parses the output of `systemctl show`: lines `Name=value`, and an empty line between units. */
function parseUnits(text: string): readonly ReadonlyMap<string, string>[] {
  return text
    .split(/\n\s*\n/)
    .map(
      (block) =>
        new Map(
          block.split('\n').flatMap((line): [string, string][] => {
            const at = line.indexOf('=');
            return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
          }),
        ),
    )
    .filter((unit) => unit.size > 0);
}

async function findCronLines(
  dir: string,
  now: number,
  sources: ScheduleSources,
): Promise<readonly ScheduledRun[]> {
  const texts: (readonly [place: string, text: string])[] = [];
  const own = await sources.run('crontab', ['-l']);
  if (own !== undefined) texts.push(['crontab', own]);
  for (const path of sources.cronFiles)
    for (const file of await listFiles(path)) {
      const text = await readFile(file, 'utf8').catch(() => undefined);
      if (text !== undefined) texts.push([file, text]);
    }
  return texts.flatMap(([place, text]) => parseCrontab(place, text, { dir, now }));
}

/** Returns the files of a directory, or the path itself. A file that does not exist or is unreadable is not read. */
async function listFiles(path: string): Promise<readonly string[]> {
  try {
    return (await readdir(path)).map((name) => join(path, name));
  } catch {
    return [path];
  }
}

/** Finds the lines of a crontab that run procedures of the platform. */
function parseCrontab(
  place: string,
  text: string,
  { dir, now }: { dir: string; now: number },
): readonly ScheduledRun[] {
  let zone: 'UTC' | 'local' = 'local';
  const runs: ScheduledRun[] = [];
  for (const line of text.split('\n')) {
    const [, variable] = /^\s*(?:CRON_TZ|TZ)\s*=\s*"?([^"\s]+)/.exec(line) ?? [];
    if (variable !== undefined) zone = /^(Etc\/)?UTC$/.test(variable) ? 'UTC' : 'local';
    const [, expression, command] =
      /^\s*(@[a-z]+|(?:[\d*][^\s=]*\s+){3}[\w*][^\s=]*\s+\S+)\s+(.+)$/.exec(line) ?? [];
    if (expression === undefined || command === undefined) continue;
    const unescaped = command.replaceAll('\\%', '%');
    const procedure = procedureOf(unescaped);
    if (procedure === undefined || !isOurs(unescaped, dir)) continue;
    const next = nextCronTime(expression, now, zone);
    runs.push({ procedure, place, ...(next === undefined ? {} : { next: new Date(next).toISOString() }) });
  }
  return runs;
}

/** Judges the results of the jobs. Those of backups, verifications and drills have their own names. */
export function judgeJobs(jobs: readonly JobOverview[]): readonly Judgement[] {
  return jobs.flatMap(({ job, last, goodAt, overdue }) => {
    const since = goodAt === undefined ? 'it never ended well' : `it ended well last at ${goodAt}`;
    const why = last?.message === undefined ? '' : `; its last run: ${last.message}`;
    const isPlain = job === 'mirror' || job === 'retention';
    return [
      ...(overdue ? [finding('JOB_OVERDUE', `the job ${job} is overdue: ${since}${why}`)] : []),
      ...(isPlain && last !== undefined && last.outcome !== 'good'
        ? [finding('JOB_FAILED', `the last run of the job ${job} at ${last.at} was not good${why}`)]
        : []),
    ];
  });
}

/** Judges the installed timers. Another machine or an orchestrator may run the backups, so none is a warning. */
export function judgeSchedule({ source, runs }: FoundSchedule): readonly Judgement[] {
  const failed = runs.flatMap(({ place, failed: why }) =>
    why === undefined
      ? []
      : [
          finding(
            'SCHEDULE_FAILED',
            `the last run of ${place} failed (${why}); journalctl -u ${place.replace(/\.timer$/, '.service')} shows why`,
          ),
        ],
  );
  const active = runs.some(({ procedure, next }) => procedure === 'backup' && next !== undefined);
  if (source !== 'none' && active) return failed;
  return [
    ...failed,
    warning(
      'SCHEDULE_MISSING',
      'nothing runs the backups of this platform: no active timer, no cron line and no idkit schedule run was found; idkit schedule install --systemd or --cron installs timers',
    ),
  ];
}
