import { z } from 'zod';
import type { Secret } from '../../core/index.ts';
import type { RealmContents } from '../contract.ts';
import { encryptMessage, openMessage } from '../openpgp/message.ts';

const FILE = 'contents.json';
/** Maximum size in bytes of the message, which has about 100 bytes per realm. */
const LONGEST = 16 * 1024 * 1024;

const count = z.number().int().nonnegative();

export const contentsSchema = z.array(
  z.object({ realm: z.string(), users: count, keys: count.exactOptional() }),
);

/** Encrypts what a set contains with the passphrase. Returns base64. */
export async function encryptContents(
  contents: readonly RealmContents[],
  passphrase: Secret,
): Promise<string> {
  const message = await encryptMessage(Buffer.from(JSON.stringify(contents)), passphrase, FILE);
  return Buffer.from(message).toString('base64');
}

/**
 * Decrypts a text of `encryptContents`. Returns undefined if the passphrase does not decrypt it, or if it is damaged,
 * because a verdict that cannot be read is ignored.
 */
export async function decryptContents(
  text: string,
  passphrase: Secret,
): Promise<readonly RealmContents[] | undefined> {
  const opened = await openMessage(Buffer.from(text, 'base64'), passphrase, FILE, LONGEST);
  if (opened.outcome !== 'opened' || opened.filename !== FILE) return undefined;
  try {
    return contentsSchema.safeParse(JSON.parse(Buffer.from(opened.bytes).toString('utf8'))).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
