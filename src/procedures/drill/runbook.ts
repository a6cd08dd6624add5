import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import {
  checkSeal,
  findDumpHead,
  isEncryptedSet,
  readableSet,
  type SetHandle,
  SetKeys,
} from '../../backupset/index.ts';
import { ownVersion, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { Moment } from '../../platform/index.ts';
import { openPlatform, openScratch } from '../../platform/open.ts';
import { encryptsSets } from '../last-run.ts';
import { missingPassphrase, type RestoreResult } from '../restore/options.ts';
import { restoreInto } from '../restore/runbook.ts';
import { isTrusted, untrustedSet } from '../restore/verified-set.ts';
import { beginRun, checkInterrupted, withinStep } from '../run.ts';
import { findSets } from '../verify/find-sets.ts';
import { describeSource, examine } from './examine.ts';
import { type IsolatedPlace, isolate } from './isolate.ts';
import { checkPlaceApart, compareLive, type LiveView, viewLive } from './live.ts';
import {
  DRILL_LIMITS,
  DRILL_STEPS,
  type DrillKind,
  type DrillOptions,
  type DrillResult,
  type DrillSource,
  type LiveEvidence,
} from './options.ts';
import { keepReport } from './report.ts';

/**
 * Restores a set into a temporary platform directory, runs the smoke tests there and removes the directory. Writes a
 * report even if the restore fails, and returns its error as the `failure` of the result.
 *
 * @throws IDKIT_SETTING without a passphrase, IDKIT_NOT_FOUND without a set, IDKIT_UNSEALED for an untrusted set
 */
export async function drill(settings: Settings, options: DrillOptions): Promise<DrillResult> {
  const { passphrase, privateKeys, signal } = options;
  if (passphrase === undefined && privateKeys === undefined) throw missingPassphrase();
  const keys = new SetKeys({ passphrase, privateKeys });
  const began = performance.now();
  const run = beginRun(DRILL_STEPS, options, (id) => id !== 'clean' || options.keep !== true);
  const { root, sets } = await findSets(settings, options);
  const [set] = sets;
  if (set === undefined)
    throw new IdkitError('IDKIT_NOT_FOUND', `${root} does not contain a backup set that can be restored`);
  const startedAt = new Date(options.clock.now()).toISOString();
  const before = await viewLive(settings);
  const seen: Seen = {
    place: 'nothing was restored',
    source: {
      set: set.dir,
      root: dirname(set.dir),
      ...(options.moment === undefined ? {} : { moment: renderMoment(options.moment) }),
    },
    notes: [],
  };
  const conclude = (outcome: RestoreOutcome, dir?: string): Promise<DrillResult> =>
    run.step('report', async () => {
      const live = compareLive(before, await viewLive(settings));
      const milliseconds = Math.round(performance.now() - began);
      const result: DrillResult = {
        set: set.dir,
        kind: kindOf(settings),
        source: seen.source,
        place: seen.place,
        by: { host: hostname(), idkitVersion: ownVersion() },
        live,
        differences: seen.notes,
        startedAt,
        ...judge(outcome, live, milliseconds, options),
        ...(dir === undefined ? {} : { dir }),
        milliseconds,
      };
      const withoutMessages = encryptsSets(settings) || isEncryptedSet(set.names);
      return keepReport(settings, result, { ...options, withoutMessages });
    });

  const brokenSeal = await findBrokenSeal(set, options);
  if (brokenSeal !== undefined) return conclude({ failure: brokenSeal });
  const place = await run.step('isolate', () =>
    isolate(options.env ?? process.env, {
      keep: options.keep === true,
      service: settings.service,
      openScratch: async (dir) =>
        openScratch(settings, (await findDumpHead(readableSet(set, keys))) ?? { kind: 'sqlite' }, dir),
    }),
  );
  seen.place = place.scratch.description;
  try {
    const outcome = await tryRestore(() =>
      run.step('restore', async () => {
        await checkPlaceApart(
          before,
          await openPlatform(place.settings, { scratch: place.scratch }),
          place.scratch,
        );
        return restoreIsolated(set.dir, place, { settings, options, before, seen });
      }),
    );
    checkInterrupted(signal);
    return await conclude(outcome, options.keep === true ? join(place.dir, 'platform') : undefined);
  } finally {
    const clean = async () => {
      await place.scratch.close();
      await rm(place.dir, { recursive: true, force: true });
    };
    // An interrupted run starts no further step, but it still cleans up.
    if (signal.aborted) await clean();
    else if (options.keep !== true) await run.step('clean', clean);
    else await place.scratch.close();
  }
}

function renderMoment(moment: Moment): string {
  return 'at' in moment ? new Date(moment.at).toISOString() : `before ${moment.before}`;
}

/** What the restore found out about the set, for the report. */
interface Seen {
  place: string;
  source: DrillSource;
  notes: string[];
}

function kindOf({ runtime, database }: Settings): DrillKind {
  if (runtime === 'compose') return 'containers';
  return database.kind === 'postgres' ? 'postgres' : 'embedded';
}

interface RestoreOutcome {
  restored?: RestoreResult;
  failure?: IdkitError;
}

/** Returns an operator's error as the failure. A bug is thrown. */
async function tryRestore(work: () => Promise<RestoreResult>): Promise<RestoreOutcome> {
  try {
    return { restored: await work() };
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    return { failure: error };
  }
}

function restoreIsolated(
  from: string,
  place: IsolatedPlace,
  {
    settings,
    options,
    before,
    seen,
  }: { settings: Settings; options: DrillOptions; before: LiveView; seen: Seen },
): Promise<RestoreResult> {
  const { clock, random, signal } = options;
  const reporter: DrillOptions['reporter'] = {
    ...options.reporter,
    note(message) {
      seen.notes.push(message);
      options.reporter.note(message);
    },
  };
  return restoreInto(place.settings, {
    from,
    ...(options.passphrase === undefined ? {} : { passphrase: options.passphrase }),
    ...(options.privateKeys === undefined ? {} : { privateKeys: options.privateKeys }),
    // The drill reads the archive of the live platform. Its own service has none, so it cannot write there.
    ...(options.moment === undefined ? {} : { moment: options.moment, archiveOf: settings }),
    trustUnsealed: options.trustUnsealed === true,
    reporter: withinStep(reporter, 'restore'),
    clock,
    random,
    signal,
    env: place.env,
    adjust: place.adjust,
    scratch: place.scratch,
    // The drill does not start a second Keycloak: only the operator knows its ports, memory and settings.
    withoutService: settings.service === 'keycloak',
    rootLock: 'shared',
    async examine(restore) {
      seen.source = { ...seen.source, ...describeSource(restore) };
      return examine(restore, settings, before);
    },
  });
}

function judge(
  { restored, failure }: RestoreOutcome,
  live: LiveEvidence,
  milliseconds: number,
  { limitMilliseconds: limit = DRILL_LIMITS.total }: DrillOptions,
) {
  const findings = [...(restored?.findings ?? [])];
  if (live.outcome === 'failed') findings.push({ code: 'DRILL_LIVE_CHANGED', message: live.detail });
  if (milliseconds > limit)
    findings.push({
      code: 'DRILL_TOO_SLOW',
      message: `the drill took ${Math.round(milliseconds / 1000)} s, but the limit is ${Math.round(limit / 1000)} s`,
    });
  const outcome: DrillResult['outcome'] =
    failure === undefined && findings.length === 0 ? 'passed' : 'failed';
  return {
    outcome,
    phases: restored?.steps ?? [],
    checklist: restored?.checklist ?? [],
    checks: restored?.checks ?? [],
    findings,
    ...(failure === undefined ? {} : { failure }),
  };
}

/**
 * Checks the seal before the head of the dump decides which server is started. A broken seal fails the drill.
 *
 * @throws IDKIT_UNSEALED
 */
async function findBrokenSeal(set: SetHandle, options: DrillOptions): Promise<IdkitError | undefined> {
  const { seal, problems } = await checkSeal(set, options.passphrase);
  const [first] = problems;
  if (first !== undefined)
    return new IdkitError(first.code, `${set.name} cannot be restored: ${first.file}: ${first.message}`, {
      hints: ['idkit backups list shows the other sets', ...first.hints],
    });
  if (!isTrusted({ seal }, options, undefined)) throw untrustedSet(set.name, seal, 'drill');
  return undefined;
}
