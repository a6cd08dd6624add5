import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { IdkitError, systemErrorCode } from '../core/index.ts';
import type { ListedSet, ManifestRealm, SealState, SetPart } from './contract.ts';
import { SET_FILES } from './contract.ts';
import { findLastRun, KEPT_BACKUPS, type LastRun } from './figures/last-runs.ts';
import { judgeSets } from './retention/prune.ts';
import { isEncryptedSet } from './set/encrypted-names.ts';
import { openSet } from './set/handle.ts';
import { listSets } from './set/list-sets.ts';
import { parseManifest } from './set/manifest.ts';
import { readRegular } from './set/regular-file.ts';
import { findVerdict } from './verify/kept-verdicts.ts';

/** Maximum number of sets that an overview describes. It counts older ones. */
const MOST_SETS = 60;
/** Maximum size in bytes of a manifest, and of a report of a drill. Larger ones are not read. */
const MOST_BYTES = 1024 * 1024;

/** A report of a drill, as `ROOT/.state/drill-NAME.json` contains it. */
export interface DrillReport {
  /** ISO 8601, UTC. */
  startedAt: string;
  outcome: 'passed' | 'failed';
  milliseconds: number;
  phases: readonly { id: string; milliseconds: number }[];
  checklist: readonly { outcome: string; title: string; detail: string }[];
  /** Messages of the failure and of the findings. */
  problems: readonly string[];
}

/** A set in a backup root, described from its names, sizes and manifest. Its files are not read. */
export interface SetOverview {
  name: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  /** Whether the set is dated more than an hour ahead of the clock. */
  future: boolean;
  bytes: number;
  /** Empty if the set has no readable manifest. */
  parts: readonly SetPart[];
  /** Whether the set contains the database, so that it can be restored. */
  whole: boolean;
  state: 'verified' | 'unverified' | 'bad';
  sealed: boolean;
  /** True if the whole set is encrypted. Its manifest then names no realms. */
  encrypted: boolean;
  realms: readonly Pick<ManifestRealm, 'realm' | 'users'>[];
  /** The duration of the backup. Absent without a manifest. */
  milliseconds?: number;
  verified?: { at: string; verdict: string; problems: readonly string[]; seal?: SealState };
  drill?: DrillReport;
}

/** The last result of a procedure, as `ROOT/.state/last-RUN.json` contains it. */
export interface LastResult {
  /** ISO 8601, UTC. */
  at: string;
  outcome: 'good' | 'findings' | 'failed';
  set?: string;
  messages: readonly string[];
}

/** The newest drill of one kind of platform, from `ROOT/.state/newest-drill-KIND.json`. */
export interface NewestDrill {
  kind: (typeof DRILL_KINDS)[number];
  /** ISO 8601, UTC. */
  startedAt: string;
  outcome: 'passed' | 'failed';
  milliseconds: number;
  /** The name of the set. */
  set: string;
  /** The page of the report. Absent if it could not be stored. */
  report?: string;
}

/** The kinds of platform whose drills are listed apart. */
const DRILL_KINDS = ['embedded', 'postgres', 'containers'] as const;

/** What a backup root contains. */
export interface RootOverview {
  /** Newest first, at most 60. */
  sets: readonly SetOverview[];
  /** Number of older sets that `sets` omits. */
  more: number;
  /** Number of unfinished backups, running ones included. */
  unfinished: number;
  /** By the name of the run: `backup-database`, `backup-realms`, `backup-config`, `backup-env`, `verify`, `drill`. */
  last: Readonly<Record<string, LastResult>>;
  /** The newest drill of each kind of platform, newest first. */
  drills: readonly NewestDrill[];
}

const message = z.object({ message: z.string() });

const drillSchema = z.object({
  startedAt: z.string(),
  outcome: z.enum(['passed', 'failed']),
  milliseconds: z.number(),
  phases: z.array(z.object({ id: z.string(), milliseconds: z.number() })),
  checklist: z.array(z.object({ outcome: z.string(), title: z.string(), detail: z.string() })),
  findings: z.array(message).default([]),
  failure: message.optional(),
});

const newestDrillSchema = z.object({
  startedAt: z.string(),
  outcome: z.enum(['passed', 'failed']),
  milliseconds: z.number(),
  set: z.string(),
  report: z.object({ html: z.string() }).optional(),
});

/**
 * Describes the sets of a backup root. It reads directories, manifests, stored verdicts and reports, but no dumps. It
 * follows no links inside the root. A root that does not exist is empty.
 *
 * @param now Unix time in milliseconds
 * @throws IDKIT_FAILED if the root cannot be read
 */
