import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { Engine } from './engine.ts';

/** The label of a container that names the directory of its compose file. */
const WORKING_DIRECTORY = 'com.docker.compose.project.working_dir';

/** The prefix of the directories in which a restore stages a compose file. */
const STAGING = '.restore-';

/**
 * Checks that the containers of the project belong to this platform. If another platform on this machine uses the same
 * project name, idkit would otherwise change that platform's containers, and a restore would replace its database.
 *
 * @throws IDKIT_SETTING that names the other directory
 */
export async function checkOwner(engine: Engine, { dir, compose: { project } }: Settings): Promise<void> {
  const filter = `label=com.docker.compose.project=${project}`;
  const listed = await engine.call(['ps', '-aq', '--filter', filter]);
  const ids = listed.stdout.split('\n').filter((line) => line !== '');
  // If the engine does not respond, the next call reports it.
  if (listed.code !== 0 || ids.length === 0) return;
  const format = `{{index .Config.Labels "${WORKING_DIRECTORY}"}}`;
  const inspected = await engine.call(['container', 'inspect', '--format', format, ...ids]);
  const own = realPath(dir);
  for (const place of new Set(inspected.stdout.split('\n'))) {
    const other = findPlatform(place);
    if (other === undefined || other === own) continue;
    throw new IdkitError(
      'IDKIT_SETTING',
      `the compose project ${project} belongs to the platform in ${other}, not to the one in ${own}`,
      {
        hints: [
          `set another project for this platform in idkit.yaml, compose: { project: NAME }, and other ports in .env`,
          `or work on that platform: --dir ${other}`,
        ],
      },
    );
  }
}

/**
 * Returns the platform directory of a compose file, which may be staged by a restore. Returns undefined if the platform
 * was deleted.
 */
function findPlatform(place: string): string | undefined {
  if (!place.startsWith(sep)) return undefined;
  // If a restore on an empty host was interrupted, the platform's only definition is in the staging directory.
  const dir = basename(place).startsWith(STAGING) ? dirname(place) : place;
  return [place, dir].some((one) => existsSync(join(one, 'idkit.yaml'))) ? realPath(dir) : undefined;
}

function realPath(dir: string): string {
  return existsSync(dir) ? realpathSync(dir) : resolve(dir);
}
