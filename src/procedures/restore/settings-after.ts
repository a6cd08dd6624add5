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
import { findEntry } from '../../files/index.ts';
import { type Places, previousPath, stagingDirectory } from './files-in-place.ts';

/** Maximum size of an idkit.yaml in bytes. */
const LONGEST_YAML = 1024 * 1024;

/** Files that the restore will put into the target. If one is undefined, the target keeps its own file. */
export interface NextFiles {
  env?: GivenContent;
  yaml?: GivenContent;
}

/**
 * Returns the settings of the target after `next` is in place. Writes nothing.
 *
 * @throws IDKIT_SETTING, IDKIT_ENV_READABLE for invalid settings
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
 * Returns the files that a restore of the set puts into the target. A target without a definition gets the
 * definition in the set or, if the set has none, the default for an embedded platform. `environment` is the decrypted environment file.
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

/** Returns the definition of a platform that is restored from a set without one. */
export function embeddedDefinition(): string {
  return renderDefaultYaml('embedded', 'idkit');
}

/** Returns the files that an interrupted restore staged but did not put into place. */
export async function stagedFiles(places: Places): Promise<NextFiles> {
  const env = await findStaged(places, '.env');
  const yaml = await findStaged(places, 'idkit.yaml');
  return { ...(env === undefined ? {} : { env }), ...(yaml === undefined ? {} : { yaml }) };
}

/**
 * Returns the passwords that the database's role may have during a restore. They come from the settings, the staged
 * environment and the previous environment.
 */
export async function databasePasswords(
  settings: Settings,
  places: Places,
  env: NodeJS.ProcessEnv,
): Promise<{ any: readonly Secret[]; before: Secret | undefined }> {
  const { env: staged } = await stagedFiles(places);
  const replaced = await findContent(previousPath(places, '.env'));
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
  return findEntry(file) === undefined ? undefined : { file, bytes: await readFile(file) };
}

/** Keeps the values of flags, because a flag of this command still overrides the restored files. */
function keepFlags(next: Settings, current: Settings): Settings {
  const { sources } = current;
  return {
    ...next,
    ...(sources['database'] === 'flag' ? { database: current.database } : {}),
    ...(sources['baseUrl'] === 'flag' ? { baseUrl: current.baseUrl } : {}),
  };
}

/** Returns the directory of a platform's journals and locks. */
export function dataDirectory(settings: Settings): string {
  return platformPaths(settings.dir).data;
}
