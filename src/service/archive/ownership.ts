import { type ArchiveKeys, ArchiveReader, listChains } from '../../archive/index.ts';
import { IdkitError } from '../../core/index.ts';
import { isTargetFault, type Target } from '../../target/index.ts';

/** The file of the target that names the chain which is being written. */
const CURRENT = 'current';
/** How often the owner is checked, in milliseconds. */
export const OWNER_CHECK_MS = 60_000;

/**
 * Checks that the archive at the target belongs to this platform.
 *
 * @param known the chain that this machine wrote last, possibly with an older master key
 * @returns the name of the newest chain, or null if there is none
 * @throws IDKIT_SETTING if another platform writes there
 */
export async function checkOwner(
  target: Target,
  keys: ArchiveKeys,
  known: string | undefined,
): Promise<string | null> {
  const chains = (await listChains(target)).filter(({ files }) => files.has('chain'));
  const newest = chains.at(-1);
  if (newest === undefined) return null;
  if (newest.name === known) return newest.name;
  try {
    await new ArchiveReader(target, keys).chain(newest);
  } catch (cause) {
    if (!(cause instanceof IdkitError) || cause.code !== 'IDKIT_MASTER_KEY_WRONG') throw cause;
    throw new IdkitError(
      'IDKIT_SETTING',
      `backup.archive: ${target.label} contains the archive of another platform`,
      {
        hints: [
          'give each platform a place of its own',
          'after a change of the master key on another machine, use a new place',
        ],
        cause,
      },
    );
  }
  return newest.name;
}

/** Notes at the target that this chain is being written. */
export function claim(target: Target, chain: string): Promise<void> {
  const bytes = Buffer.from(`${chain}\n`);
  return target.put(CURRENT, once(bytes), { size: bytes.length });
}

/**
 * Checks that no other service has begun a chain since.
 *
 * @throws IDKIT_SETTING
 */
export async function stillOwner(target: Target, chain: string): Promise<void> {
  const current = await readCurrent(target);
  if (current === undefined || current === chain) return;
  throw new IdkitError('IDKIT_SETTING', `another service writes its archive to ${target.label}`, {
    hints: ['give each platform a place of its own in backup.archive, and start idkit serve again'],
  });
}

async function readCurrent(target: Target): Promise<string | undefined> {
  try {
    const parts: Buffer[] = [];
    for await (const part of await target.read(CURRENT, { start: 0, length: 100 }))
      parts.push(part as Buffer);
    return Buffer.concat(parts).toString('utf8').trim();
  } catch (error) {
    if (isTargetFault(error, 'TARGET_FILE_MISSING')) return undefined;
    throw error;
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
