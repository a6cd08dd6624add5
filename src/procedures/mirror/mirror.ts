import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { judgeSets, listSets, type PruneStep } from '../../backupset/index.ts';
import { errorMessage, IdkitError } from '../../core/index.ts';
import { findEntry } from '../../files/index.ts';
import { isRemoteLocation, openTarget, type Target } from '../../target/index.ts';
import { checkInterrupted, type Finding } from '../run.ts';
import { type CopyWork, copySet, renderFault } from './copy-set.ts';
import { deleteRemote, planRemote } from './delete.ts';
import {
  MIRROR_DAMAGED,
  MIRROR_DELETE_BOUND,
  MIRROR_FAILED,
  type MirrorOptions,
  type MirrorReport,
} from './options.ts';
import { checkWhole } from './read-back.ts';
import { listRemote, type RemoteRoot, VERSION_FOLDERS } from './remote-root.ts';
import { type MirrorState, readState, writeState } from './state.ts';
import { copyVersions } from './versions.ts';
import { isRsyncPlace, mirrorWithRsync, prefersRsync } from './with-rsync.ts';

const DAY_MILLISECONDS = 86_400_000;
const WEEK_MILLISECONDS = 7 * DAY_MILLISECONDS;

/** Errors after which no other set is tried, because they do not depend on the set. */
const ENDING: ReadonlySet<string> = new Set([
  'IDKIT_CREDENTIALS',
  'IDKIT_DIRECTORY_NOT_WRITABLE',
  'IDKIT_NO_SPACE',
  'IDKIT_SETTING',
  'IDKIT_UNREACHABLE',
  'IDKIT_VERSION',
]);

/** One run, and what it has found so far. */
interface Run {
  options: MirrorOptions;
  target: Target;
  work: CopyWork;
  remote: RemoteRoot;
  state: MirrorState;
  copied: string[];
  findings: Finding[];
}

/**
 * Copies every good set and every kept version to the target, and reads a part of the target back. The checksums of a set
 * are copied last, so an interrupted copy is not a set. A complete set at the target is never overwritten. Sets are deleted
 * there only with `deletes`. The caller does not hold the lock of the root, because a slow target would hold it too.
 *
 * @throws only an interrupt; every other fault is a finding. An error that ended the whole run is also its `failure`.
 */
export async function mirrorRoot(options: MirrorOptions): Promise<MirrorReport> {
  let target: Target | undefined;
  const found: Pick<Run, 'copied' | 'findings'> = { copied: [], findings: [] };
  const report: { -readonly [Key in keyof MirrorReport]: MirrorReport[Key] } = {
    target: options.target,
    decisions: [],
    deleted: [],
    readBack: { kind: 'sample', files: 0, bytes: 0 },
    ...found,
  };
  try {
    if (prefersRsync(options)) {
      addFaults({ ...found, options }, await mirrorWithRsync(options));
      return report;
    }
    checkApart(options);
    target = await openTarget(options.target, {
      signal: options.signal,
      ...(options.env === undefined ? {} : { env: options.env }),
    });
    report.target = target.label;
    Object.assign(report, await mirrorTo(target, options, found));
  } catch (error) {
    checkInterrupted(options.signal);
    if (isWithoutSftp(error) && isRsyncPlace(options.target)) {
      addFaults({ ...found, options }, await mirrorWithRsync(options));
      return report;
    }
    addFault({ ...found, options }, MIRROR_FAILED, errorMessage(error));
    if (error instanceof IdkitError) report.failure = error;
  } finally {
    await target?.close();
  }
  return report;
}

