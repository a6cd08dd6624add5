import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { Engine } from './engine.ts';

/** Where the compose program found the definition that a container was made from. */
const WORKING_DIRECTORY = 'com.docker.compose.project.working_dir';

/** How the folder in a platform directory begins that a restore stages its definition in. */
const STAGING = '.restore-';

/**
 * The containers of the project are this platform's own. Another platform directory of this machine may have been given
 * the same project: what is done here would be done to its containers, and a restore would replace its database.
 *
 * @throws IDKIT_SETTING that names the other one
 */
export async function checkOwner(engine: Engine, { dir, compose: { project } }: Settings): Promise<void> {
  const filter = `label=com.docker.compose.project=${project}`;
  const listed = await engine.call(['ps', '-aq', '--filter', filter]);
  const ids = listed.stdout.split('\n').filter((line) => line !== '');
  // An engine that cannot tell is told of by whoever asks it next.
  if (listed.code !== 0 || ids.length === 0) return;
  const format = `{{index .Config.Labels "${WORKING_DIRECTORY}"}}`;
  const told = await engine.call(['container', 'inspect', '--format', format, ...ids]);
  const own = realPath(dir);
  for (const place of new Set(told.stdout.split('\n'))) {
    const other = findPlatform(place);
    if (other === undefined || other === own) continue;
    throw new IdkitError(
      'IDKIT_SETTING',
      `the compose project ${project} is that of the platform in ${other}, not of the one in ${own}`,
      {
        hints: [
          `give this one a project of its own in idkit.yaml, compose: { project: NAME }, and ports of its own in .env`,
          `or work on that one: --dir ${other}`,
        ],
      },
    );
  }
}

/** The platform whose definition lay there: in its directory, or staged in it by a restore; undefined where it is gone. */
function findPlatform(place: string): string | undefined {
  if (!place.startsWith(sep)) return undefined;
  // Cut off, a restore on an empty host leaves the platform's only definition in the staging folder.
  const dir = basename(place).startsWith(STAGING) ? dirname(place) : place;
  return [place, dir].some((one) => existsSync(join(one, 'idkit.yaml'))) ? realPath(dir) : undefined;
}

function realPath(dir: string): string {
  return existsSync(dir) ? realpathSync(dir) : resolve(dir);
}
