import { generateMasterKey, platformPaths, type Settings, writeEnvironmentValue } from '../config/index.ts';
import { IdkitError, renderCount, type Secret } from '../core/index.ts';
import { openPlatform, serviceRuns } from '../platform/open.ts';
import { beginRun, type ProcedureOptions, type ProcedureResult, type StepDescription } from './run.ts';

/** The steps of a master key rotation, in order. A second run completes an interrupted rotation. */
export const ROTATE_STEPS = [
  {
    id: 'check',
    title: 'Check that the key comes from .env and the service is stopped',
    why: 'idkit can change the key only in .env, and a running service encrypts with the old key',
  },
  {
    id: 'write',
    title: 'Write the new key into .env and keep the old one there',
    why: 'with both keys, an interrupted rotation loses no secret',
  },
  {
    id: 'seal',
    title: 'Encrypt every secret with the new key',
    why: 'only then is the old key useless to a thief',
  },
  {
    id: 'remove',
    title: 'Remove the old key from .env',
    why: 'a key that is still stored can leak',
  },
] as const satisfies readonly StepDescription[];

export interface RotateMasterKeyResult extends ProcedureResult {
  /** Number of secrets that were encrypted with the new key. */
  records: number;
  /** True if this run completed an interrupted one. */
  resumed: boolean;
}

/**
 * Replaces the master key.
 *
 * @throws IDKIT_USAGE for Keycloak; IDKIT_SERVICE_RUNNING, IDKIT_MASTER_KEY_WRONG; IDKIT_SETTING if the key does not
 *   come from `.env`
 */
export async function rotateMasterKey(
  settings: Settings,
  options: ProcedureOptions,
): Promise<RotateMasterKeyResult> {
  const run = beginRun(ROTATE_STEPS, options);
  const { env } = platformPaths(settings.dir);
  const platform = await openPlatform(settings);
  const current = await run.step('check', async () => {
    if (settings.service === 'keycloak')
      throw new IdkitError('IDKIT_USAGE', 'the service is Keycloak, which does not use a master key');
    const address = await platform.service.baseUrl();
    if (address !== undefined) throw serviceRuns(address);
    const key = checkKey(settings);
    // A service on another machine would still have only the old key.
    await platform.database.checkUnused();
    return key;
  });
  const unfinished = findUnfinished(settings);
  const keys = await run.step('write', async () => {
    if (unfinished !== undefined) return { from: unfinished, to: current };
    const to = generateMasterKey(options.random);
    // The old key is written first. Between the two writes both variables contain the same key.
    writeEnvironmentValue(env, 'IDKIT_MASTER_KEY_OLD', current);
    writeEnvironmentValue(env, 'IDKIT_MASTER_KEY', to);
    return { from: current, to };
  });
  const { records } = await run.step(
    'seal',
    () => platform.database.changeMasterKey(keys.from, keys.to),
    (sealed) => renderCount(sealed.records, 'secret'),
  );
  await run.step('remove', async () => writeEnvironmentValue(env, 'IDKIT_MASTER_KEY_OLD', null));
  options.reporter.note('older sets can only be restored with the .env that they contain; make a new backup');
  return { records, resumed: unfinished !== undefined, findings: run.findings };
}

/** Returns the old key of an interrupted rotation. A run that ended between its two writes has changed nothing yet. */
function findUnfinished(settings: Settings): Secret | undefined {
  const { masterKey, masterKeyOld } = settings;
  return masterKeyOld?.reveal() === masterKey?.reveal() ? undefined : masterKeyOld;
}

function checkKey(settings: Settings): Secret {
  if (settings.masterKey === undefined) {
    throw new IdkitError('IDKIT_MASTER_KEY_MISSING', 'IDKIT_MASTER_KEY is not set', {
      hints: ['there is no key to replace; idkit serve creates one for a new platform directory'],
    });
  }
  for (const name of ['IDKIT_MASTER_KEY', 'IDKIT_MASTER_KEY_OLD']) {
    const source = settings.sources[name];
    if (source !== undefined && source !== '.env' && source !== 'default') {
      const [place, old] =
        source === 'file'
          ? [`the file that ${name}_FILE names`, `${name}_FILE`]
          : [`the ${source}`, `it in the ${source}`];
      throw new IdkitError(
        'IDKIT_SETTING',
        `${name} comes from ${place}, but idkit can change it only in .env`,
        { hints: [`move it to .env in the platform directory and unset ${old}`] },
      );
    }
  }
  return settings.masterKey;
}
