import type { KeptRun, LastRun, SetPart } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import type { BackupEntry } from '../backups/list.ts';
import { renderAge } from '../units.ts';
import { finding, type Judgement, warning } from './judge.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Verification and drill are due every month. The limits allow a day for the run itself, in seconds. */
const MONTH = 32 * DAY;
/** The configuration and the environment are due every week. */
const WEEK = 8 * DAY;

/** The facts about a backup root. */
export interface BackupFacts {
  root: string;
  /** Oldest first. */
  sets: readonly BackupEntry[];
  runs: ReadonlyMap<KeptRun, LastRun>;
  /** Unix time in milliseconds since when the root has existed. Undefined if it is unknown. */
  rootSince?: number;
}

interface Limits {
  backup: Pick<Settings['backup'], 'maxAgeHours' | 'mirror'>;
}

/** Judges whether a restore would work, how much it would lose, and whether that was tested. @param now in milliseconds */
export function judgeBackups(facts: BackupFacts, settings: Limits, now: number): readonly Judgement[] {
  const newest = findNewest(facts.sets);
  return [
    ...judgeAge(facts, newest, settings),
    ...judgeParts(facts, settings),
    ...judgeRuns(facts),
    ...(newest === undefined ? [] : judgeNewest(newest)),
    ...judgeVerify(facts, newest, now),
    ...judgeDrill(facts, newest, now),
    ...judgeMirror(facts, settings),
  ];
}

/** Returns the newest set with a database that is not dated in the future. */
export function findNewest(sets: readonly BackupEntry[]): BackupEntry | undefined {
  return sets.findLast(({ whole, future }) => whole && !future);
}

/** Returns the last verification: of `idkit verify`, or the newest verdict that a set has. */
export function findLastVerify({
  sets,
  runs,
}: Pick<BackupFacts, 'sets' | 'runs'>):
  | { name: string; at: string; verdict: string; by: 'backup' | 'verify' }
  | undefined {
  const verdicts = sets.flatMap(({ name, verified }) =>
    verified === undefined
      ? []
      : [{ name, at: verified.at, verdict: verified.verdict, by: verified.by ?? 'verify' }],
  );
  const run = runs.get('verify');
  const ran =
    run?.set === undefined
      ? []
      : [{ name: run.set, at: run.at, verdict: run.verdict ?? run.outcome, by: 'verify' as const }];
  return [...verdicts, ...ran].toSorted((one, other) => (one.at < other.at ? -1 : 1)).at(-1);
}

/** Difference in milliseconds to a result of the future that clocks may have. */
const MOST_AHEAD = HOUR * 1000;

/** Returns what is wrong with a result that was stored by a wrong clock, or before a clock was set back. */
function describeAhead(what: string, at: number): string {
  return `the last ${what} is dated ${new Date(at).toISOString()}, which is ahead of the clock, so its age is unknown; check the clock with idkit doctor, then run idkit ${what === 'drill' ? what : 'verify'}`;
}

/** Returns when `idkit verify` verified any set, as Unix times in milliseconds. */
function realVerifications({ sets, runs }: BackupFacts): readonly number[] {
  const times = sets.flatMap(({ verified }) =>
    verified === undefined || verified.by === 'backup' ? [] : [Date.parse(verified.at)],
  );
  const run = runs.get('verify');
  if (run !== undefined) times.push(Date.parse(run.at));
  return times;
}

function judgeAge(
  { root, sets }: BackupFacts,
  newest: BackupEntry | undefined,
  { backup: { maxAgeHours } }: Limits,
): readonly Judgement[] {
  const future = sets
    .filter((set) => set.future)
    .map(({ name }) =>
      finding(
        'SET_IN_FUTURE',
        `${name} is dated more than an hour ahead of the clock, so no restore chooses it; check the clock with idkit doctor`,
      ),
    );
  if (newest === undefined)
    return [
      ...future,
      finding('BACKUP_MISSING', `${root} has no set that can be restored; run idkit backup`),
    ];
  if (newest.ageSeconds <= maxAgeHours * HOUR) return future;
  return [
    ...future,
    finding(
      'BACKUP_TOO_OLD',
      `the newest set, ${newest.name}, is ${renderAge(newest.ageSeconds)} old, but the limit is ${maxAgeHours} h (backup.maxAgeHours); run idkit backup`,
    ),
  ];
}

