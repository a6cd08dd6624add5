import type { Stats } from 'node:fs';
import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '../../core/index.ts';
import type { ArchiveSource, LeftOut } from '../contract.ts';
import { linkStaysInside } from './rules.ts';
import { utf8 } from './tar-header.ts';

/** A file, directory or link to archive. */
export interface SourceEntry {
  /** In the archive. */
  path: string;
  /** On the disk. */
  file: string;
  type: 'file' | 'directory' | 'link';
  stats: Stats;
  target?: string;
}

/** The entries to archive, sorted bytewise with parents first, and the files that are left out. */
export interface Walk {
  entries: SourceEntry[];
  leftOut: LeftOut[];
}

/** Identifies the environment file, even under another name or behind a link. */
interface Environment {
  device: number;
  inode: number;
  real: string;
}

/**
 * Finds the entries of the configuration archive: `idkit.yaml`, `compose.yaml` and the configuration directory. Leaves
 * out the environment file, files named `.env*`, sockets, FIFOs, devices and links that point outside.
 */
export async function walkSource(source: ArchiveSource): Promise<Walk> {
  const environment = await environmentOf(source.environmentFile);
  const walk: Walk = { entries: [], leftOut: [] };
  for (const [path, file] of [
    ['compose.yaml', source.composeYaml],
    ['idkit.yaml', source.idkitYaml],
  ] as const) {
    if (file === undefined) continue;
    const stats = await missingAsUndefined(stat(file));
    if (stats?.isFile() === true && !isEnvironment(stats, environment))
      walk.entries.push({ path, file, type: 'file', stats });
  }
  const root =
    source.configDir === undefined ? undefined : await missingAsUndefined(realpath(source.configDir));
  if (root !== undefined && (await stat(root)).isDirectory()) await walkConfig(walk, root, environment);
  return walk;
}

async function walkConfig(walk: Walk, root: string, environment: Environment | undefined): Promise<void> {
  const entries: SourceEntry[] = [];
  await walkDirectory({ entries, leftOut: walk.leftOut, environment }, 'config', root);
  const links = new Map(entries.flatMap((one) => (one.target === undefined ? [] : [[one.path, one.target]])));
  for (const one of entries) {
    if (one.type !== 'link' || linkStaysInside(one.path, links)) walk.entries.push(one);
    else if (!(await leadsToEnvironment(one.file, environment)))
      walk.leftOut.push({ path: belowConfig(one.path), why: 'link leaves' });
  }
}

interface Walking {
  entries: SourceEntry[];
  leftOut: LeftOut[];
  environment: Environment | undefined;
}

async function walkDirectory(walking: Walking, path: string, file: string): Promise<void> {
  const stats = await missingAsUndefined(lstat(file));
  if (stats === undefined) return;
  const names = await listNames(walking, path, file);
  if (names === undefined) return;
  walking.entries.push({ path, file, type: 'directory', stats });
  for (const name of names) await walkEntry(walking, `${path}/${name}`, join(file, name), name);
}

async function walkEntry(walking: Walking, path: string, file: string, name: string): Promise<void> {
  const stats = await missingAsUndefined(lstat(file));
  const leaveOut = (why: LeftOut['why']) => walking.leftOut.push({ path: belowConfig(path), why });
  if (stats === undefined) leaveOut('vanished while read');
  else if (isEnvironment(stats, walking.environment)) return;
  else if (stats.isSymbolicLink()) {
    if (await leadsToEnvironment(file, walking.environment)) return;
    if (name.startsWith('.env')) leaveOut('environment name');
    else walking.entries.push({ path, file, type: 'link', stats, target: await readlink(file) });
  } else if (name.startsWith('.env')) leaveOut('environment name');
  else if (stats.isDirectory()) await walkDirectory(walking, path, file);
  else if (stats.isFile()) walking.entries.push({ path, file, type: 'file', stats });
  else if (stats.isSocket()) leaveOut('socket');
  else if (stats.isFIFO()) leaveOut('fifo');
  else leaveOut('device');
}

/** Lists the names in a directory, sorted bytewise. Returns undefined if the directory cannot be read. */
async function listNames(walking: Walking, path: string, file: string): Promise<string[] | undefined> {
  let raw: Buffer[];
  try {
    raw = await readdir(file, { encoding: 'buffer' });
  } catch (error) {
    const gone = ['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '');
    walking.leftOut.push({ path: belowConfig(path), why: gone ? 'vanished while read' : 'unreadable' });
    return undefined;
  }
  return raw.sort(Buffer.compare).flatMap((bytes) => {
    const name = utf8(bytes);
    if (name !== undefined) return [name];
    walking.leftOut.push({
      path: belowConfig(`${path}/${bytes.toString('utf8')}`),
      why: 'name is not UTF-8',
    });
    return [];
  });
}

function belowConfig(path: string): string {
  return path === 'config' ? '.' : path.slice('config/'.length);
}

async function environmentOf(file: string | undefined): Promise<Environment | undefined> {
  if (file === undefined) return undefined;
  const stats = await missingAsUndefined(stat(file));
  if (stats === undefined) return undefined;
  return { device: stats.dev, inode: stats.ino, real: await realpath(file) };
}

function isEnvironment(stats: Stats, environment: Environment | undefined): boolean {
  return environment !== undefined && stats.dev === environment.device && stats.ino === environment.inode;
}

async function leadsToEnvironment(link: string, environment: Environment | undefined): Promise<boolean> {
  if (environment === undefined) return false;
  const stats = await missingAsUndefined(stat(link));
  return stats !== undefined && isEnvironment(stats, environment);
}

async function missingAsUndefined<T>(stats: Promise<T>): Promise<T | undefined> {
  try {
    return await stats;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(systemErrorCode(error) ?? '')) return undefined;
    throw error;
  }
}
