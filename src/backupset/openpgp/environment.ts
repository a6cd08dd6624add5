import { IdkitError, type Secret } from '../../core/index.ts';
import type { MessageOpened } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { damaged } from '../faults.ts';
import { parseSetName } from '../set/names.ts';
import { encryptMessage, inspectMessage, openMessage } from './message.ts';

const FILE = SET_FILES.environment;

/** An environment file is a few kilobytes; a message is opened as a whole. */
export const LONGEST_MESSAGE = 64 * 1024 * 1024;

const MARK = '.sealed.env';

/**
 * Encrypts the environment file so that `gpg --decrypt` opens it.
 *
 * @param sealedSet the name of the set, if it is sealed. The message says so inside: without the passphrase nobody
 *   makes a set that was sealed look like one of an older idkit, which never was
 */
export async function encryptEnvironment(
  bytes: Uint8Array,
  passphrase: Secret,
  sealedSet?: string,
): Promise<Uint8Array> {
  return encryptMessage(bytes, passphrase, sealedSet === undefined ? '' : `${sealedSet}${MARK}`);
}

/** Opens what `encryptEnvironment` or `gpg --symmetric` made; any passphrase of a message with several opens it. */
export async function decryptEnvironment(message: Uint8Array, passphrase: Secret): Promise<MessageOpened> {
  return openMessage(message, passphrase, FILE, LONGEST_MESSAGE);
}

/** What a message shows without its passphrase. */
export function inspectEnvironment(message: Uint8Array): ReturnType<typeof inspectMessage> {
  return inspectMessage(message, FILE);
}

/** The sealed set that an opened environment was encrypted for; undefined if it names none. */
export function sealedSetOf({ filename }: { filename: string }): string | undefined {
  const name = filename.endsWith(MARK) ? filename.slice(0, -MARK.length) : '';
  return parseSetName(name) === undefined ? undefined : name;
}

/** What a message of a set that did not open means to the operator. */
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
        hints: [`open it by hand: ${opened.command}`],
      });
  }
}
