import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { IdkitError } from '../core/index.ts';
import type { PlatformPaths } from './settings/settings.ts';

/**
 * Returns the absolute path of the platform directory: `--dir`, else `IDKIT_DIR`, else the current directory if it
 * contains an `idkit.yaml`, else `./idkit`. The directory need not exist.
 *
 * @throws IDKIT_DIRECTORY_MISSING if the path exists but is not a directory
 */
export function resolvePlatformDirectory(options: {
  flag?: string | undefined;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}): string {
  const cwd = options.cwd ?? process.cwd();
  const env = options.env ?? process.env;
  const dir = chooseDirectory(options.flag, env['IDKIT_DIR'], cwd);
  const stats = statSync(dir, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isDirectory()) {
    throw new IdkitError('IDKIT_DIRECTORY_MISSING', `the platform directory ${dir} is not a directory`);
  }
  return dir;
}

function chooseDirectory(flag: string | undefined, variable: string | undefined, cwd: string): string {
  if (flag !== undefined) {
    if (flag === '' || flag.includes('\0')) {
      throw new IdkitError(
        'IDKIT_USAGE',
        '--dir must name a directory, but it is empty or contains a NUL byte',
      );
    }
    return resolve(cwd, flag);
  }
  if (variable !== undefined && variable !== '') return resolve(cwd, variable);
  if (existsSync(join(cwd, 'idkit.yaml'))) return cwd;
  return join(cwd, 'idkit');
}

/** Returns the paths inside a platform directory. */
export function platformPaths(dir: string): PlatformPaths {
  return {
    dir,
    yaml: join(dir, 'idkit.yaml'),
    env: join(dir, '.env'),
    config: join(dir, 'config'),
    import: join(dir, 'import'),
    data: join(dir, 'data'),
    compose: join(dir, 'compose.yaml'),
  };
}
