import { readFile } from 'node:fs/promises';
import { encryptEnvironment, SET_FILES } from '../../backupset/index.ts';
import { platformPaths, type Settings } from '../../config/index.ts';
import { IdkitError, type Secret, systemErrorCode } from '../../core/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import type { BackupWork } from './work.ts';

/** Encrypts `.env`; its plain text never touches the backup root. Says whether there was one. */
export async function encryptEnv(work: BackupWork, passphrase: Secret): Promise<'encrypted' | 'absent'> {
  const { env } = platformPaths(work.settings.dir);
  const plain = await findFile(env);
  if (plain === undefined) {
    work.run.finding(
      'ENV_MISSING',
      `there is no ${env}, so the set has no env.gpg and restores only with --keep-env`,
    );
    return 'absent';
  }
  await work.writer.putFile(SET_FILES.environment, await encryptEnvironment(plain, passphrase));
  return 'encrypted';
}

/** The settings that a restored platform needs and that `.env` does not give. */
export function listSettingsFromElsewhere(settings: Settings): readonly string[] {
  const needed = ['IDKIT_ADMIN_USERNAME', 'IDKIT_ADMIN_PASSWORD'];
  if (settings.service === 'idkit') needed.unshift('IDKIT_MASTER_KEY');
  if (settings.database.kind === 'postgres') needed.push('IDKIT_DATABASE_PASSWORD');
  return needed.filter((name) => {
    const source = settings.sources[name];
    return source !== undefined && source !== '.env' && source !== 'default';
  });
}

/**
 * The master key in force opens the store; without it the set's secrets stay shut after a restore.
 *
 * @returns the fault, undefined where it fits
 */
export async function findMasterKeyFault(runtime: Runtime): Promise<string | undefined> {
  try {
    await runtime.checkMasterKey();
    return undefined;
  } catch (error) {
    if (isMasterKeyFault(error)) return error.message;
    throw error;
  }
}

const KEY_FAULTS = ['IDKIT_MASTER_KEY_WRONG', 'IDKIT_MASTER_KEY_MISSING', 'IDKIT_MASTER_KEY_INVALID'];

function isMasterKeyFault(error: unknown): error is IdkitError {
  return error instanceof IdkitError && KEY_FAULTS.includes(error.code);
}

async function findFile(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
