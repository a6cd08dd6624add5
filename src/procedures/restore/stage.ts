import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extractConfigArchive, SET_FILES } from '../../backupset/index.ts';
import { explainWriteFault, findEntry, syncDirectory } from '../durable.ts';
import { type Journal, putJournal, REPLACEABLE, type ReplacedItem } from './journal.ts';
import { type Places, stagingDirectory } from './replace-files.ts';
import { embeddedDefinition } from './settings-after.ts';
import type { NextPlatform, RestoreJob, StagedRestore } from './work.ts';

/**
 * Opens the journal, then lays the new `.env`, `config/` and, for a target that has no definition of its own,
 * `idkit.yaml` and `compose.yaml` beside their places (spec step 2).
 */
export async function stageFiles(
  job: RestoreJob,
  begun: Journal,
  next: NextPlatform,
  environment: Uint8Array | undefined,
): Promise<StagedRestore> {
  const { settings, id } = job;
  const places: Places = { dir: settings.dir, id };
  const staging = stagingDirectory(places);
  try {
    await unpackConfig(job, staging);
    await defineEmbedded(job, staging);
    if (environment !== undefined) await stageEnvironment(environment, staging);
    await syncTree(staging);
    const items: ReplacedItem[] = [];
    for (const name of REPLACEABLE) {
      if ((await findEntry(join(staging, name))) === undefined) continue;
      items.push({ name, had: (await findEntry(join(settings.dir, name))) !== undefined });
    }
    const journal: Journal = {
      ...begun,
      step: 'stage',
      items,
      database: next.runtime.describe().databaseLocation,
    };
    await putJournal(job.dataDir, journal);
    return { job, next, journal };
  } catch (error) {
    throw explainWriteFault(error, staging);
  }
}

async function unpackConfig(job: RestoreJob, staging: string): Promise<void> {
  const { set, options, settings } = job;
  await rm(staging, { recursive: true, force: true });
  // Without a definition of its own the target takes the set's, whatever it keeps.
  if (!set.names.includes(SET_FILES.config) || (options.keepConfig === true && settings.exists)) {
    await mkdir(staging, { mode: 0o700 });
    return;
  }
  await extractConfigArchive(set, staging, { signal: options.signal });
  const handle = await open(staging, 'r');
  await handle.chmod(0o700).finally(() => handle.close());
  if (options.keepConfig === true) await rm(join(staging, 'config'), { recursive: true, force: true });
  if (!settings.exists) return;
  // The target says itself what it is; the set's definition is only compared.
  for (const name of ['idkit.yaml', 'compose.yaml']) {
    await noteDifference(job, name, staging);
    await rm(join(staging, name), { force: true });
  }
}

/** A set without a definition is embedded (contract §3, restore), and what is restored from it says so itself. */
async function defineEmbedded({ settings }: RestoreJob, staging: string): Promise<void> {
  const file = join(staging, 'idkit.yaml');
  if (settings.exists || (await findEntry(file)) !== undefined) return;
  await writeFile(file, embeddedDefinition(), { mode: 0o644, flag: 'wx' });
}

async function noteDifference(job: RestoreJob, name: string, staging: string): Promise<void> {
  const own = join(job.settings.dir, name);
  const staged = join(staging, name);
  if ((await findEntry(staged)) === undefined) return;
  if ((await findEntry(own)) === undefined) {
    job.options.reporter.note(`the set holds a ${name} and this platform has none; it is not put in place`);
  } else if (!(await readFile(own)).equals(await readFile(staged))) {
    job.options.reporter.note(`${name} differs from the set’s; the platform’s own stays`);
  }
}

async function stageEnvironment(plain: Uint8Array, staging: string): Promise<void> {
  const handle = await open(join(staging, '.env'), 'wx', 0o600);
  try {
    await handle.writeFile(plain);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Waits until every staged file and folder is on the disk. */
async function syncTree(dir: string): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) await syncDirectory(path);
  }
  await syncDirectory(dir);
}
