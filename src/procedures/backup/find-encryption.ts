import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { execa } from 'execa';
import {
  encryptToKeys,
  encryptToPassphrase,
  type KeyFile,
  readPublicKeys,
  type SetEncryption,
} from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { encryptsSets } from '../last-run.ts';
import { type BackupOptions, missingPassphrase } from './options.ts';

/** A fingerprint of version 4, as gpg prints it. */
const FINGERPRINT = /^[0-9A-Fa-f]{40}$/;
const LONGEST_EXPORT_BYTES = 1024 * 1024;

/**
 * Returns the encryption of whole sets that the settings `backup.encrypt` and `backup.encryptTo` require, or undefined
 * if only `env.gpg` is encrypted. Each set needs the passphrase too, which seals it: anyone can encrypt to a public key.
 *
 * @throws IDKIT_SETTING without a passphrase, or for a key that cannot be used
 */
export async function findEncryption(
  settings: Settings,
  { passphrase, random, clock, signal }: BackupOptions,
): Promise<SetEncryption | undefined> {
  const { encryptTo } = settings.backup;
  if (!encryptsSets(settings)) return undefined;
  if (passphrase === undefined)
    throw missingPassphrase('the passphrase that seals encrypted sets is missing');
  if (encryptTo.length === 0) return encryptToPassphrase(passphrase, random);
  const files = await Promise.all(encryptTo.map((key) => findKey(key, settings.dir, signal)));
  return encryptToKeys(await readPublicKeys(files, new Date(clock.now())), random);
}

/** Reads a file, or exports a key from the keyring of gpg if it is named by its fingerprint. */
async function findKey(key: string, dir: string, signal: AbortSignal): Promise<KeyFile> {
  if (FINGERPRINT.test(key)) return exportKey(key, signal);
  const name = resolve(dir, key);
  try {
    return { name, bytes: await readFile(name) };
  } catch (error) {
    throw new IdkitError(
      'IDKIT_SETTING',
      `backup.encryptTo names ${name}, which cannot be read (${systemErrorCode(error) ?? 'unknown error'})`,
      { cause: error, hints: [`gpg --armor --export FINGERPRINT > ${name} writes the public key`] },
    );
  }
}

async function exportKey(fingerprint: string, signal: AbortSignal): Promise<KeyFile> {
  const result = await execa('gpg', ['--batch', '--no-tty', '--export', `0x${fingerprint}`], {
    encoding: 'buffer',
    stdin: 'ignore',
    reject: false,
    cancelSignal: signal,
    maxBuffer: LONGEST_EXPORT_BYTES,
  });
  if (result.isCanceled) throw signal.reason;
  const name = `the key ${fingerprint.toUpperCase()}`;
  if (result.code === 'ENOENT')
    throw new IdkitError(
      'IDKIT_SETTING',
      `backup.encryptTo: ${name} is in a keyring, but gpg is not installed`,
      {
        hints: ['export the public key into a file, and name the file in backup.encryptTo'],
      },
    );
  if (result.failed || result.stdout.length === 0)
    throw new IdkitError('IDKIT_SETTING', `backup.encryptTo: gpg does not have ${name}`, {
      hints: [`gpg --list-keys ${fingerprint} shows the key of the user who runs the backup`],
    });
  return { name, bytes: result.stdout };
}
