import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { platformPaths, replaceFile, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { type Engine, findEngine } from './engine.ts';

/**
 * The engine of this platform: the one that idkit.yaml names, else the one that its containers were started with last,
 * else whichever answers. Where the other one happens to answer alone, it knows nothing of the data.
 *
 * @throws as `findEngine`; says which engine was looked for and how another is taken
 */
export async function findOwnEngine(settings: Settings): Promise<Engine> {
  const { engine: named } = settings.compose;
  const started = named === null ? await readStarted(settings) : undefined;
  if (started === undefined) return findEngine(named);
  try {
    return await findEngine(started);
  } catch (cause) {
    if (!(cause instanceof IdkitError)) throw cause;
    const hint = `this platform was started with ${started}; compose: { engine: NAME } in idkit.yaml takes another`;
    throw new IdkitError(cause.code, cause.message, { hints: [...cause.hints, hint], cause });
  }
}

/** Keeps which engine the containers of a platform were started with. */
export async function putStarted(settings: Settings, { kind }: Pick<Engine, 'kind'>): Promise<void> {
  if ((await readStarted(settings)) === kind) return;
  const file = recordFile(settings);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  replaceFile(file, `${kind}\n`, 0o600);
}

function recordFile({ dir }: Settings): string {
  return join(platformPaths(dir).data, 'container-engine');
}

async function readStarted(settings: Settings): Promise<Engine['kind'] | undefined> {
  try {
    const kind = (await readFile(recordFile(settings), 'utf8')).trim();
    return kind === 'docker' || kind === 'podman' ? kind : undefined;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
