import { statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  ArchiveReader,
  deriveArchiveKeys,
  listChains,
  type Moment,
  planRecovery,
  type RecoveryPlan,
  readArchiveState,
} from '../../archive/index.ts';
import { checkMasterKey, platformPaths, type Settings } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import { Replay } from '../../store/open.ts';
import { absoluteLocation, openTarget, type Target } from '../../target/index.ts';
import type { FoundMoment } from '../contract.ts';

/**
 * Finds a moment in the platform's archive. Changes nothing.
 *
 * @throws IDKIT_SETTING without an archive, IDKIT_NOT_FOUND, IDKIT_DAMAGED, IDKIT_MASTER_KEY_WRONG, IDKIT_UNREACHABLE
 */
export async function findMoment(
  settings: Settings,
  moment: Moment,
  masterKey: Secret | undefined,
): Promise<FoundMoment> {
  return withArchive(settings, masterKey, async (reader, target) => {
    const state = await readArchiveState(join(platformPaths(settings.dir).data, 'archive.json'));
    const known = state?.target === target.label ? state : undefined;
    const plan = await planRecovery(reader, await listChains(target), moment, known);
    const { chain, base, mark } = plan;
    return { chain: chain.name, base: base.base, ...mark, bytes: sizeOf(plan) };
  });
}

/**
 * Rebuilds the database of a moment as a new file.
 *
 * @throws IDKIT_DAMAGED with the archive's file, IDKIT_NO_SPACE
 */
export async function rebuildMoment(
  settings: Settings,
  found: FoundMoment,
  file: string,
  options: { masterKey: Secret | undefined; signal: AbortSignal; onProgress?: (bytes: number) => void },
): Promise<void> {
  await withArchive(settings, options.masterKey, async (reader, target) => {
    const chain = (await listChains(target)).find(({ name }) => name === found.chain);
    const base = chain && (await reader.bases(chain)).find((candidate) => candidate.base === found.base);
    if (chain === undefined || base === undefined)
      throw new IdkitError('IDKIT_DAMAGED', `the archive no longer contains the chain ${found.chain}`);
    const replay = new Replay(file);
    let bytes = 0;
    const count = (length: number) => {
      options.signal.throwIfAborted();
      bytes += length;
      options.onProgress?.(bytes);
    };
    for await (const part of reader.base(chain, base.base)) {
      replay.addBase(part);
      count(part.length);
    }
    if (found.generation > 0 && found.position > 0)
      for await (const { header, content } of reader.log(chain, base.after)) {
        const { generation, start } = header;
        if (generation > found.generation) break;
        replay.addLog(generation, start, content);
        count(content.length);
        if (generation === found.generation && start + content.length >= found.position) break;
      }
    replay.finish(found.position);
  });
}

/** @throws IDKIT_NO_SPACE if the disk cannot hold the rebuilt file and its log */
export function checkRoom(file: string, found: FoundMoment): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  const free = bavail * bsize;
  if (free < found.bytes)
    throw new IdkitError(
      'IDKIT_NO_SPACE',
      `the database of that moment needs up to ${found.bytes} bytes in ${dirname(file)}, but ${free} are free`,
    );
}

async function withArchive<T>(
  settings: Settings,
  masterKey: Secret | undefined,
  work: (reader: ArchiveReader, target: Target) => Promise<T>,
): Promise<T> {
  const { archive } = settings.backup;
  if (archive === null)
    throw new IdkitError('IDKIT_SETTING', 'restore --at needs an archive, but backup.archive is not set', {
      hints: ['set backup.archive in idkit.yaml to the place of the archive'],
    });
  const keys = deriveArchiveKeys(masterKey ?? checkMasterKey(settings.masterKey));
  const target = await openTarget(absoluteLocation(archive, settings.dir));
  try {
    return await work(new ArchiveReader(target, keys), target);
  } finally {
    await target.close();
  }
}

/** Estimates the bytes of the rebuilt file and of one generation of its log: files of the archive are compressed. */
function sizeOf({ chain, base }: RecoveryPlan): number {
  let packed = 0;
  for (const [name, size] of chain.files)
    if (name.startsWith(`base-${String(base.base).padStart(8, '0')}-`)) packed += size;
  return packed * 4;
}
