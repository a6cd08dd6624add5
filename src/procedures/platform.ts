import { isAbsolute, resolve } from 'node:path';
import { platformPaths, type Settings } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import { findEntry } from '../files/index.ts';

/** @throws IDKIT_DIRECTORY_MISSING where there is no platform directory (contract §3, "Platform directory") */
export async function checkPlatform(settings: Settings): Promise<void> {
  if (findEntry(settings.dir) !== undefined) return;
  throw new IdkitError('IDKIT_DIRECTORY_MISSING', `there is no platform directory ${settings.dir}`, {
    hints: ['name it with --dir or IDKIT_DIR', 'idkit init makes one, and so does idkit serve'],
  });
}

/**
 * A platform in containers has its definition.
 *
 * @throws IDKIT_SETTING where it is absent
 */
export async function checkDefined({ dir, runtime }: Settings): Promise<void> {
  const { compose } = platformPaths(dir);
  if (runtime !== 'compose' || findEntry(compose) !== undefined) return;
  throw new IdkitError('IDKIT_SETTING', `${compose} is missing, and runtime: compose needs it`, {
    hints: [
      'bring it back from a backup set: tar -xzf SET/config.tar.gz compose.yaml',
      'idkit init --runtime compose writes a new one',
    ],
  });
}

/** The backup root that a flag names, else the platform's own. Absolute. */
export function backupRoot(settings: Settings, flag: string | undefined): string {
  return flag === undefined ? settings.backup.root : resolve(flag);
}

/** `[user@]host:path` for rsync, or an absolute directory. Undefined: no mirror. */
export function mirrorTarget(settings: Settings, flag: string | undefined): string | undefined {
  const target = flag ?? settings.backup.mirror ?? undefined;
  if (target === undefined || isRemote(target) || isAbsolute(target)) return target;
  const fromFlag = flag !== undefined || settings.sources['backup.mirror'] === 'flag';
  return fromFlag ? resolve(target) : resolve(settings.dir, target);
}

/** As rsync tells them apart: a colon before the first slash. */
export function isRemote(target: string): boolean {
  return /^[^/]*:/.test(target);
}
