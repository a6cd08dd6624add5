import type { LastRun, SetPart } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { openPlatform } from '../../platform/open.ts';
import { keepFailure, keepResult } from '../last-run.ts';
import { backupRoot, checkDefined, checkPlatform, mirrorTarget } from '../platform.ts';
import { beginRun } from '../run.ts';
import { keepVerdict } from '../verify/judge-set.ts';
import { writeContents } from './contents.ts';
import { checkServiceResponds } from './fetch-realms.ts';
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
  return keepFailure(root, runs, options, async () => {
    const { mirror, ...result } = await createSet(settings, { root, parts }, options);
    const { name: set, findings, milliseconds } = result;
    const facts = { set, milliseconds, ...(mirror === undefined ? {} : { mirror }) };
    await keepResult(root, runs, { findings, ...facts }, options);
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
  const mirror = mirrorTarget(settings, options.mirror);
  const run = beginRun(BACKUP_STEPS, options, (id) => {
    const isPart = (BACKUP_PARTS as readonly string[]).includes(id);
    return isPart ? parts.includes(id as SetPart) : id !== 'mirror' || mirror !== undefined;
  });
  const platform = await openPlatform(settings);

  const opened = await run.step('open', async () => {
    if (readsDatabase(parts)) await checkServiceResponds({ settings, platform, options, parts });
    return openSetInRoot(root, options);
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
    await run.step('checksums', () => writeManifest(work, contents));
    const verdict = await run.step('read-back', () => readBack(work));
    const dir = await run.step('publish', () => writer.publish());
    await keepVerdict(root, writer.name, { ...verdict, by: 'backup' }, options);
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
      findings: run.findings,
    };
  } finally {
    await writer.abandon();
    await lock.release();
  }
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
