import type { LastRun, SetPart } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { renderCount } from '../../core/index.ts';
import { openPlatform } from '../../platform/open.ts';
import { encryptsSets, keepFailure, keepResult } from '../last-run.ts';
import { backupRoot, checkDefined, checkPlatform, mirrorTarget } from '../platform.ts';
import { beginRun } from '../run.ts';
import { keepVerdict } from '../verify/judge-set.ts';
import { writeContents } from './contents.ts';
import { checkServiceResponds } from './fetch-realms.ts';
import { findEncryption } from './find-encryption.ts';
import { readBack, writeManifest } from './manifest.ts';
import { openSetInRoot } from './open-set.ts';
import {
  BACKUP_PARTS,
  BACKUP_STEPS,
  type BackupOptions,
  type BackupResult,
  chooseParts,
  readsDatabase,
} from './options.ts';
import { copyToMirror, keepVersions, pruneRoot } from './retention.ts';
import { findShrinkage } from './watch.ts';
import type { BackupContents, BackupWork } from './work.ts';

/**
 * Creates one backup set. A rename publishes the set after every step that can reject it. Pruning and mirroring follow.
 * If the call throws one of these errors, it has not published or deleted a set.
 *
 * @throws IDKIT_SETTING without a passphrase, IDKIT_LOCKED, IDKIT_UNREACHABLE, IDKIT_DAMAGED, IDKIT_NO_SPACE
 */
export async function backup(settings: Settings, options: BackupOptions): Promise<BackupResult> {
  const parts = chooseParts(options);
  const root = backupRoot(settings, options.to);
  const runs = parts.map((part) => `backup-${part}` as const);
  const keeping = { ...options, withoutMessages: encryptsSets(settings) };
  return keepFailure(root, runs, keeping, async () => {
    const { mirror, ...result } = await createSet(settings, { root, parts }, options);
    const { name: set, findings, milliseconds } = result;
    const facts = { set, milliseconds, ...(mirror === undefined ? {} : { mirror }) };
    await keepResult(root, runs, { findings, ...facts }, keeping);
    return result;
  });
}

/** `mirror` is the state of the mirror after the backup. Absent if the platform has none. */
async function createSet(
  settings: Settings,
  { root, parts }: { root: string; parts: readonly SetPart[] },
  options: BackupOptions,
): Promise<BackupResult & Pick<LastRun, 'mirror'>> {
  const began = performance.now();
  await checkPlatform(settings);
  await checkDefined(settings);
  const encryption = await findEncryption(settings, options);
  const mirror = mirrorTarget(settings, options.mirror);
  const run = beginRun(BACKUP_STEPS, options, (id) => {
    const isPart = (BACKUP_PARTS as readonly string[]).includes(id);
    return isPart ? parts.includes(id as SetPart) : id !== 'mirror' || mirror !== undefined;
  });
  const platform = await openPlatform(settings);

  const opened = await run.step('open', async () => {
    if (readsDatabase(parts)) await checkServiceResponds({ settings, platform, options, parts });
    return openSetInRoot(root, options, encryption);
  });
  if (opened.clockBehind) {
    run.finding(
      'CLOCK_BEHIND',
      'the clock is behind the newest set, so the name of the new set follows that set instead of the clock',
    );
  }
  const { lock, writer, startedAt } = opened;
  const work: BackupWork = { settings, options, run, platform, root, parts, writer, startedAt };
  try {
    const contents = await writeContents(work);
    const manifest = await run.step('checksums', () => writeManifest(work, contents));
    const verdict = await run.step('read-back', () => readBack(work));
    const shrunk = await run.step('watch', () => findShrinkage(work, manifest, verdict), countLosses);
    const kept = { ...verdict, by: 'backup', ...(shrunk === undefined ? {} : { shrunk }) } as const;
    // Stored before the set is published, so that a set with losses never counts as the newest good one.
    if (shrunk !== undefined) await keepVerdict(root, writer.name, kept, options);
    const dir = await run.step('publish', () => writer.publish());
    if (shrunk === undefined) await keepVerdict(root, writer.name, kept, options);
    await run.step('versions', () => keepVersions(work, dir, contents));
    const pruned = await run.step('prune', () => pruneRoot(work, contents), countDeleted);
    // A slow target must not hold the lock. The mirror needs no lock, because it copies only complete sets.
    await lock.release();
    const mirrored =
      mirror === undefined ? undefined : await run.step('mirror', () => copyToMirror(work, mirror));
    const isComplete = mirrored?.findings.length === 0;
    return {
      ...(mirror === undefined ? {} : { mirror: isComplete ? 'complete' : 'incomplete' }),
      dir,
      name: writer.name,
      parts: parts.filter((part) => isWritten(contents, part)),
      ...(contents.realms === undefined ? {} : { realmSource: contents.realms.source }),
      bytes: [...writer.files.values()].reduce((sum, file) => sum + file.bytes, 0),
      milliseconds: Math.round(performance.now() - began),
      steps: run.durations,
      pruned,
      ...(shrunk === undefined ? {} : { shrunk }),
      findings: run.findings,
    };
  } finally {
    await writer.abandon();
    await lock.release();
  }
}

function countLosses(shrunk: BackupResult['shrunk']): string | undefined {
  return shrunk === undefined ? undefined : renderCount(shrunk.losses.length, 'loss', 'losses');
}

function isWritten(contents: BackupContents, part: SetPart): boolean {
  switch (part) {
    case 'database':
      return contents.dump !== undefined;
    case 'realms':
      return contents.realms !== undefined;
    case 'config':
      return contents.config;
    case 'env':
      return contents.env;
  }
}

function countDeleted(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `${names.length} deleted`;
}
