import { createHmac, timingSafeEqual } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { IdkitError, jsonFields, type Secret, systemRandom } from '../../core/index.ts';
import { findPassphraseKey, makePassphraseKey } from '../openpgp/passphrase-key.ts';
import { readRegular } from '../set/regular-file.ts';

/** The file next to encrypted versions with the code of the newest one. */
export const CODE_FILE = '.newest.json';

const MAX_BYTES = 4096;
/** Tag and length precede the body of a session key packet. */
const PACKET_HEAD_BYTES = 2;

/**
 * Renders a code for the content of a version. Without the passphrase, it neither reveals nor confirms the content.
 *
 * @param hash the hash of the content without its encryption
 */
export function renderCode(version: string, hash: string, passphrase: Secret): string {
  const { packet, key } = makePassphraseKey(passphrase, systemRandom);
  const salt = Buffer.from(packet).subarray(PACKET_HEAD_BYTES).toString('base64');
  return `${JSON.stringify({ version, salt, code: codeOf(key.data, version, hash) })}\n`;
}

/** True if the file holds the code of this version with this content. */
export async function matchesCode(
  file: string,
  version: string,
  hash: string,
  passphrase: Secret,
): Promise<boolean> {
  const { version: named, salt, code } = jsonFields(await readJson(file));
  if (named !== version || typeof salt !== 'string' || typeof code !== 'string') return false;
  const key = findPassphraseKey(Buffer.from(salt, 'base64'), passphrase);
  if (key === undefined) return false;
  const expected = Buffer.from(codeOf(key.data, version, hash));
  const actual = Buffer.from(code);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function codeOf(key: Uint8Array, version: string, hash: string): string {
  return createHmac('sha256', key).update(`${version}\0${hash}`).digest('hex');
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse((await readRegular(dirname(file), basename(file), MAX_BYTES)).toString('utf8'));
  } catch (error) {
    // Without a readable code, the content counts as changed.
    if (error instanceof SyntaxError || error instanceof IdkitError) return undefined;
    throw error;
  }
}
