import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extractConfigArchive, SET_FILES } from '../../backupset/index.ts';
import { findEntry, syncDirectory, syncFile, writing } from '../../files/index.ts';
import { type Places, stagingDirectory } from './files-in-place.ts';
import { REPLACEABLE, type ReplacedItem } from './journal.ts';
import { clearLeftovers } from './leftovers.ts';
import { embeddedDefinition } from './settings-after.ts';
import type { Restore } from './work.ts';

/**
 * Writes the new `.env` and `config/` into the staging folder. If the target has no definition, it also writes
 * `idkit.yaml` and `compose.yaml`. The journal then lists the staged items.
 */
export async function stageFiles(restore: Restore): Promise<undefined> {
  const { settings, options, dataDir, journal, next, verified } = restore;
  await restore.locks.lockPlatform();
  await clearLeftovers(settings, dataDir, journal.id, options.env ?? process.env);
  const places: Places = { dir: settings.dir, id: journal.id };
  const staging = stagingDirectory(places);
  await writing(staging, async () => {
    await unpackConfig(restore, staging);
    await defineEmbedded(restore, staging);
    if (verified.environment !== undefined) await stageEnvironment(verified.environment, staging);
    await syncTree(staging);
  });
  const items: ReplacedItem[] = [];
  for (const name of REPLACEABLE) {
    if (findEntry(join(staging, name)) === undefined) continue;
    items.push({ name, had: findEntry(join(settings.dir, name)) !== undefined });
  }
  const database = next.platform.info().databaseLocation;
  restore.journal = { ...journal, items, database };
}

async function unpackConfig({ set, options, settings }: Restore, staging: string): Promise<void> {
  await rm(staging, { recursive: true, force: true });
  // A target without a definition uses the one in the set, even with --keep-config.
  if (!set.names.includes(SET_FILES.config) || (options.keepConfig === true && settings.exists)) {
    await mkdir(staging, { mode: 0o700 });
    return;
  }
  await extractConfigArchive(set, staging, { signal: options.signal });
  const handle = await open(staging, 'r');
  await handle.chmod(0o700).finally(() => handle.close());
  if (options.keepConfig === true) await rm(join(staging, 'config'), { recursive: true, force: true });
  if (!settings.exists) return;
  // The target keeps its own definition, which is only compared with that of the set.
  for (const name of ['idkit.yaml', 'compose.yaml']) {
    const staged = join(staging, name);
    if (findEntry(staged) === undefined) continue;
    const note = await compareDefinition(name, join(settings.dir, name), staged);
    if (note !== undefined) options.reporter.note(note);
    await rm(staged, { force: true });
  }
}

async function compareDefinition(name: string, own: string, staged: string): Promise<string | undefined> {
  if (findEntry(own) === undefined)
    return `the set has a ${name} that this platform does not have; it was not restored`;
  if ((await readFile(own)).equals(await readFile(staged))) return undefined;
  return `${name} differs from the one in the set; the platform keeps its own`;
}

/** Writes the `idkit.yaml` of an embedded platform if neither the target nor the set has a definition. */
async function defineEmbedded({ settings }: Restore, staging: string): Promise<void> {
  const file = join(staging, 'idkit.yaml');
  if (settings.exists || findEntry(file) !== undefined) return;
  await writeFile(file, embeddedDefinition(), { mode: 0o644, flag: 'wx' });
}

async function stageEnvironment(plain: Uint8Array, staging: string): Promise<void> {
  await writeFile(join(staging, '.env'), plain, { mode: 0o600, flag: 'wx' });
}

/** Returns when every staged file and folder is on the disk. */
async function syncTree(dir: string): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) syncFile(path);
  }
  syncDirectory(dir);
}
