import { IdkitError, type Secret } from '../../core/index.ts';
import type { MessageOpened } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { damaged } from '../faults.ts';
import { parseSetName } from '../set/names.ts';
import { encryptMessage, inspectMessage, openMessage } from './message.ts';

const FILE = SET_FILES.environment;

/** Limit in bytes, because a message is decrypted as a whole. An environment file has a few kilobytes. */
export const LONGEST_MESSAGE = 64 * 1024 * 1024;

const MARK = '.sealed.env';

/**
 * Encrypts the environment file so that `gpg --decrypt` opens it.
 *
 * @param sealedSet the name of the set, if it is sealed. The message contains the name. So without the passphrase,
 *   nobody can make a sealed set look like a set of an older idkit, which had no seals
 */
export async function encryptEnvironment(
  bytes: Uint8Array,
  passphrase: Secret,
  sealedSet?: string,
): Promise<Uint8Array> {
  return encryptMessage(bytes, passphrase, sealedSet === undefined ? '' : `${sealedSet}${MARK}`);
}

/** Opens a message of `encryptEnvironment` or `gpg --symmetric`. If a message has several passphrases, any of them opens it. */
export async function decryptEnvironment(message: Uint8Array, passphrase: Secret): Promise<MessageOpened> {
  return openMessage(message, passphrase, FILE, LONGEST_MESSAGE);
}

/** Checks what a message shows without its passphrase. */
export function inspectEnvironment(message: Uint8Array): ReturnType<typeof inspectMessage> {
  return inspectMessage(message, FILE);
}

/** Returns the sealed set that an opened environment was encrypted for, or undefined if it names no set. */
export function sealedSetOf({ filename }: { filename: string }): string | undefined {
  const name = filename.endsWith(MARK) ? filename.slice(0, -MARK.length) : '';
  return parseSetName(name) === undefined ? undefined : name;
}

/** Returns the operator's error for a message of a set that does not open. */
export function messageFault(
  file: string,
  opened: Exclude<MessageOpened, { outcome: 'opened' }>,
): IdkitError {
  switch (opened.outcome) {
    case 'wrong passphrase':
      return new IdkitError('IDKIT_CREDENTIALS', `${file}: it does not open with this passphrase`, {
        hints: ['give the passphrase that the set was made with'],
      });
    case 'damaged':
      return damaged(file, opened.why);
    case 'unsupported cipher':
      return new IdkitError('IDKIT_VERSION', `${file}: idkit cannot open ${opened.cipher}`, {
        hints: [`open it with GnuPG: ${opened.command}`],
      });
  }
}
