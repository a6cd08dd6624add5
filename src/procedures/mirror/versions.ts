import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSet, parseChecksums } from '../../backupset/index.ts';
import { findEntry } from '../../files/index.ts';
import { type CopyWork, putOrCompare } from './copy-set.ts';
import { type RemoteRoot, VERSION, type VERSION_FOLDERS } from './remote-root.ts';

/**
 * Copies the versions of one folder that the target does not have, each before its `.sha256`. A version whose checksum is
 * missing or wrong is not copied.
 */
export async function copyVersions(
  root: string,
  folder: (typeof VERSION_FOLDERS)[number],
  remote: RemoteRoot,
  work: CopyWork,
): Promise<readonly string[]> {
  const dir = join(root, folder);
  const entry = findEntry(dir);
  if (entry === undefined) return [];
  if (!entry.isDirectory()) throw new Error(`${dir} is not a directory`);
  const names = (await readdir(dir))
    .filter((name) => VERSION.test(name) && !name.endsWith('.sha256'))
    .toSorted();
  const files = await openSet(dir);
  const copied: string[] = [];
  for (const name of names) {
    work.signal.throwIfAborted();
    const sum = `${name}.sha256`;
    if (remote.versions.has(`${folder}/${sum}`) && remote.versions.has(`${folder}/${name}`)) continue;
    if (findEntry(join(dir, sum)) === undefined) continue;
    const line = await readFile(join(dir, sum));
    const [listed] = parseChecksums(line);
    if (listed?.name !== name) throw new Error(`${sum} is the checksum of another file`);
    await putOrCompare(files, name, work, listed.sha256);
    await putOrCompare(files, sum, work, createHash('sha256').update(line).digest('hex'));
    copied.push(`${folder}/${name}`);
  }
  return copied;
}