async function mirrorTo(
  target: Target,
  options: MirrorOptions,
  found: Pick<Run, 'copied' | 'findings'>,
): Promise<Pick<MirrorReport, 'decisions' | 'deleted' | 'readBack'>> {
  const { root, signal, now } = options;
  const count = { files: 0, bytes: 0 };
  const [state, remote] = [await readState(root, target.label), await listRemote(target, now, signal)];
  const { sets } = await listSets(root, now);
  const judged = await judgeSets(root, sets);
  const good = judged.filter((set) => set.state !== 'bad').map(({ name }) => name);
  let done = 0;
  const total = await sumOfSizes(
    good.filter((name) => remote.sets.get(name)?.complete !== true).map((name) => join(root, name)),
  );
  const onBytes = (bytes: number) => {
    done += bytes;
    options.onProgress?.(done, Math.max(total, done));
  };
  const run: Run = { options, target, remote, state, work: { target, signal, count, onBytes }, ...found };
  for (const { name } of judged.filter((set) => set.state === 'bad'))
    addFault(run, MIRROR_FAILED, `${name} is damaged here and was not mirrored`);
  if (options.dryRun !== true) {
    await copySets(run, good);
    await copyAllVersions(run);
    await removeDrafts(run);
  }
  checkVanished(run, new Set(sets.map(({ name }) => name)));
  const after = options.dryRun === true ? remote : await listRemote(target, now, signal);
  const kind = await readBack(run, after);
  const plan = planRemote([...after.sets.values()], options.keep);
  const deleted = await deleteByPlan(run, after, plan);
  if (options.dryRun !== true) await writeState(root, state);
  return { decisions: plan, deleted, readBack: { kind, ...count } };
}

async function copySets(run: Run, names: readonly string[]): Promise<void> {
  const { options, remote, state, work } = run;
  for (const name of names) {
    checkInterrupted(options.signal);
    try {
      const before = remote.sets.get(name);
      const result = await copySet(join(options.root, name), before, work);
      if (result.state === 'copied') {
        if (state.sets[name] !== undefined)
          addFault(run, MIRROR_DAMAGED, `${name} was deleted there by another program, and was copied again`);
        run.copied.push(name);
      } else if (result.state === 'repaired')
        addFault(run, MIRROR_DAMAGED, `${name} lacked files there, which were copied again`);
      for (const fault of result.faults) addFault(run, MIRROR_DAMAGED, `${name}: ${fault}`);
      state.sets[name] = result.sha256;
    } catch (error) {
      checkInterrupted(options.signal);
      // Retention may delete a set while it is being copied.
      if (findEntry(join(options.root, name)) === undefined) continue;
      addFault(run, MIRROR_FAILED, renderFault(name, error));
      if (error instanceof IdkitError && ENDING.has(error.code)) return;
    }
  }
}

async function copyAllVersions(run: Run): Promise<void> {
  for (const folder of VERSION_FOLDERS) {
    try {
      run.copied.push(...(await copyVersions(run.options.root, folder, run.remote, run.work)));
    } catch (error) {
      checkInterrupted(run.options.signal);
      addFault(run, MIRROR_FAILED, renderFault(folder, error));
      if (error instanceof IdkitError && ENDING.has(error.code)) return;
    }
  }
}

/** Removes what killed runs left behind. A target may forbid every removal, so a fault is ignored. */
async function removeDrafts({ target, options }: Run): Promise<void> {
  try {
    await target.removeDrafts(options.now - DAY_MILLISECONDS, options.signal);
  } catch {
    checkInterrupted(options.signal);
  }
}

/** Reports sets that were copied earlier, are not here any more, and are missing at the target. */
function checkVanished({ remote, state, ...run }: Run, local: ReadonlySet<string>): void {
  for (const name of Object.keys(state.sets)) {
    if (local.has(name) || remote.sets.get(name)?.complete === true) continue;
    addFault(run, MIRROR_DAMAGED, `${name} was deleted there by another program, and no longer exists here`);
    delete state.sets[name];
  }
}