/** Judges the parts other than the database, which the schedule backs up separately. */
function judgeParts({ sets }: BackupFacts, { backup: { maxAgeHours } }: Limits): readonly Judgement[] {
  if (findNewest(sets) === undefined) return [];
  const daily = maxAgeHours * HOUR;
  const limits: readonly (readonly [part: SetPart, what: string, limit: number])[] = [
    ['realms', 'the realm files', daily],
    ['config', 'the configuration', Math.max(WEEK, daily)],
    [
      'env',
      'the environment, without which no secret of the database can be decrypted',
      Math.max(WEEK, daily),
    ],
  ];
  return limits.flatMap(([part, what, limit]) => {
    const set = sets.findLast(
      ({ parts, future }) => !future && (parts.includes(part) || parts.includes('unknown')),
    );
    if (set !== undefined && set.ageSeconds <= limit) return [];
    const state =
      set === undefined ? 'no set' : `no set since ${set.name}, ${renderAge(set.ageSeconds)} ago,`;
    return [
      finding(
        'BACKUP_PART_TOO_OLD',
        `${state} contains ${what}, but the limit is ${renderAge(limit)}; run idkit backup --only ${part}`,
      ),
    ];
  });
}

/** Judges the last backup of each part. Runs with the same result are reported once. */
function judgeRuns({ runs }: BackupFacts): readonly Judgement[] {
  const messages = new Map<string, string[]>();
  for (const [run, last] of runs) {
    if (!run.startsWith('backup-') || last.outcome === 'good') continue;
    const faults = [...(last.failure === undefined ? [] : [last.failure]), ...last.findings].filter(
      ({ code }) => code !== 'MIRROR_FAILED',
    );
    const [first, ...more] = faults;
    if (first === undefined) continue;
    const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
    const verb = last.outcome === 'failed' ? 'failed' : 'had findings';
    const key = `${last.at} ${verb}: ${first.message}${rest}`;
    messages.set(key, [...(messages.get(key) ?? []), run.slice('backup-'.length)]);
  }
  return [...messages].map(([text, parts]) =>
    finding('BACKUP_FAILED', `the last backup of ${parts.join(', ')} at ${text}; run idkit backup`),
  );
}

function judgeNewest({ name, state, verified, sealed }: BackupEntry): readonly Judgement[] {
  const judgements: Judgement[] = [];
  if (verified !== undefined && verified.verdict !== 'good')
    judgements.push(
      finding(
        'SET_DAMAGED',
        `the newest set, ${name}, is ${describe(verified.verdict)} since ${verified.at}; run idkit backup, then idkit verify`,
      ),
    );
  else if (state === 'bad')
    judgements.push(
      finding(
        'SET_DAMAGED',
        `the newest set, ${name}, lacks files or has files of the wrong size; run idkit verify, then idkit backup`,
      ),
    );
  if (!sealed)
    judgements.push(
      warning(
        'SET_UNSEALED',
        `the newest set, ${name}, has no seal, so a restore needs --trust-unsealed; run idkit backup with the passphrase`,
      ),
    );
  else if (verified?.seal === 'not checked')
    judgements.push(
      warning(
        'VERIFY_WITHOUT_PASSPHRASE',
        `the newest set, ${name}, was verified without its passphrase; run idkit verify with IDKIT_BACKUP_PASSPHRASE_FILE`,
      ),
    );
  return judgements;
}

function describe(verdict: string): string {
  if (verdict === 'passphrase') return 'locked with another passphrase';
  return verdict;
}

