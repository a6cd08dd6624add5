import { resolve } from 'node:path';
import { platformPaths, type Settings } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import { findEntry } from '../files/index.ts';
import { absoluteLocation, parseLocation } from '../target/index.ts';

/** @throws IDKIT_DIRECTORY_MISSING */
export async function checkPlatform(settings: Settings): Promise<void> {
  if (findEntry(settings.dir) !== undefined) return;
  throw new IdkitError('IDKIT_DIRECTORY_MISSING', `the platform directory ${settings.dir} does not exist`, {
    hints: ['set --dir or IDKIT_DIR', 'idkit init and idkit serve create a platform directory'],
  });
}

/** Checks that a platform in containers has a compose.yaml. @throws IDKIT_SETTING */
export async function checkDefined({ dir, runtime }: Settings): Promise<void> {
  const { compose } = platformPaths(dir);
  if (runtime !== 'compose' || findEntry(compose) !== undefined) return;
  throw new IdkitError('IDKIT_SETTING', `${compose} is missing, but runtime: compose requires it`, {
    hints: [
      'extract it from a backup set: tar -xzf SET/config.tar.gz compose.yaml',
      'idkit init --runtime compose writes a new one',
    ],
  });
}

/** Returns the absolute path of the backup root. A flag takes precedence over the setting. */
export function backupRoot(settings: Settings, flag: string | undefined): string {
  return flag === undefined ? settings.backup.root : resolve(flag);
}

/**
 * Returns the location of the mirror, or undefined if no mirror is configured. A flag takes precedence over the setting.
 *
 * @throws IDKIT_SETTING
 */
export function mirrorTarget(settings: Settings, flag: string | undefined): string | undefined {
  const target =
    flag === undefined ? (settings.backup.mirror ?? undefined) : absoluteLocation(flag, process.cwd());
  if (target !== undefined) parseLocation(target);
  return target;
}
