import { createHash, createHmac } from 'node:crypto';
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { IdkitError } from '../../core/index.ts';
import { type FileHeader, LARGEST_PART, type OpenedFile } from '../contract.ts';
import type { ArchiveKeys } from '../keys.ts';
import { constantTimeEqual } from './constant-time.ts';
import { isFileHeader } from './header.ts';
import { decrypt, encrypt } from './openpgp.ts';

// A file of an archive: one line of JSON, then the content, compressed with gzip and encrypted as an OpenPGP message:
// `tail -n +2 FILE | gpg --decrypt | gunzip`. The line has the HMAC of itself, and the SHA-256 of the content.

/** The largest length of a header's line. */
export const LONGEST_HEADER = 4 * 1024 * 1024;
/** gzip grows what it cannot compress by less than this. */
const LARGEST_BODY = LARGEST_PART + 64 * 1024;
/** With the default of 16 KiB, most of the time goes to the joining of chunks. */
const CHUNK_BYTES = 1024 * 1024;
/** The HMAC ends each header's line. */
const MAC = /^(.+),"mac":"([0-9a-f]{64})"\}$/s;

/** What the caller decides about a file. */
export type FileFacts = Omit<FileHeader, 'format' | 'platform' | 'size' | 'sha256' | 'bytes'>;

/**
 * Makes a file.
 *
 * @param content at most `LARGEST_PART` bytes
 * @returns the file's bytes, and the hash to which the next file refers
 */
export function sealFile(
  keys: ArchiveKeys,
  facts: FileFacts,
  content: Uint8Array,
): { bytes: Buffer; hash: string } {
  const body =
    content.length === 0
      ? Buffer.alloc(0)
      : encrypt(
          gzipSync(content, { level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES }),
          keys.passphrase,
        );
  const header: FileHeader = {
    format: 1,
    platform: keys.platform,
    ...facts,
    size: body.length,
    sha256: createHash('sha256').update(body).digest('hex'),
    bytes: content.length,
  };
  const text = JSON.stringify(header).slice(0, -1);
  const line = Buffer.from(`${text},"mac":"${macOf(keys, text)}"}\n`, 'utf8');
  return { bytes: Buffer.concat([line, body]), hash: hashLine(line) };
}

/**
 * Reads the header of a file and checks that the platform wrote it under this name.
 *
 * @param bytes the file from its beginning, with at least the whole first line
 * @param path the chain and the name, with `/` between them
 * @throws IDKIT_DAMAGED with the file's name; IDKIT_MASTER_KEY_WRONG if another platform wrote the file
 */
export function readHeader(
  keys: ArchiveKeys,
  path: string,
  bytes: Uint8Array,
): { header: FileHeader; hash: string; length: number } {
  const end = bytes.subarray(0, LONGEST_HEADER).indexOf(0x0a);
  if (end < 0) throw damaged(path, 'its first line is cut off');
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, end + 1);
  const [, text, mac] = MAC.exec(line.toString('utf8', 0, end)) ?? [];
  if (text === undefined || mac === undefined) throw damaged(path, 'its first line is malformed');
  if (!constantTimeEqual(Buffer.from(mac), Buffer.from(macOf(keys, text)))) {
    if (platformOf(text) !== keys.platform) throw foreign(path);
    throw damaged(path, 'its first line was changed');
  }
  const header: unknown = JSON.parse(`${text}}`);
  if (!isFileHeader(header)) throw damaged(path, 'its first line has an unknown form');
  if (`${header.chain}/${header.name}` !== path) throw damaged(path, `it is ${header.chain}/${header.name}`);
  return { header, hash: hashLine(line), length: end + 1 };
}

/** Checks a whole file and returns its content. See `readHeader`. */
export function openFile(keys: ArchiveKeys, path: string, bytes: Uint8Array): OpenedFile {
  const { header, hash, length } = readHeader(keys, path, bytes);
  const body = bytes.subarray(length);
  if (body.length !== header.size)
    throw damaged(path, `it has ${body.length} bytes instead of ${header.size}`);
  if (createHash('sha256').update(body).digest('hex') !== header.sha256)
    throw damaged(path, 'its content was changed');
  if (header.bytes === 0) return { header, hash, content: Buffer.alloc(0) };
  const packed = decrypt(body, keys.passphrase);
  if (packed === undefined) throw damaged(path, 'its content does not open');
  const content = gunzipSync(packed, { maxOutputLength: LARGEST_PART, chunkSize: CHUNK_BYTES });
  if (content.length !== header.bytes) throw damaged(path, 'its content has another size');
  return { header, hash, content };
}

/** The largest size in bytes of a file of an archive. */
export const LARGEST_FILE = LONGEST_HEADER + LARGEST_BODY;

/** The error for a file of an archive that is not as it was written. */
export function damaged(path: string, why: string): IdkitError {
  return new IdkitError('IDKIT_DAMAGED', `the archive's file ${path} is damaged: ${why}`);
}

function foreign(path: string): IdkitError {
  return new IdkitError(
    'IDKIT_MASTER_KEY_WRONG',
    `the archive's file ${path} was written with another master key`,
    {
      hints: [
        'IDKIT_MASTER_KEY must be the key of that time; the env.gpg of each backup set contains it',
        'give each platform a place of its own in backup.archive',
      ],
    },
  );
}

function macOf(keys: ArchiveKeys, text: string): string {
  return createHmac('sha256', keys.mac).update(text).digest('hex');
}

function hashLine(line: Uint8Array): string {
  return createHash('sha256').update(line).digest('hex');
}

/** Reads the platform from a header whose HMAC does not fit, only to explain the error. */
function platformOf(text: string): string | undefined {
  return /^\{"format":1,"platform":"([0-9a-f]{16})"/.exec(text)?.[1];
}