function judgeVerify(facts: BackupFacts, newest: BackupEntry | undefined, now: number): readonly Judgement[] {
  const judgements: Judgement[] = [];
  const run = facts.runs.get('verify');
  if (run !== undefined && run.outcome !== 'good') {
    const [fault] = [...(run.failure === undefined ? [] : [run.failure]), ...run.findings];
    judgements.push(
      finding(
        'VERIFY_FAILED',
        `the last verification at ${run.at} was not good: ${fault?.message ?? 'the reason is unknown'}; run idkit verify`,
      ),
    );
  }
  if (newest === undefined) return judgements;
  const times = realVerifications(facts);
  const last = times
    .filter((at) => at <= now + MOST_AHEAD)
    .toSorted((one, other) => one - other)
    .at(-1);
  if (last === undefined && times.length > 0)
    judgements.push(finding('VERIFY_TOO_OLD', describeAhead('verification', Math.max(...times))));
  else if (last === undefined)
    judgements.push(
      finding(
        'VERIFY_MISSING',
        `no set of ${facts.root} was ever verified after its backup; run idkit verify`,
      ),
    );
  else if (newest.verified === undefined)
    judgements.push(
      finding(
        'VERIFY_MISSING',
        `the newest set, ${newest.name}, was never verified, or was changed since; run idkit verify`,
      ),
    );
  else if (now - last > MONTH * 1000)
    judgements.push(
      finding(
        'VERIFY_TOO_OLD',
        `the last verification was ${renderAge((now - last) / 1000)} ago, but the limit is ${renderAge(MONTH)}; run idkit verify`,
      ),
    );
  return judgements;
}

function judgeDrill(facts: BackupFacts, newest: BackupEntry | undefined, now: number): readonly Judgement[] {
  const run = facts.runs.get('drill');
  if (run === undefined) {
    if (newest === undefined) return [];
    const since = Math.min(
      facts.rootSince ?? now,
      ...facts.sets.map(({ startedAt }) => Date.parse(startedAt)),
    );
    const isDue = now - since > MONTH * 1000;
    const message = `no set of ${facts.root} was ever restored in a drill; run idkit drill`;
    return [isDue ? finding('DRILL_MISSING', message) : warning('DRILL_MISSING', message)];
  }
  if (run.outcome !== 'good') {
    const [fault] = [...(run.failure === undefined ? [] : [run.failure]), ...run.findings];
    return [
      finding(
        'DRILL_FAILED',
        `the last drill at ${run.at}, of ${run.set ?? 'an unknown set'}, failed: ${fault?.message ?? 'the reason is unknown'}; run idkit drill`,
      ),
    ];
  }
  const at = Date.parse(run.at);
  if (at > now + MOST_AHEAD) return [finding('DRILL_TOO_OLD', describeAhead('drill', at))];
  const age = (now - at) / 1000;
  if (age <= MONTH) return [];
  return [
    finding(
      'DRILL_TOO_OLD',
      `the last drill was ${renderAge(age)} ago, but the limit is ${renderAge(MONTH)}; run idkit drill`,
    ),
  ];
}

function judgeMirror({ runs }: BackupFacts, { backup: { mirror } }: Limits): readonly Judgement[] {
  if (mirror === null)
    return [
      warning(
        'MIRROR_MISSING',
        'no mirror is configured, so a fire destroys the service together with its backups; set backup.mirror',
      ),
    ];
  const last = [...runs.values()]
    .filter((run) => run.mirror !== undefined)
    .toSorted((one, other) => (one.at < other.at ? -1 : 1))
    .at(-1);
  if (last?.mirror !== 'incomplete') return [];
  const fault = last.findings.find(({ code }) => code === 'MIRROR_FAILED');
  return [
    finding(
      'MIRROR_FAILED',
      `the backup at ${last.at} could not complete the mirror: ${fault?.message ?? mirror}; run idkit backup`,
    ),
  ];
}
