import { generateMasterKey, platformPaths, type Settings, writeEnvironmentValue } from '../config/index.ts';
import { IdkitError, type Secret } from '../core/index.ts';
import { openPlatform, serviceRuns } from '../platform/open.ts';
import { beginRun, type ProcedureOptions, type ProcedureResult, type StepDescription } from './run.ts';

/** The change of the master key in order. Killed at any point, a second run finishes it. */
export const ROTATE_STEPS = [
  {
    id: 'check',
    title: 'Check that the key comes from .env and the service is stopped',
    why: 'a key from elsewhere cannot be replaced here, and a running service seals with the old one',
  },
  {
    id: 'write',
    title: 'Write the new key beside the old one into .env',
    why: 'from here on both are known, so that no record can be lost half way',
  },
  {
    id: 'seal',
    title: 'Seal every secret anew',
    why: 'only then is the old key worth nothing',
  },
  {
    id: 'remove',
    title: 'Remove the old key from .env',
    why: 'a key that is kept after its end can still leak',
  },
] as const satisfies readonly StepDescription[];

export interface RotateMasterKeyResult extends ProcedureResult {
  /** Secrets sealed anew. */
  records: number;
  /** True where this run finished what an earlier one had begun. */
  resumed: boolean;
}

/**
 * @throws IDKIT_USAGE for Keycloak; IDKIT_SERVICE_RUNNING, IDKIT_MASTER_KEY_WRONG, IDKIT_SETTING where the key does not
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
      throw new IdkitError('IDKIT_USAGE', 'the service is Keycloak, which seals nothing with a master key');
    const address = await platform.service.baseUrl();
    if (address !== undefined) throw serviceRuns(address);
    const key = checkKey(settings);
    // One of another machine would be left with the old key alone.
    await platform.database.checkUnused();
    return key;
  });
  const unfinished = isUnfinished(settings);
  const keys = await run.step('write', async () => {
    if (unfinished !== undefined) return { from: unfinished, to: current };
    const to = generateMasterKey(options.random);
    // The old key first: between the two writes both name the same key, and after them both keys are known.
    writeEnvironmentValue(env, 'IDKIT_MASTER_KEY_OLD', current);
    writeEnvironmentValue(env, 'IDKIT_MASTER_KEY', to);
    return { from: current, to };
  });
  const { records } = await run.step(
    'seal',
    () => platform.database.changeMasterKey(keys.from, keys.to),
    (sealed) => `${sealed.records} secrets`,
  );
  await run.step('remove', async () => writeEnvironmentValue(env, 'IDKIT_MASTER_KEY_OLD', null));
  options.reporter.note('sets made before now need the .env that is inside them; make a new backup');
  return { records, resumed: unfinished !== undefined, findings: run.findings };
}

/** The old key where a change has begun; a run that ended between its two writes has begun nothing yet. */
function isUnfinished(settings: Settings): Secret | undefined {
  const { masterKey, masterKeyOld } = settings;
  return masterKeyOld?.reveal() === masterKey?.reveal() ? undefined : masterKeyOld;
}

function checkKey(settings: Settings): Secret {
  if (settings.masterKey === undefined) {
    throw new IdkitError('IDKIT_MASTER_KEY_MISSING', 'IDKIT_MASTER_KEY is not set', {
      hints: ['there is no key to replace; idkit serve makes one for a new platform directory'],
    });
  }
  for (const name of ['IDKIT_MASTER_KEY', 'IDKIT_MASTER_KEY_OLD']) {
    const source = settings.sources[name];
    if (source !== undefined && source !== '.env' && source !== 'default') {
      throw new IdkitError(
        'IDKIT_SETTING',
        `${name} comes from the ${source}, and only .env can be rewritten`,
        {
          hints: [`move it to .env of the platform directory and unset it in the ${source}`],
        },
      );
    }
  }
  return settings.masterKey;
}
