import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { copyFile, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { IdkitError, type Secret, systemErrorCode } from '../core/index.ts';
import { renderChecksums } from './checksums.ts';
import type { VersionResult } from './contract.ts';
import { decryptEnvironment } from './environment.ts';
import { writing } from './faults.ts';
import { gunzip } from './gunzip.ts';
import { parseSetName } from './names.ts';
import { replaceFile, syncDirectory } from './sync.ts';

const WEEK_MILLISECONDS = 7 * 86_400_000;

/** One of the component directories beside the sets. */
interface Component {
  dir: string;
  extension: 'tar.gz' | 'gpg';
  /** True where both files hold the same content, however they are packed. */
  same(newest: string, file: string): Promise<boolean>;
}

/**
 * Keeps a version of the configuration as `ROOT/config/STAMP.tar.gz` with a `.sha256` file, where its content
 * changed or the newest is a week old; the newest `keep` stay (contract §3, backup).
 *
 * @param stamp the name of the set that it comes from
 * @param file the set's `config.tar.gz`
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export async function addConfigVersion(
  root: string,
  stamp: string,
  file: string,
  options: { keep: number },
): Promise<VersionResult> {
  const same = async (newest: string, now: string) => {
    const old = await archiveHash(newest);
    return old !== undefined && old === (await archiveHash(now));
  };
  return addVersion(
    { dir: join(resolve(root), 'config'), extension: 'tar.gz', same },
    stamp,
    file,
    options.keep,
  );
}

/** As `addConfigVersion`, for `ROOT/env/STAMP.gpg`. A version that another passphrase opens counts as changed. */
export async function addEnvironmentVersion(
  root: string,
  stamp: string,
  file: string,
  options: { keep: number; passphrase: Secret },
): Promise<VersionResult> {
  const same = async (newest: string, now: string) => {
    const [old, fresh] = await Promise.all(
      [newest, now].map(async (path) => decryptEnvironment(await readFile(path), options.passphrase)),
    );
    return (
      old?.outcome === 'opened' && fresh?.outcome === 'opened' && Buffer.compare(old.bytes, fresh.bytes) === 0
    );
  };
  return addVersion({ dir: join(resolve(root), 'env'), extension: 'gpg', same }, stamp, file, options.keep);
}

async function addVersion(
  component: Component,
  stamp: string,
  file: string,
  keep: number,
): Promise<VersionResult> {
  const at = parseSetName(stamp);
  if (at === undefined) throw new IdkitError('IDKIT_BUG', `${stamp} is no name of a set`);
  return writing(component.dir, async () => {
    await mkdir(component.dir, { recursive: true, mode: 0o700 });
    const newest = (await listVersions(component)).at(-1);
    const added = newest === undefined || (await isDue(component, newest, at, file));
    const path = join(component.dir, `${stamp}.${component.extension}`);
    if (added) await copyVersion(file, path);
    const removed = await removeOld(component, keep);
    return { ...(added ? { added: path } : {}), removed };
  });
}

async function isDue(component: Component, newest: string, at: number, file: string): Promise<boolean> {
  if (at - timeOf(component, newest)! >= WEEK_MILLISECONDS) return true;
  const path = join(component.dir, newest);
  return !(await hasChecksum(path)) || !(await component.same(path, file));
}

/** Names of the versions that are there, oldest first. Anything else in the directory is foreign. */
async function listVersions(component: Component): Promise<string[]> {
  const entries = await readdir(component.dir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && timeOf(component, entry.name) !== undefined)
    .map((entry) => entry.name)
    .sort();
}

function timeOf(component: Component, name: string): number | undefined {
  const suffix = `.${component.extension}`;
  return name.endsWith(suffix) ? parseSetName(name.slice(0, -suffix.length)) : undefined;
}

/** The checksum goes first: a version without a right one is not taken for whole, and is made again. */
async function copyVersion(from: string, to: string): Promise<void> {
  const draft = `${to}.partial`;
  await rm(draft, { force: true });
  await copyFile(from, draft, constants.COPYFILE_EXCL);
  const handle = await open(draft, 'r+');
  try {
    await handle.chmod(0o600);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await replaceFile(`${to}.sha256`, renderChecksums([{ name: basename(to), sha256: await hashOf(draft) }]));
  await rename(draft, to);
  await syncDirectory(join(to, '..'));
}

async function removeOld(component: Component, keep: number): Promise<string[]> {
  const removed: string[] = [];
  const versions = await listVersions(component);
  for (const name of versions.slice(0, Math.max(versions.length - Math.max(keep, 1), 0))) {
    await rm(join(component.dir, name), { force: true });
    await rm(join(component.dir, `${name}.sha256`), { force: true });
    removed.push(join(component.dir, name));
  }
  if (removed.length > 0) await syncDirectory(component.dir);
  return removed;
}

async function hasChecksum(path: string): Promise<boolean> {
  try {
    const line = await readFile(`${path}.sha256`, 'utf8');
    return line === renderChecksums([{ name: basename(path), sha256: await hashOf(path) }]);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function hashOf(path: string): Promise<string> {
  return hashAll(createReadStream(path));
}

/** Of the archive inside; undefined where it does not unpack, so that it equals nothing. */
async function archiveHash(path: string): Promise<string | undefined> {
  try {
    return await hashAll(gunzip(createReadStream(path), basename(path)));
  } catch (error) {
    if (error instanceof IdkitError) return undefined;
    throw error;
  }
}

async function hashAll(source: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source) hash.update(chunk);
  return hash.digest('hex');
}
