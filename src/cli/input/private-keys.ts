import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { PrivateKeys } from '../../backupset/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import type { CommandContext, Flags } from '../command.ts';
import { textFlag } from '../flags.ts';

/** The flag of the commands that read encrypted sets, and its description. */
export const KEY_FLAG = [
  '--key <file>',
  'the OpenPGP private key that decrypts sets, if backup.encryptTo encrypts them',
] as const;

/**
 * Reads the private keys that `--key` names. The file is what `gpg --export-secret-keys` writes. Its passphrase comes
 * from `IDKIT_BACKUP_KEY_PASSPHRASE`, `…_FILE` or `…_COMMAND`.
 *
 * @returns undefined without the flag
 * @throws IDKIT_SETTING for a file that is missing or has no private keys, IDKIT_CREDENTIALS for a wrong passphrase
 */
export async function findPrivateKeys(
  context: CommandContext,
  flags: Flags,
): Promise<PrivateKeys | undefined> {
  const file = textFlag(flags, 'key');
  if (file === undefined) return undefined;
  const path = resolve(context.cwd, file);
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const why = systemErrorCode(error) ?? 'unknown error';
    throw new IdkitError('IDKIT_SETTING', `--key names ${path}, which cannot be read (${why})`, {
      cause: error,
    });
  }
  const { findKeyPassphrase } = await import('../../config/index.ts');
  const { readPrivateKeyFile } = await import('../../backupset/index.ts');
  const passphrase = await findKeyPassphrase({ env: context.env, signal: context.signal });
  return readPrivateKeyFile({ name: path, bytes }, passphrase);
}
