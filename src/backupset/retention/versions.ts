import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { IdkitError, type Secret } from '../../core/index.ts';
import { replaceFile, syncDirectory, writing } from '../../files/index.ts';
import { ARCHIVE_MAX_BYTES } from '../archive/rules.ts';
import type { VersionResult } from '../contract.ts';
import { damaged } from '../faults.ts';
import { gunzip } from '../gzip/gunzip.ts';
import { decryptEnvironment, LONGEST_MESSAGE } from '../openpgp/environment.ts';
import { decryptFile } from '../openpgp/file-decryption.ts';
import type { SetEncryption } from '../openpgp/set-encryption.ts';
import { SetKeys } from '../openpgp/set-keys.ts';
import { renderChecksums } from '../set/checksums.ts';
import { parseSetName } from '../set/names.ts';
import { readRegular, streamRegular } from '../set/regular-file.ts';
import { CODE_FILE, matchesCode, renderCode } from './content-code.ts';

/** Maximum length of a checksum line in bytes. */
const LONGEST_LINE = 1024;

const WEEK_MILLISECONDS = 7 * 86_400_000;

/** A directory next to the sets that holds versions of the configuration or the environment. */
interface Component {
  dir: string;
  /** The endings of versions. The first one is that of the new version. */
  endings: readonly string[];
  /** True if both files have the same content, even if they are packed differently. */
  same(newest: string, file: string): Promise<boolean>;
}

/** What both kinds of versions need. */
export interface VersionOptions {
  /** How many versions stay. */
  keep: number;
  /** The hash of the file when the set was sealed. The file may have been replaced since. */
  sha256: string;
  /** Required for the environment, and for an encrypted set. */
  passphrase?: Secret;
  /** The encryption of the set, if all of it is encrypted. */
  encryption?: SetEncryption;
}

type EncryptedVersionOptions = VersionOptions & { passphrase: Secret };

/**
 * Keeps a version of the configuration as `ROOT/config/STAMP.tar.gz` (encrypted: `STAMP.tar.gz.gpg`) with a `.sha256` file, if its content changed or
 * the newest version is a week old. The newest `keep` versions stay.
 *
 * @param stamp the name of the set that the version comes from
 * @param file the set's `config.tar.gz`
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export async function addConfigVersion(
  root: string,
  stamp: string,
  file: string,
  options: VersionOptions,
): Promise<VersionResult> {
  const dir = join(resolve(root), 'config');
  const { encryption, passphrase } = options;
  const endings = encryption === undefined ? ['tar.gz', 'tar.gz.gpg'] : ['tar.gz.gpg', 'tar.gz'];
  if (encryption !== undefined && passphrase !== undefined) {
    const plain = () => decryptFile(streamFile(file), keysOf(encryption), basename(file));
    const hash = async () => hashAll(gunzip(plain(), basename(file)), 2 * ARCHIVE_MAX_BYTES);
    return addEncryptedVersion({ dir, endings }, stamp, file, { ...options, encryption, passphrase, hash });
  }
  const same = async (newest: string, current: string) => {
    const old = await archiveHash(newest);
    return old !== undefined && old === (await archiveHash(current));
  };
  return addVersion({ dir, endings, same }, stamp, file, options);
}

/**
 * Keeps a version of the environment as `ROOT/env/STAMP.gpg` by the same rules. A version with another passphrase
 * counts as changed.
 */
export async function addEnvironmentVersion(
  root: string,
  stamp: string,
  file: string,
  options: EncryptedVersionOptions,
): Promise<VersionResult> {
  const { encryption } = options;
  const dir = join(resolve(root), 'env');
  if (encryption !== undefined) {
    const plain = () => decryptFile(streamFile(file), keysOf(encryption), basename(file));
    const hash = async () => hashAll(plain(), LONGEST_MESSAGE);
    return addEncryptedVersion({ dir, endings: ['gpg'] }, stamp, file, { ...options, encryption, hash });
  }
  const same = async (newest: string, current: string) => {
    const [old, fresh] = await Promise.all(
      [newest, current].map((path) => openVersion(path, options.passphrase)),
    );
    return old !== undefined && fresh !== undefined && Buffer.compare(old, fresh) === 0;
  };
  return addVersion({ dir, endings: ['gpg'], same }, stamp, file, options);
}

/**
 * Keeps a version of an encrypted set. The machine may be unable to decrypt the newest version, so its content is
 * compared by a code that only the passphrase can compute.
 */
async function addEncryptedVersion(
  component: Omit<Component, 'same'>,
  stamp: string,
  file: string,
  options: EncryptedVersionOptions & { hash: () => Promise<string> },
): Promise<VersionResult> {
  const { passphrase } = options;
  const codeFile = join(component.dir, CODE_FILE);
  const hash = await options.hash();
  const same = async (newest: string) => matchesCode(codeFile, basename(newest), hash, passphrase);
  const result = await addVersion({ ...component, same }, stamp, file, options);
  if (result.added !== undefined)
    await writing(component.dir, async () =>
      replaceFile(codeFile, renderCode(basename(result.added!), hash, passphrase)),
    );
  return result;
}

