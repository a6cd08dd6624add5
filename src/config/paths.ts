import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { IdkitError } from '../core/index.ts';
import type { PlatformPaths } from './settings/settings.ts';

/**
 * The platform directory (contract §1): `--dir`, else `IDKIT_DIR`, else the current directory if it holds
 * `idkit.yaml`, else `./idkit`. Absolute; it need not exist.
 *
 * @throws IDKIT_DIRECTORY_MISSING where the path is something else than a directory
 */
export function resolvePlatformDirectory(options: {
  flag?: string | undefined;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}): string {
  const cwd = options.cwd ?? process.cwd();
  const env = options.env ?? process.env;
  const dir = chooseDirectory(options.flag, env['IDKIT_DIR'], cwd);
  const found = statSync(dir, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory()) {
    throw new IdkitError('IDKIT_DIRECTORY_MISSING', `the platform directory ${dir} is not a directory`);
  }
  return dir;
}

function chooseDirectory(flag: string | undefined, variable: string | undefined, cwd: string): string {
  if (flag !== undefined) {
    if (flag === '' || flag.includes('\0')) {
      throw new IdkitError('IDKIT_USAGE', '--dir must name a directory, and it is empty or holds a NUL byte');
    }
    return resolve(cwd, flag);
  }
  if (variable !== undefined && variable !== '') return resolve(cwd, variable);
  if (existsSync(join(cwd, 'idkit.yaml'))) return cwd;
  return join(cwd, 'idkit');
}

/** The paths of contract §1 inside a platform directory. */
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
