import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { checkSeal, findDumpHead, type SetHandle } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { openScratch } from '../../platform/open.ts';
import { explainWriteFault, writeDurably } from '../durable.ts';
import { isBackupRoot } from '../locks.ts';
import { noPassphrase } from '../restore/leftovers.ts';
import type { RestoreResult } from '../restore/options.ts';
import { restoreInto } from '../restore/runbook.ts';
import { isTrusted, notTrusted } from '../restore/trust.ts';
import { beginRun, checkInterrupted, withoutSteps } from '../run.ts';
import { findSets } from '../verify/find-sets.ts';
import { isolate } from './isolate.ts';
import type { DrillOptions, DrillResult } from './options.ts';
import { DRILL_STEPS } from './options.ts';

/**
 * Restores a set into a temporary platform directory, runs the smoke tests there and removes it again. A restore that
 * fails is the drill's `failure`; the report is written all the same.
 *
 * @throws IDKIT_SETTING without a passphrase, IDKIT_NOT_FOUND without a set, IDKIT_UNSEALED if nobody vouches for it;
 *   nothing else is left behind either way
 */
export async function drill(settings: Settings, options: DrillOptions): Promise<DrillResult> {
  const { passphrase } = options;
  if (passphrase === undefined) throw noPassphrase();
  const began = performance.now();
  const run = beginRun(DRILL_STEPS, options);
  const found = await findSets(settings, options);
  const [set] = found.sets;
  if (set === undefined) {
    throw new IdkitError('IDKIT_NOT_FOUND', `${found.root} holds no backup set that can be restored`);
  }
  const refusal = await findRefusal(set, options);
  const startedAt = new Date(options.clock.now()).toISOString();
  if (refusal !== undefined) {
    const result: DrillResult = {
      set: set.dir,
      startedAt,
      outcome: 'failed',
      phases: [],
      milliseconds: Math.round(performance.now() - began),
      checklist: [],
      checks: [],
      findings: [],
      failure: refusal,
    };
    return run.step('report', () => report(settings, result, options));
  }
  const place = await run.step('isolate', () =>
    isolate(options.env ?? process.env, {
      keep: options.keep === true,
      service: settings.service,
      openScratch: async (dir) => openScratch(settings, (await findDumpHead(set)) ?? { kind: 'sqlite' }, dir),
    }),
  );
  try {
    let restored: RestoreResult | undefined;
    let failure: IdkitError | undefined;
    try {
      restored = await run.step('restore', () =>
        restoreInto(place.settings, {
          from: set.dir,
          passphrase,
          trustUnsealed: options.trustUnsealed === true,
          reporter: withoutSteps(options.reporter),
          clock: options.clock,
          random: options.random,
          signal: options.signal,
          env: place.env,
          adjust: place.adjust,
          scratch: place.scratch,
          // A second Keycloak beside the operator's would need ports, memory and settings that only they know.
          withoutService: settings.service === 'keycloak',
          rootLock: 'shared',
        }),
      );
    } catch (error) {
      checkInterrupted(options.signal);
      if (!(error instanceof IdkitError)) throw error;
      failure = error;
    }
    const findings = restored?.findings ?? [];
    const result: DrillResult = {
      set: set.dir,
      startedAt,
      outcome: failure === undefined && findings.length === 0 ? 'passed' : 'failed',
      phases: restored?.steps ?? [],
      milliseconds: Math.round(performance.now() - began),
      checklist: restored?.checklist ?? [],
      checks: restored?.checks ?? [],
      findings,
      ...(failure === undefined ? {} : { failure }),
      ...(options.keep === true ? { dir: join(place.dir, 'platform') } : {}),
    };
    return await run.step('report', () => report(settings, result, options));
  } finally {
    const clean = async () => {
      await place.scratch.close();
      await rm(place.dir, { recursive: true, force: true });
    };
    // An interrupted run takes no more steps, and cleans up all the same.
    if (options.signal.aborted) await clean();
    else if (options.keep !== true) await run.step('clean', clean);
    else await place.scratch.close();
  }
}

/**
 * The seal is checked before a server is started by what the dump says of itself. A seal that is broken fails the
 * drill.
 *
 * @throws IDKIT_UNSEALED
 */
async function findRefusal(set: SetHandle, options: DrillOptions): Promise<IdkitError | undefined> {
  const { seal, problems } = await checkSeal(set, options.passphrase);
  const [first] = problems;
  if (first !== undefined)
    return new IdkitError(first.code, `${set.name} cannot be restored: ${first.file}: ${first.message}`, {
      hints: ['idkit backups list shows the other sets', ...first.hints],
    });
  if (!isTrusted({ seal }, options, undefined)) throw notTrusted(set.name, seal, 'drill');
  return undefined;
}

async function report(settings: Settings, result: DrillResult, options: DrillOptions): Promise<DrillResult> {
  const reportFile = await keepReport(settings, result, options);
  return reportFile === undefined ? result : { ...result, reportFile };
}

/** Writes `ROOT/.state/drill-NAME.json` beside the verdicts; undefined where the root cannot be written. */
async function keepReport(
  settings: Settings,
  result: DrillResult,
  options: DrillOptions,
): Promise<string | undefined> {
  const root = dirname(result.set);
  if (!(await isBackupRoot(root, settings))) return undefined;
  const file = join(root, '.state', `drill-${basename(result.set)}.json`);
  const { failure, ...told } = result;
  const content = {
    ...told,
    ...(failure === undefined ? {} : { failure: { code: failure.code, message: failure.message } }),
  };
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeDurably(file, `${JSON.stringify(content, null, 2)}\n`);
    return file;
  } catch (error) {
    const explained = explainWriteFault(error, file);
    if (!(explained instanceof IdkitError)) throw error;
    options.reporter.note(`the report is not kept: ${explained.message}`);
    return undefined;
  }
}
