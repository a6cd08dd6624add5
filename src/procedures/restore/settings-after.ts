import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfigFile, SET_FILES, type SetHandle } from '../../backupset/index.ts';
import {
  type GivenContent,
  loadSettings,
  platformPaths,
  renderDefaultYaml,
  type Settings,
} from '../../config/index.ts';
import type { Secret } from '../../core/index.ts';
import { findEntry } from '../durable.ts';
import { keptAside, type Places, stagingDirectory } from './replace-files.ts';

/** As long as idkit reads one. */
const LONGEST_YAML = 1024 * 1024;

/** What will lie in the target and is not in its place yet; what is absent stays as it is there. */
export interface NextFiles {
  env?: GivenContent;
  yaml?: GivenContent;
}

/**
 * The settings that the target will have once `next` is in place. Nothing is written.
 *
 * @throws IDKIT_SETTING, IDKIT_ENV_READABLE where they are no valid settings
 */
export async function loadSettingsAfter(
  current: Settings,
  next: NextFiles,
  env: NodeJS.ProcessEnv,
): Promise<Settings> {
  const { dir } = current;
  return keepFlags(await loadSettings({ dir, env, contents: next }), current);
}

/**
 * What a restore of the set will put in place: its environment, as `environment` holds it in the clear, and for a
 * target without a definition of its own the set's, else an embedded one (contract §3, restore).
 */
export async function nextFilesOfSet(
  set: SetHandle,
  target: Settings,
  environment: Uint8Array | undefined,
  signal: AbortSignal,
): Promise<NextFiles> {
  return {
    ...(environment === undefined ? {} : { env: { file: SET_FILES.environment, bytes: environment } }),
    ...(target.exists
      ? {}
      : { yaml: { file: `idkit.yaml of ${set.name}`, bytes: await definition(set, signal) } }),
  };
}

async function definition(set: SetHandle, signal: AbortSignal): Promise<Uint8Array> {
  const own = set.names.includes(SET_FILES.config)
    ? await readConfigFile(set, 'idkit.yaml', LONGEST_YAML, { signal })
    : undefined;
  return own ?? Buffer.from(embeddedDefinition());
}

/** The definition of a platform restored from a set that has none. */
export function embeddedDefinition(): string {
  return renderDefaultYaml('embedded', 'idkit');
}

/** What an earlier run staged and did not put in place. */
export async function stagedFiles(places: Places): Promise<NextFiles> {
  const env = await findStaged(places, '.env');
  const yaml = await findStaged(places, 'idkit.yaml');
  return { ...(env === undefined ? {} : { env }), ...(yaml === undefined ? {} : { yaml }) };
}

/**
 * Passwords of the database's role that may be in force around a restore: the one of the settings, of the staged
 * environment, and of the one that was taken away.
 */
export async function databasePasswords(
  settings: Settings,
  places: Places,
  env: NodeJS.ProcessEnv,
): Promise<{ any: readonly Secret[]; before: Secret | undefined }> {
  const { env: staged } = await stagedFiles(places);
  const replaced = await findContent(keptAside(places, '.env'));
  const of = async (content: GivenContent | undefined) =>
    content === undefined
      ? undefined
      : (await loadSettingsAfter(settings, { env: content }, env)).databasePassword;
  const before = replaced === undefined ? settings.databasePassword : await of(replaced);
  const any = [settings.databasePassword, await of(staged), before].filter((one) => one !== undefined);
  return { any, before };
}

function findStaged(places: Places, name: string): Promise<GivenContent | undefined> {
  return findContent(join(stagingDirectory(places), name));
}

async function findContent(file: string): Promise<GivenContent | undefined> {
  return (await findEntry(file)) === undefined ? undefined : { file, bytes: await readFile(file) };
}

/** A flag of this call still wins over what the files say. */
function keepFlags(next: Settings, current: Settings): Settings {
  const { sources } = current;
  return {
    ...next,
    ...(sources['database'] === 'flag' ? { database: current.database } : {}),
    ...(sources['baseUrl'] === 'flag' ? { baseUrl: current.baseUrl } : {}),
  };
}

/** Where the journal and the locks of a platform lie. */
export function dataDirectory(settings: Settings): string {
  return platformPaths(settings.dir).data;
}
