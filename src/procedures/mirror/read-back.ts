import { createHash, randomInt } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChecksumEntry, SET_FILES, type SetHandle } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { Target } from '../../target/index.ts';
import { type RemoteSet, readRemoteChecksums } from './remote-root.ts';

/** What was read at the target and compared. */
export interface ReadCount {
  files: number;
  bytes: number;
}

interface Reading {
  target: Target;
  signal: AbortSignal;
  count: ReadCount;
}

/** Files up to this size in bytes are read back as a whole. Of larger ones, two parts of this size are read. */
const SAMPLE_BYTES = 256 * 1024;

/**
 * Reads a sample of a set back and compares it with the local files: small files as a whole, and two random parts of large
 * ones.
 *
 * @throws IDKIT_DAMAGED that names the file
 */
export async function checkSample(
  set: SetHandle,
  entries: readonly ChecksumEntry[],
  { target, signal, count }: Reading,
): Promise<void> {
  for (const { name, sha256 } of entries) {
    const path = `${set.name}/${name}`;
    const size = await set.size(name);
    if (size <= SAMPLE_BYTES) {
      if ((await hashRemote(target, path, size, signal)) !== sha256) throw differs(target, path);
      count.bytes += size;
    } else {
      if ((await target.size(path, signal)) !== size) throw differs(target, path);
      for (const start of [randomInt(size - SAMPLE_BYTES + 1), size - SAMPLE_BYTES]) {
        const [local, there] = await Promise.all([
          readPart(join(set.dir, name), start, SAMPLE_BYTES),
          collect(target, path, { start, length: SAMPLE_BYTES }, signal),
        ]);
        if (!local.equals(there)) throw differs(target, path);
        count.bytes += SAMPLE_BYTES;
      }
    }
    count.files += 1;
  }
}

/**
 * Reads every byte of a set at the target and compares it with the checksums there. Returns one sentence for each file
 * that is missing, does not match or is not listed.
 *
 * @param known the hash of the checksums that were copied, if they were: someone may have replaced files and checksums
 */
export async function checkWhole(
  set: RemoteSet,
  known: string | undefined,
  { target, signal, count }: Reading,
): Promise<readonly string[]> {
  const { bytes, entries } = await readRemoteChecksums(target, set.name, signal);
  if (known !== undefined && createHash('sha256').update(bytes).digest('hex') !== known)
    return ['it was replaced at the target: its checksums are not those that were copied'];
  const faults: string[] = [];
  for (const { name, sha256 } of entries) {
    signal.throwIfAborted();
    const size = set.files.get(name);
    if (size === undefined) {
      faults.push(`${name} is missing at the target`);
      continue;
    }
    if ((await hashRemote(target, `${set.name}/${name}`, size, signal)) !== sha256)
      faults.push(`${name} does not match its checksum at the target`);
    count.files += 1;
    count.bytes += size;
  }
  const listed = new Set(entries.map(({ name }) => name));
  for (const name of set.files.keys())
    if (!listed.has(name) && name !== SET_FILES.checksums && name !== SET_FILES.seal)
      faults.push(`${name} is at the target, but the checksums do not list it`);
  return faults;
}

/** Returns the hash of a file at the target, or undefined if it has another size than `size` bytes. */
export async function hashRemote(
  target: Target,
  path: string,
  size: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of (await target.read(path, undefined, signal)) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > size) return undefined;
    hash.update(chunk);
  }
  return bytes === size ? hash.digest('hex') : undefined;
}

async function collect(
  target: Target,
  path: string,
  range: { start: number; length: number },
  signal: AbortSignal,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of (await target.read(path, range, signal)) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > range.length) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function readPart(file: string, start: number, length: number): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const part = Buffer.alloc(length);
    const { bytesRead } = await handle.read(part, 0, length, start);
    return part.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function differs(target: Target, path: string): IdkitError {
  return new IdkitError(
    'IDKIT_DAMAGED',
    `${target.label}: ${path} reads back with another content than was sent`,
  );
}
