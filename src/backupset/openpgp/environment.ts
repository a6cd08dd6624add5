import { IdkitError, type Secret } from '../../core/index.ts';
import type { MessageOpened } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { damaged } from '../faults.ts';
import { parseSetName } from '../set/names.ts';
import { encryptMessage, inspectMessage, openMessage } from './message.ts';

const FILE = SET_FILES.environment;

/** Maximum size in bytes, because a message is decrypted as a whole. An environment file has a few kilobytes. */
export const LONGEST_MESSAGE = 64 * 1024 * 1024;

const MARK = '.sealed.env';

/**
 * Encrypts the environment file so that `gpg --decrypt` can read it.
 *
 * @param sealedSet the set's name if it is sealed. The message contains the name. So only someone with the passphrase
 *   can make a sealed set look like a set of an older idkit, which wrote no seals
 */
export async function encryptEnvironment(
  bytes: Uint8Array,
  passphrase: Secret,
  sealedSet?: string,
): Promise<Uint8Array> {
  return encryptMessage(bytes, passphrase, sealedSet === undefined ? '' : environmentFilename(sealedSet));
}

/** Returns the name inside the message of a sealed set’s environment. */
export function environmentFilename(sealedSet: string): string {
  return `${sealedSet}${MARK}`;
}

/**
 * Decrypts a message of `encryptEnvironment` or `gpg --symmetric`. If a message has several passphrases, each of them
 * works.
 */
export async function decryptEnvironment(message: Uint8Array, passphrase: Secret): Promise<MessageOpened> {
  return openMessage(message, passphrase, FILE, LONGEST_MESSAGE);
}

/** Checks the parts of a message that are readable without its passphrase. */
export function inspectEnvironment(message: Uint8Array): ReturnType<typeof inspectMessage> {
  return inspectMessage(message, FILE);
}

/**
 * Returns the name of the sealed set that the environment was encrypted for, or undefined if the set was not sealed.
 */
export function sealedSetOf({ filename }: { filename: string }): string | undefined {
  const name = filename.endsWith(MARK) ? filename.slice(0, -MARK.length) : '';
  return parseSetName(name) === undefined ? undefined : name;
}

/** Returns the error that the operator sees if a message cannot be decrypted. */
export function messageFault(
  file: string,
  opened: Exclude<MessageOpened, { outcome: 'opened' }>,
): IdkitError {
  switch (opened.outcome) {
    case 'wrong passphrase':
      return new IdkitError('IDKIT_CREDENTIALS', `${file}: this passphrase does not decrypt it`, {
        hints: ['provide the passphrase with which the set was created'],
      });
    case 'damaged':
      return damaged(file, opened.why);
    case 'unsupported cipher':
      return new IdkitError('IDKIT_VERSION', `${file}: idkit cannot decrypt ${opened.cipher}`, {
        hints: [`decrypt it with GnuPG: ${opened.command}`],
      });
  }
}
