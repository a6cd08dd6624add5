import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { loadSettings, platformPaths, type Settings } from '../../config/index.ts';
import { findEntry } from '../durable.ts';
import { type Places, stagingDirectory } from './replace-files.ts';

/**
 * The settings that the target will have once the staged items are in place: what is staged counts, and what the
 * target keeps for the rest.
 *
 * @throws IDKIT_SETTING, IDKIT_ENV_READABLE where the staged files make no valid settings
 */
export async function loadSettingsAfter(
  places: Places,
  current: Settings,
  env: NodeJS.ProcessEnv,
): Promise<Settings> {
  const staging = stagingDirectory(places);
  const preview = join(staging, '.preview');
  await mkdir(preview, { mode: 0o700 });
  try {
    for (const name of ['.env', 'idkit.yaml']) {
      const staged = join(staging, name);
      const kept = join(places.dir, name);
      const source = (await findEntry(staged)) !== undefined ? staged : kept;
      if ((await findEntry(source)) !== undefined) await copyFile(source, join(preview, name));
    }
    const settings = await loadSettings({ dir: preview, env: withoutDirectory(env) });
    return keepFlags(movePaths(settings, preview, places.dir), current);
  } finally {
    await rm(preview, { recursive: true, force: true });
  }
}

function withoutDirectory(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { IDKIT_DIR: _, ...rest } = env;
  return rest;
}

/** Relative paths were resolved against the preview; they belong to the target. */
function movePaths(settings: Settings, from: string, to: string): Settings {
  const move = (path: string): string => {
    const inside = relative(from, path);
    return inside.startsWith('..') ? path : join(to, inside);
  };
  const moveOptional = (path: string | null) => (path === null ? null : move(path));
  const { listen, database, backup } = settings;
  return {
    ...settings,
    dir: to,
    listen: { ...listen, tlsCert: moveOptional(listen.tlsCert), tlsKey: moveOptional(listen.tlsKey) },
    database: database.kind === 'sqlite' ? { ...database, file: move(database.file) } : database,
    backup: { ...backup, root: move(backup.root) },
  };
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
