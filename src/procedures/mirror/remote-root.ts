import {
  type ChecksumEntry,
  isFuture,
  parseChecksums,
  parseSetName,
  SET_FILES,
} from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { Target } from '../../target/index.ts';

/** Maximum size in bytes of a list of checksums, of a seal and of a manifest at a target. */
const MOST_SMALL_BYTES = 16 * 1024 * 1024;

/** A set at a target, from the listing. */
export interface RemoteSet {
  name: string;
  /** Unix time in milliseconds, from the name. */
  startedAt: number;
  /** Sizes in bytes by the names of the files. */
  files: Map<string, number>;
  /** True if the checksums are there, which are copied last. */
  complete: boolean;
  /** True if it is dated more than an hour ahead. */
  future: boolean;
}

export interface RemoteRoot {
  /** By name, oldest first. */
  sets: Map<string, RemoteSet>;
  /** Names such as `config/20261122_101112.tar.gz`. */
  versions: Set<string>;
}

/** The folders of a backup root that contain versions. */
export const VERSION_FOLDERS = ['config', 'env'] as const;

/** Names of versions. Every other file in these folders is ignored. */
export const VERSION = /^\d{8}_\d{6}\.(?:tar\.gz|tar\.gz\.gpg|gpg)(?:\.sha256)?$/;

/** Lists a target. Files that do not belong to a backup root are ignored. @param now Unix time in milliseconds */
export async function listRemote(target: Target, now: number, signal: AbortSignal): Promise<RemoteRoot> {
  const found: RemoteRoot = { sets: new Map(), versions: new Set() };
  for await (const { name, size } of target.list('', signal)) {
    const [folder = '', file, ...deeper] = name.split('/');
    if (file === undefined || deeper.length > 0) continue;
    if ((VERSION_FOLDERS as readonly string[]).includes(folder)) {
      if (VERSION.test(file)) found.versions.add(name);
      continue;
    }
    const startedAt = parseSetName(folder);
    if (startedAt === undefined) continue;
    const set = found.sets.get(folder) ?? newSet(folder, startedAt, now);
    found.sets.set(folder, set);
    set.files.set(file, size);
    if (file === SET_FILES.checksums) set.complete = true;
  }
  return found;
}

function newSet(name: string, startedAt: number, now: number): RemoteSet {
  return { name, startedAt, files: new Map(), complete: false, future: isFuture(startedAt, now) };
}

/** Reads a small file of a target as a whole. @throws IDKIT_DAMAGED if it is longer than 16 MiB */
export async function readSmall(target: Target, name: string, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of (await target.read(name, undefined, signal)) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_SMALL_BYTES)
      throw new IdkitError('IDKIT_DAMAGED', `${target.label}: ${name} is longer than 16 MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads the checksums of a set at a target. @throws IDKIT_DAMAGED if they are not a list of checksums */
export async function readRemoteChecksums(
  target: Target,
  set: string,
  signal: AbortSignal,
): Promise<{ bytes: Buffer; entries: readonly ChecksumEntry[] }> {
  const bytes = await readSmall(target, `${set}/${SET_FILES.checksums}`, signal);
  return { bytes, entries: parseChecksums(bytes) };
}
