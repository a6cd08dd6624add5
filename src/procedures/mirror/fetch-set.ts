import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, open, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseChecksums, parseManifest, parseSetName, SET_FILES } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import { findEntry, makeTemporaryDirectory, syncDirectory, writing } from '../../files/index.ts';
import type { Target } from '../../target/index.ts';
import { type RemoteSet, readSmall } from './remote-root.ts';

/** Free space in bytes that a download leaves on the disk. */
const SPARE_BYTES = 64 * 1024 * 1024;

const PREFIX = 'idkit-fetched-';

export interface FetchOptions {
  signal: AbortSignal;
  /**
   * The directory that keeps the download after this process, so that an interrupted restore can be resumed. Default: a
   * private temporary directory that is removed when the process exits.
   */
  keepIn?: string;
  onProgress?: (done: number, total: number) => void;
}

/**
 * Downloads a set into a private directory and returns it. A target is not trusted: only the files that the checksums list
 * are read, none of them beyond its size, and only if all of them fit on the disk. Whether they match their checksums and
 * the seal is for the caller to verify, as for every other set.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DAMAGED, IDKIT_NO_SPACE, IDKIT_UNREACHABLE
 */
export async function fetchSet(target: Target, set: RemoteSet, options: FetchOptions): Promise<string> {
  const { signal } = options;
  const parent = await makeParent(target, options);
  const dir = join(parent, set.name);
  if (findEntry(dir)?.isDirectory() === true) return dir;
  const checksums = await readSmall(target, `${set.name}/${SET_FILES.checksums}`, signal);
  const listed = parseChecksums(checksums).map(({ name }) => name);
  for (const name of set.files.keys())
    if (!listed.includes(name) && name !== SET_FILES.checksums && name !== SET_FILES.seal)
      throw new IdkitError(
        'IDKIT_DAMAGED',
        `${target.label}: ${set.name}/${name} is not listed in ${SET_FILES.checksums}`,
      );
  const manifest = listed.includes(SET_FILES.manifest)
    ? await readSmall(target, `${set.name}/${SET_FILES.manifest}`, signal)
    : undefined;
  const wanted = [...listed, ...(set.files.has(SET_FILES.seal) ? [SET_FILES.seal] : [])];
  const sizes = sizesOf(set, wanted, manifest);
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  await checkSpace(parent, total, target.label);
  const draft = await mkdtemp(join(parent, '.draft-'));
  let done = 0;
  const onBytes = (bytes: number) => {
    done += bytes;
    options.onProgress?.(done, total);
  };
  try {
    await writing(draft, () =>
      writeFile(join(draft, SET_FILES.checksums), checksums, { mode: 0o600, flag: 'wx' }),
    );
    for (const [name, size] of sizes)
      await download(target, `${set.name}/${name}`, join(draft, name), { size, signal, onBytes });
    syncDirectory(draft);
    await rename(draft, dir);
    syncDirectory(parent);
    return dir;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/** Returns the sizes of the files that are there. The manifest, if it is readable, limits them. */
function sizesOf(
  set: RemoteSet,
  names: readonly string[],
  manifest: Buffer | undefined,
): ReadonlyMap<string, number> {
  const limits = readLimits(manifest);
  const sizes = new Map<string, number>();
  for (const name of names) {
    const there = set.files.get(name);
    // The verification reports missing files, and files with a byte too many.
    if (there !== undefined) sizes.set(name, Math.min(there, (limits?.[name] ?? there) + 1));
  }
  return sizes;
}

function readLimits(manifest: Buffer | undefined): Readonly<Record<string, number>> | undefined {
  if (manifest === undefined) return undefined;
  try {
    return parseManifest(manifest).files;
  } catch (error) {
    if (error instanceof IdkitError) return undefined;
    throw error;
  }
}

/** Writes at most `size` bytes of a file. */
async function download(
  target: Target,
  path: string,
  file: string,
  { size, signal, onBytes }: { size: number; signal: AbortSignal; onBytes(bytes: number): void },
): Promise<void> {
  await writing(file, async () => {
    const handle = await open(file, 'wx', 0o600);
    try {
      let left = size;
      for await (const chunk of (await target.read(path, undefined, signal)) as AsyncIterable<Buffer>) {
        const part = chunk.subarray(0, left);
        await handle.appendFile(part);
        onBytes(part.length);
        left -= part.length;
        if (left === 0) break;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
}

async function checkSpace(dir: string, bytes: number, label: string): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  if (bavail * bsize >= bytes + SPARE_BYTES) return;
  throw new IdkitError('IDKIT_NO_SPACE', `${dir} has no space for a set of ${bytes} bytes from ${label}`, {
    hints: ['set TMPDIR to a directory with enough space'],
  });
}

async function makeParent(target: Target, { keepIn }: FetchOptions): Promise<string> {
  if (keepIn !== undefined) {
    const id = createHash('sha256').update(target.label).digest('hex').slice(0, 16);
    const dir = join(keepIn, id);
    await writing(dir, () => mkdir(dir, { recursive: true, mode: 0o700 }));
    return dir;
  }
  const dir = await makeTemporaryDirectory(PREFIX);
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Returns the listing of one set, without the other files of the target. @throws IDKIT_NOT_FOUND */
export async function findRemoteSet(target: Target, name: string, signal: AbortSignal): Promise<RemoteSet> {
  const startedAt = parseSetName(name);
  const files = new Map<string, number>();
  for await (const file of target.list(`${name}/`, signal)) {
    const inside = file.name.slice(name.length + 1);
    if (!inside.includes('/')) files.set(inside, file.size);
  }
  if (startedAt === undefined || !files.has(SET_FILES.checksums)) {
    throw new IdkitError('IDKIT_NOT_FOUND', `${target.label} does not contain the backup set ${name}`, {
      hints: ['idkit backups list --root TARGET shows the sets of a target'],
    });
  }
  return { name, startedAt, files, complete: true, future: false };
}
