import { readFile } from 'node:fs/promises';
import { encryptEnvironment, SET_FILES } from '../../backupset/index.ts';
import { findPostgresPassword, parsePostgresUrl, platformPaths, type Settings } from '../../config/index.ts';
import { IdkitError, type Secret, systemErrorCode } from '../../core/index.ts';
import type { Platform } from '../../platform/index.ts';
import type { BackupWork } from './work.ts';

/** Encrypts `.env`. Its plain text is never written to the backup root. */
export async function encryptEnv(work: BackupWork, passphrase: Secret): Promise<'encrypted' | 'absent'> {
  const { env } = platformPaths(work.settings.dir);
  const plain = await findFile(env);
  if (plain === undefined) {
    work.run.finding(
      'ENV_MISSING',
      `${env} does not exist, so the set has no env.gpg and can only be restored with --keep-env`,
    );
    return 'absent';
  }
  const { writer } = work;
  const content =
    writer.encryption === undefined ? await encryptEnvironment(plain, passphrase, writer.name) : plain;
  await writer.putFile(SET_FILES.environment, content);
  return 'encrypted';
}

/**
 * Describes each required setting that `.env` does not contain, for example `IDKIT_MASTER_KEY comes from the
 * environment`.
 */
export function listSettingsFromElsewhere(settings: Settings): readonly string[] {
  const needed = ['IDKIT_ADMIN_USERNAME', 'IDKIT_ADMIN_PASSWORD'];
  if (settings.service === 'idkit') needed.unshift('IDKIT_MASTER_KEY');
  if (settings.database.kind === 'postgres') needed.push('IDKIT_DATABASE_PASSWORD');
  const elsewhere = needed.flatMap((name) => {
    const source = settings.sources[name];
    if (source === undefined || source === '.env' || source === 'default') return [];
    const place = source === 'file' ? `the file that ${name}_FILE names` : `the ${source}`;
    return [`${name} comes from ${place}`];
  });
  return usesPasswordFile(settings)
    ? [...elsewhere, 'the database’s password comes from libpq’s password file']
    : elsewhere;
}

/** True if the password comes from libpq's password file and not from a setting. Containers do not use that file. */
function usesPasswordFile({ database, databasePassword, runtime }: Settings): boolean {
  if (database.kind !== 'postgres' || databasePassword !== undefined || runtime === 'compose') return false;
  const address = parsePostgresUrl(database.url);
  if (address.password !== undefined) return false;
  return address.hosts.some((host) => findPostgresPassword(address, host) !== undefined);
}

/** Returns the fault if the current master key does not decrypt the database. Throws any other error. */
export async function findMasterKeyFault(platform: Platform): Promise<string | undefined> {
  try {
    await platform.database.checkMasterKey();
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
