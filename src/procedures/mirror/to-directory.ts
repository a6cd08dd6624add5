import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { copyFile, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseChecksums, SET_FILES } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import { explainWriteFault, findEntry, syncDirectory } from '../durable.ts';
import { checkInterrupted } from '../run.ts';
import type { MirrorOptions, MirrorReport } from './mirror.ts';

/** The folders of a root that keep versions of one component. */
export const VERSION_FOLDERS = ['config', 'env'] as const;

/** What lies in them; anything else there is not idkit's to copy. */
const VERSION = /^\d{8}_\d{6}\.(?:tar\.gz|gpg)(?:\.sha256)?$/;

/** Copies sets and versions into another directory. Stops at the first full disk; other faults are per set. */
export async function mirrorToDirectory(
  options: MirrorOptions,
  sets: readonly string[],
): Promise<MirrorReport> {
  const { root, target, signal } = options;
  checkApart(root, target);
  try {
    await mkdir(target, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw explainWriteFault(error, target);
  }
  const copied: string[] = [];
  const faults: string[] = [];
  for (const name of sets) {
    checkInterrupted(signal);
    try {
      if ((await copySet(join(root, name), join(target, name))) === 'copied') copied.push(name);
    } catch (error) {
      faults.push(`${name}: ${describe(explainWriteFault(error, join(target, name)))}`);
      if (explainWriteFault(error, target) instanceof IdkitError) break;
    }
  }
  for (const folder of VERSION_FOLDERS) {
    try {
      copied.push(...(await copyVersions(join(root, folder), join(target, folder))));
    } catch (error) {
      faults.push(`${folder}: ${describe(explainWriteFault(error, join(target, folder)))}`);
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
      `the mirror ${target} and the backup root ${root} lie in each other`,
    );
  }
}

/** One set; its checksums go last and only where every file that they list arrived whole. */
async function copySet(from: string, to: string): Promise<'copied' | 'present'> {
  await checkRegular(join(from, SET_FILES.checksums));
  const checksums = await readFile(join(from, SET_FILES.checksums));
  const there = await findEntry(join(to, SET_FILES.checksums));
  if (there !== undefined) {
    if (checksums.equals(await readFile(join(to, SET_FILES.checksums)))) {
      // Somebody sealed it since.
      await copySeal(from, to);
      return 'present';
    }
    throw new Error('the mirror holds another set of that name, which stays as it is');
  }
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const { name, sha256 } of parseChecksums(checksums)) {
    await copyOne(join(from, name), join(to, name));
    const arrived = await hashFile(join(to, name));
    if (arrived !== sha256) {
      await rm(join(to, name), { force: true });
      throw new Error(`${name} does not have the checksum that the set lists`);
    }
  }
  await copySeal(from, to);
  await copyOne(join(from, SET_FILES.checksums), join(to, SET_FILES.checksums));
  await syncDirectory(to);
  return 'copied';
}

/** The checksums do not list it. A seal that the mirror already has stays. */
async function copySeal(from: string, to: string): Promise<void> {
  const [own, there] = [join(from, SET_FILES.seal), join(to, SET_FILES.seal)];
  if ((await findEntry(own))?.isFile() === true && (await findEntry(there)) === undefined)
    await copyOne(own, there);
}

/** Versions that the mirror does not have; each one's `.sha256` goes after it. */
async function copyVersions(from: string, to: string): Promise<readonly string[]> {
  const found = await findEntry(from);
  if (found === undefined) return [];
  if (!found.isDirectory()) throw new Error(`${from} is not a directory`);
  await mkdir(to, { recursive: true, mode: 0o700 });
  const names = (await readdir(from)).filter((name) => VERSION.test(name));
  const copied: string[] = [];
  for (const name of names.toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1))) {
    if ((await findEntry(join(to, name))) !== undefined) continue;
    await copyOne(join(from, name), join(to, name));
    copied.push(name);
  }
  await syncDirectory(to);
  return copied;
}

function rank(name: string): number {
  return name.endsWith('.sha256') ? 1 : 0;
}

/** The copy appears under its name once it is whole and on the disk. */
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

/** A file that a link in the root leads to does not belong to a set, and a FIFO would never end. */
async function checkRegular(file: string): Promise<void> {
  if ((await findEntry(file))?.isFile() !== true) throw new Error(`${file} is not a regular file`);
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