/** Reads one random set at the target, and once a week all of them. */
async function readBack(run: Run, remote: RemoteRoot): Promise<'sample' | 'all'> {
  const { options, state, work } = run;
  const complete = [...remote.sets.values()].filter((set) => set.complete);
  const last = state.readAt === undefined ? undefined : Date.parse(state.readAt);
  const isDue =
    last === undefined ? complete.length > 0 : options.now - last >= WEEK_MILLISECONDS || last > options.now;
  const readsAll = options.readsAll === true || (isDue && options.dryRun !== true);
  const older = complete.filter(({ name }) => !run.copied.includes(name));
  const sample = older[older.length === 0 ? 0 : randomInt(older.length)];
  const chosen = readsAll ? complete : sample === undefined || options.dryRun === true ? [] : [sample];
  for (const set of chosen) {
    try {
      const faults = await checkWhole(set, state.sets[set.name], work);
      for (const fault of faults) addFault(run, MIRROR_DAMAGED, `${set.name}: ${fault}`);
    } catch (error) {
      checkInterrupted(options.signal);
      addFault(run, MIRROR_DAMAGED, renderFault(set.name, error));
      if (error instanceof IdkitError && ENDING.has(error.code)) return 'sample';
    }
  }
  if (readsAll) state.readAt = new Date(options.now).toISOString();
  return readsAll ? 'all' : 'sample';
}

async function deleteByPlan(
  run: Run,
  remote: RemoteRoot,
  plan: readonly PruneStep[],
): Promise<readonly string[]> {
  const { options, target, state } = run;
  const going = plan.filter(({ action }) => action === 'delete').map(({ name }) => name);
  if (going.length === 0 || !options.deletes || options.dryRun === true) return [];
  // A target that is damaged or was not reached keeps what it has.
  if (run.findings.length > 0) return [];
  if (going.length > options.maxDelete) {
    addFault(
      run,
      MIRROR_DELETE_BOUND,
      `the rule would delete ${going.length} sets there, but at most ${options.maxDelete} are allowed; none was deleted`,
    );
    return [];
  }
  const deleted: string[] = [];
  for (const name of going) {
    checkInterrupted(options.signal);
    try {
      await deleteRemote(target, remote.sets.get(name), options.signal);
      delete state.sets[name];
      deleted.push(name);
    } catch (error) {
      checkInterrupted(options.signal);
      addFault(run, MIRROR_FAILED, `${name} was not deleted: ${errorMessage(error)}`);
      break;
    }
  }
  return deleted;
}

/** The ssh target reports a host that offers no sftp, or an old version of it, with this code. */
function isWithoutSftp(error: unknown): boolean {
  return error instanceof IdkitError && error.code === 'IDKIT_VERSION';
}

function addFaults(run: Pick<Run, 'findings' | 'options'>, messages: readonly string[]): void {
  for (const message of messages) addFault(run, MIRROR_FAILED, message);
}

function addFault(run: Pick<Run, 'findings' | 'options'>, code: string, message: string): void {
  const { target } = run.options;
  // Most errors of a target name it already.
  const place = message.startsWith(target) ? '' : `${target}: `;
  run.findings.push({ code, message: `the mirror ${place}${message}` });
}

function checkApart({ root, target }: MirrorOptions): void {
  if (isRemoteLocation(target)) return;
  const inside = (outer: string, inner: string) => {
    const path = relative(outer, inner);
    return path === '' || !(path.startsWith('..') || resolve(path) === path);
  };
  if (inside(root, target) || inside(target, root)) {
    throw new IdkitError(
      'IDKIT_SETTING',
      `the mirror ${target} and the backup root ${root} must not contain each other`,
    );
  }
}

/** Returns the total size in bytes of the files in the sets. A set that cannot be read is reported when it is copied. */
async function sumOfSizes(sets: readonly string[]): Promise<number> {
  let sum = 0;
  for (const set of sets)
    for (const name of await readdir(set).catch(() => [])) sum += findEntry(join(set, name))?.size ?? 0;
  return sum;
}
