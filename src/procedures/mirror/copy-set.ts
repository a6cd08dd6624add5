import { createHash } from 'node:crypto';
import {
  type ChecksumEntry,
  openSet,
  parseChecksums,
  SET_FILES,
  type SetHandle,
} from '../../backupset/index.ts';
import { errorMessage } from '../../core/index.ts';
import { isTargetFault, type Target } from '../../target/index.ts';
import { checkSample, hashRemote, type ReadCount } from './read-back.ts';
import { type RemoteSet, readSmall } from './remote-root.ts';

export interface CopyWork {
  target: Target;
  signal: AbortSignal;
  /** Receives the bytes of each chunk that was sent. */
  onBytes(bytes: number): void;
  count: ReadCount;
}

/** The result of copying one set. */
export interface CopyResult {
  state: 'copied' | 'present' | 'repaired';
  /** The hash of the checksums. */
  sha256: string;
  /** What is wrong with the set at the target, which is not overwritten. */
  faults: readonly string[];
}

/**
 * Copies one set. Every file is hashed while it is sent, and a file that does not have its checksum never appears at the
 * target. A sample is read back before the checksums are copied, which make the set complete. A complete set is never
 * overwritten: only files that it lacks are added.
 *
 * @param dir the directory of the local set
 */
export async function copySet(
  dir: string,
  remote: RemoteSet | undefined,
  work: CopyWork,
): Promise<CopyResult> {
  const { target, signal } = work;
  const set = await openSet(dir);
  const checksums = await set.read(SET_FILES.checksums);
  const sha256 = createHash('sha256').update(checksums).digest('hex');
  const entries = parseChecksums(checksums);
  if (remote?.complete === true) {
    const theirs = await readSmall(target, `${set.name}/${SET_FILES.checksums}`, signal);
    if (!checksums.equals(theirs))
      throw new Error('the target has a different set with this name, which is not overwritten');
  }
  const faults: string[] = [];
  let sent = 0;
  for (const entry of entries) {
    signal.throwIfAborted();
    const outcome = await copyFile(set, entry, remote, work);
    if (outcome === 'sent') sent += 1;
    else if (outcome === 'differs')
      faults.push(`${entry.name} has another size at the target, and is not overwritten`);
  }
  if (faults.length > 0) return { state: 'present', sha256, faults };
  if (set.names.includes(SET_FILES.seal) && !(remote?.files.has(SET_FILES.seal) ?? false)) {
    sent += 1;
    await putOrCompare(set, SET_FILES.seal, work, undefined);
  }
  if (remote?.complete === true) return { state: sent === 0 ? 'present' : 'repaired', sha256, faults };
  await checkSample(set, entries, work);
  await putOrCompare(set, SET_FILES.checksums, work, sha256);
  return { state: 'copied', sha256, faults };
}

/** Copies a file that the target lacks. A file of an unfinished copy is compared, and replaced if it differs. */
async function copyFile(
  set: SetHandle,
  { name, sha256 }: ChecksumEntry,
  remote: RemoteSet | undefined,
  work: CopyWork,
): Promise<'sent' | 'present' | 'differs'> {
  const there = remote?.files.get(name);
  const size = await set.size(name);
  if (there !== undefined && remote?.complete === true) return there === size ? 'present' : 'differs';
  if (there !== undefined) {
    const { target, signal } = work;
    const path = `${set.name}/${name}`;
    if (there === size && (await hashRemote(target, path, size, signal)) === sha256) return 'present';
    await target.remove(path, signal);
  }
  await putOrCompare(set, name, work, sha256);
  return 'sent';
}

/**
 * Puts a file, and fails if the local file does not have the hash. Another run may have put the same file in the meantime,
 * which is then compared.
 */
export async function putOrCompare(
  set: Pick<SetHandle, 'name' | 'size' | 'stream' | 'read'>,
  name: string,
  work: CopyWork,
  sha256: string | undefined,
): Promise<void> {
  const { target, signal } = work;
  const path = `${set.name}/${name}`;
  const size = await set.size(name);
  try {
    await target.put(path, checked(set.stream(name, { signal }), name, sha256, work), {
      size,
      onlyNew: true,
      signal,
    });
  } catch (error) {
    if (!isTargetFault(error, 'TARGET_FILE_EXISTS')) throw error;
    const local =
      sha256 ??
      createHash('sha256')
        .update(await set.read(name))
        .digest('hex');
    if ((await hashRemote(target, path, size, signal)) === local) return;
    throw new Error(`${name} exists at the target with another content, and is not overwritten`, {
      cause: error,
    });
  }
}

/** Passes the bytes on, and throws at the end of a file with another hash. Then a target discards the file. */
async function* checked(
  source: AsyncIterable<Buffer>,
  name: string,
  sha256: string | undefined,
  { onBytes }: CopyWork,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of source) {
    hash.update(chunk);
    onBytes(chunk.length);
    yield chunk;
  }
  if (sha256 !== undefined && hash.digest('hex') !== sha256)
    throw new Error(`${name} does not match its checksum in the set`);
}

/** Renders the fault of one set. */
export function renderFault(name: string, error: unknown): string {
  return `${name}: ${errorMessage(error)}`;
}
