import { listConfigArchive, SET_FILES, type SetHandle } from '../../backupset/index.ts';
import { platformPaths, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { findEntry } from '../durable.ts';

/** Containers need a definition, which the platform has or the set brings. @throws IDKIT_SETTING */
export async function checkDefinition(
  settings: Settings,
  set: SetHandle,
  signal: AbortSignal,
): Promise<void> {
  if (settings.runtime !== 'compose' || (await findEntry(platformPaths(settings.dir).compose)) !== undefined)
    return;
  const holds = set.names.includes(SET_FILES.config) ? await listConfigArchive(set, { signal }) : [];
  if (holds.some(({ path }) => path === 'compose.yaml')) return;
  throw new IdkitError(
    'IDKIT_SETTING',
    `idkit.yaml says runtime: compose, and neither ${settings.dir} nor ${set.name} has a compose.yaml`,
    { hints: ['idkit init --runtime compose writes one', 'another set may hold one: idkit backups list'] },
  );
}