export async function overviewRoot(root: string, now: number): Promise<RootOverview> {
  const listing = await listSets(root, now);
  const newest = listing.sets.toReversed().slice(0, MOST_SETS);
  const sets: SetOverview[] = [];
  // One set after the other, so that a slow file system gets one request at a time.
  for (const set of newest) {
    const found = await describe(root, set);
    if (found !== undefined) sets.push(found);
  }
  const last: Record<string, LastResult> = {};
  for (const run of [...KEPT_BACKUPS, 'verify', 'drill'] as const) {
    const result = await findLastRun(root, run);
    if (result !== undefined) last[run] = summarize(result);
  }
  return {
    sets,
    more: listing.sets.length - newest.length,
    unfinished: listing.partials.length,
    last,
    drills: await listNewestDrills(root),
  };
}

/** Returns the newest drill of each kind of platform that a backup root knows, newest first. */
export async function listNewestDrills(root: string): Promise<readonly NewestDrill[]> {
  const drills: NewestDrill[] = [];
  for (const kind of DRILL_KINDS) {
    const parsed = newestDrillSchema.safeParse(await readState(root, `newest-drill-${kind}.json`));
    if (!parsed.success) continue;
    const { set, report, ...drill } = parsed.data;
    drills.push({
      kind,
      ...drill,
      set: set.slice(set.lastIndexOf('/') + 1),
      ...(report === undefined ? {} : { report: report.html }),
    });
  }
  return drills.toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
}

/** Returns undefined if the set was deleted in the meantime. */
async function describe(root: string, set: ListedSet): Promise<SetOverview | undefined> {
  try {
    const names = await readdir(set.dir);
    let bytes = 0;
    for (const name of names) bytes += (await lstat(join(set.dir, name))).size;
    const [judged] = await judgeSets(root, [set]);
    const verdict = await findVerdict(root, set.name);
    const drill = await readDrill(root, set.name);
    return {
      name: set.name,
      startedAt: new Date(set.startedAt).toISOString(),
      future: set.future,
      bytes,
      whole: judged?.whole ?? false,
      state: judged?.state ?? 'bad',
      sealed: names.includes(SET_FILES.seal),
      encrypted: isEncryptedSet(names),
      ...(await readManifest(set.dir)),
      ...(verdict === undefined
        ? {}
        : {
            verified: {
              at: verdict.at,
              verdict: verdict.verdict,
              problems: verdict.problems.slice(0, 20),
              ...(verdict.seal === undefined ? {} : { seal: verdict.seal }),
            },
          }),
      ...(drill === undefined ? {} : { drill }),
    };
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function readManifest(dir: string): Promise<Pick<SetOverview, 'parts' | 'realms' | 'milliseconds'>> {
  try {
    const set = await openSet(dir);
    const manifest = parseManifest(await set.read(SET_FILES.manifest, MOST_BYTES));
    return {
      parts: manifest.parts,
      realms: manifest.realms.map(({ realm, users }) => (users === undefined ? { realm } : { realm, users })),
      milliseconds: manifest.steps.reduce((sum, step) => sum + step.milliseconds, 0),
    };
  } catch (error) {
    // `verify` reports a damaged manifest, and `state` shows it.
    if (error instanceof IdkitError) return { parts: [], realms: [] };
    throw error;
  }
}

async function readDrill(root: string, name: string): Promise<DrillReport | undefined> {
  const parsed = drillSchema.safeParse(await readState(root, `drill-${name}.json`));
  if (!parsed.success) return undefined;
  const { startedAt, outcome, milliseconds, phases, checklist, findings, failure } = parsed.data;
  const problems = [...(failure === undefined ? [] : [failure]), ...findings].map((one) => one.message);
  return { startedAt, outcome, milliseconds, phases, checklist, problems };
}

function summarize({ at, outcome, set, findings, failure }: LastRun): LastResult {
  const messages = [...(failure === undefined ? [] : [failure]), ...findings].map((one) => one.message);
  return { at, outcome, messages, ...(set === undefined ? {} : { set }) };
}

/** Returns the JSON of a file in `ROOT/.state`, or undefined if it does not exist or is unreadable. */
async function readState(root: string, file: string): Promise<unknown> {
  try {
    return JSON.parse((await readRegular(join(root, '.state'), file, MOST_BYTES)).toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof IdkitError) return undefined;
    throw error;
  }
}
