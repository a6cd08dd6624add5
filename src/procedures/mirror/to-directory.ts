import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { copyFile, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseChecksums, SET_FILES } from '../../backupset/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { findEntry, SYSTEM_ERRORS, syncDirectory, writeFault } from '../../files/index.ts';
import { checkInterrupted } from '../run.ts';
import type { MirrorOptions, MirrorReport } from './mirror.ts';

/** The folders of a backup root that contain versions. */
export const VERSION_FOLDERS = ['config', 'env'] as const;

/** Names of versions. The mirror ignores every other file in these folders. */
const VERSION = /^\d{8}_\d{6}\.(?:tar\.gz|tar\.gz\.gpg|gpg)(?:\.sha256)?$/;

/** Copies sets and versions into another directory. The run ends if the target has no space or denies permission. */
export async function mirrorToDirectory(
  options: MirrorOptions,
  sets: readonly string[],
): Promise<MirrorReport> {
  const { root, target, signal } = options;
  checkApart(root, target);
  try {
    await mkdir(target, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw writeFault(target, error);
  }
  const copied: string[] = [];
  const faults: string[] = [];
  const missing = sets.filter((name) => findEntry(join(target, name, SET_FILES.checksums)) === undefined);
  const total = await sumOfSizes(missing.map((name) => join(root, name)));
  let done = 0;
  const onBytes = (bytes: number) => {
    done += bytes;
    options.onProgress?.(done, total);
  };
  for (const name of sets) {
    checkInterrupted(signal);
    try {
      if ((await copySet(join(root, name), join(target, name), onBytes)) === 'copied') copied.push(name);
    } catch (error) {
      faults.push(`${name}: ${messageOf(writeFault(join(target, name), error))}`);
      if (SYSTEM_ERRORS.has(systemErrorCode(error) ?? '')) break;
    }
  }
  for (const folder of VERSION_FOLDERS) {
    try {
      copied.push(...(await copyVersions(join(root, folder), join(target, folder))));
    } catch (error) {
      faults.push(`${folder}: ${messageOf(writeFault(join(target, folder), error))}`);
    }
  }
  return { copied, faults };
}

function checkApart(root: string, target: string): void {
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

/** Copies one set. Its checksums are copied last, and only if every file that they list has arrived intact. */
async function copySet(
  from: string,
  to: string,
  onBytes: (bytes: number) => void,
): Promise<'copied' | 'present'> {
  await checkRegular(join(from, SET_FILES.checksums));
  const checksums = await readFile(join(from, SET_FILES.checksums));
  if (findEntry(join(to, SET_FILES.checksums)) !== undefined) {
    if (checksums.equals(await readFile(join(to, SET_FILES.checksums)))) {
      // The set may have been sealed after it was mirrored.
      await copySeal(from, to);
      return 'present';
    }
    throw new Error('the mirror has a different set with this name, which is not overwritten');
  }
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const { name, sha256 } of parseChecksums(checksums)) {
    await copyOne(join(from, name), join(to, name));
    const arrived = await hashFile(join(to, name), onBytes);
    if (arrived !== sha256) {
      await rm(join(to, name), { force: true });
      throw new Error(`${name} does not match its checksum in the set`);
    }
  }
  await copySeal(from, to);
  await copyOne(join(from, SET_FILES.checksums), join(to, SET_FILES.checksums));
  syncDirectory(to);
  return 'copied';
}

/** Copies the seal, which the checksums do not list. An existing seal of the mirror stays. */
async function copySeal(from: string, to: string): Promise<void> {
  const [seal, copy] = [join(from, SET_FILES.seal), join(to, SET_FILES.seal)];
  if (findEntry(seal)?.isFile() === true && findEntry(copy) === undefined) await copyOne(seal, copy);
}

/** Copies the versions that the mirror does not have, each before its `.sha256`. */
async function copyVersions(from: string, to: string): Promise<readonly string[]> {
  const entry = findEntry(from);
  if (entry === undefined) return [];
  if (!entry.isDirectory()) throw new Error(`${from} is not a directory`);
  await mkdir(to, { recursive: true, mode: 0o700 });
  const names = (await readdir(from)).filter((name) => VERSION.test(name));
  const copied: string[] = [];
  for (const name of names.toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1))) {
    if (findEntry(join(to, name)) !== undefined) continue;
    await copyOne(join(from, name), join(to, name));
    copied.push(name);
  }
  syncDirectory(to);
  return copied;
}

function rank(name: string): number {
  return name.endsWith('.sha256') ? 1 : 0;
}

/** Copies one file. It gets its final name when it is complete and on the disk. */
async function copyOne(from: string, to: string): Promise<void> {
  await checkRegular(from);
  const draft = `${to}.partial`;
  try {
    await copyFile(from, draft, constants.COPYFILE_FICLONE);
    const handle = await open(draft, 'r+');
    try {
      await handle.chmod(0o600);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, to);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Rejects links, which may lead to a foreign file, and FIFOs, because reading one would never end. */
async function checkRegular(file: string): Promise<void> {
  if (findEntry(file)?.isFile() !== true) throw new Error(`${file} is not a regular file`);
}

async function hashFile(file: string, onBytes: (bytes: number) => void): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    onBytes(chunk.length);
  }
  return hash.digest('hex');
}

/** Returns the total size in bytes of the files in the sets. A set that cannot be read is reported when it is copied. */
async function sumOfSizes(sets: readonly string[]): Promise<number> {
  let sum = 0;
  for (const set of sets)
    for (const name of await readdir(set).catch(() => [])) sum += findEntry(join(set, name))?.size ?? 0;
  return sum;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