async function addVersion(
  component: Component,
  stamp: string,
  file: string,
  { keep, sha256 }: Pick<VersionOptions, 'keep' | 'sha256'>,
): Promise<VersionResult> {
  const at = parseSetName(stamp);
  if (at === undefined) throw new IdkitError('IDKIT_BUG', `${stamp} is not the name of a set`);
  return writing(component.dir, async () => {
    await mkdir(component.dir, { recursive: true, mode: 0o700 });
    // Files are written and deleted here, so the directory must be in the root and must not be a link.
    if (!(await lstat(component.dir)).isDirectory())
      throw new IdkitError('IDKIT_DIRECTORY_NOT_WRITABLE', `${component.dir} is not a directory`);
    const newest = (await listVersions(component)).at(-1);
    const added = newest === undefined || (await isDue(component, newest, at, file));
    const path = join(component.dir, `${stamp}.${component.endings[0]}`);
    if (added) await copyVersion(file, path, sha256);
    const removed = await removeOld(component, keep);
    return { ...(added ? { added: path } : {}), removed };
  });
}

async function isDue(component: Component, newest: string, at: number, file: string): Promise<boolean> {
  const newestAt = timeOf(component, newest);
  if (newestAt === undefined || at - newestAt >= WEEK_MILLISECONDS) return true;
  const path = join(component.dir, newest);
  return !(await hasChecksum(path)) || !(await component.same(path, file));
}

/** Lists the names of the versions, oldest first. Other files in the directory are ignored. */
async function listVersions(component: Component): Promise<string[]> {
  const entries = await readdir(component.dir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && timeOf(component, entry.name) !== undefined)
    .map((entry) => entry.name)
    .sort();
}

function timeOf(component: Component, name: string): number | undefined {
  const [stamp = '', ...ending] = name.split('.');
  return component.endings.includes(ending.join('.')) ? parseSetName(stamp) : undefined;
}

/**
 * Writes the checksum first. A version whose checksum is missing or wrong counts as incomplete and is written again.
 */
async function copyVersion(from: string, to: string, sha256: string): Promise<void> {
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
  if ((await hashOf(draft)) !== sha256) {
    await rm(draft, { force: true });
    throw damaged(from, 'it has changed since it was written');
  }
  replaceFile(`${to}.sha256`, renderChecksums([{ name: basename(to), sha256 }]));
  await rename(draft, to);
  syncDirectory(join(to, '..'));
}

async function removeOld(component: Component, keep: number): Promise<string[]> {
  const removed: string[] = [];
  const versions = await listVersions(component);
  for (const name of versions.slice(0, Math.max(versions.length - Math.max(keep, 1), 0))) {
    await rm(join(component.dir, name), { force: true });
    await rm(join(component.dir, `${name}.sha256`), { force: true });
    removed.push(join(component.dir, name));
  }
  if (removed.length > 0) syncDirectory(component.dir);
  return removed;
}

async function hasChecksum(path: string): Promise<boolean> {
  try {
    const line = await readRegular(dirname(path), `${basename(path)}.sha256`, LONGEST_LINE);
    return line.toString('utf8') === renderChecksums([{ name: basename(path), sha256: await hashOf(path) }]);
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

async function hashOf(path: string): Promise<string> {
  return hashAll(streamFile(path), Number.POSITIVE_INFINITY);
}

function streamFile(path: string): AsyncIterable<Buffer> {
  return streamRegular(dirname(path), basename(path));
}

function keysOf(encryption: SetEncryption): SetKeys {
  return new SetKeys({ encryption });
}

/**
 * Hashes the decompressed archive. Returns undefined if it cannot be decompressed, so that it never counts as equal.
 */
async function archiveHash(path: string): Promise<string | undefined> {
  try {
    const source = streamRegular(dirname(path), basename(path));
    return await hashAll(gunzip(source, basename(path)), 2 * ARCHIVE_MAX_BYTES);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** Decrypts a version. Returns undefined if that fails, so that it never counts as equal. */
async function openVersion(path: string, passphrase: Secret): Promise<Uint8Array | undefined> {
  try {
    const message = await readRegular(dirname(path), basename(path), LONGEST_MESSAGE);
    const opened = await decryptEnvironment(message, passphrase);
    return opened.outcome === 'opened' ? opened.bytes : undefined;
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

function isDamage(error: unknown): boolean {
  return error instanceof IdkitError && error.code === 'IDKIT_DAMAGED';
}

/** @throws IDKIT_DAMAGED for more than `maxBytes` */
async function hashAll(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw damaged('the archive', `it has more than ${maxBytes} bytes when unpacked`);
    hash.update(chunk);
  }
  return hash.digest('hex');
}
