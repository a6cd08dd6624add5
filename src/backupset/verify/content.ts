import { jsonFields } from '../../core/index.ts';
import { readArchive } from '../archive/reader.ts';
import type { DumpReport, Manifest, VerifySetOptions } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { readSql } from '../dump/read-sql.ts';
import { damaged, printable } from '../faults.ts';
import { gunzip } from '../gzip/gunzip.ts';
import {
  decryptEnvironment,
  inspectEnvironment,
  LONGEST_MESSAGE,
  messageFault,
  sealedSetOf,
} from '../openpgp/environment.ts';
import { openFile } from '../openpgp/file-decryption.ts';
import { listKeyIds, type SessionPackets, type SetKeys } from '../openpgp/set-keys.ts';
import { decryptedName } from '../set/encrypted-names.ts';
import { MANIFEST_MAX_BYTES, parseJson, parseManifest } from '../set/manifest.ts';
import { parseRealmFileName } from '../set/names.ts';

const REALM_FILE_MAX_BYTES = 256 * 1024 * 1024;

/** Facts that are collected from the files of a set. */
export interface Findings {
  notes: string[];
  manifest?: Manifest;
  /** The readable manifest of an encrypted set. `manifest` is then the encrypted one. */
  readableManifest?: Manifest;
  dump?: DumpReport;
  /** Realm names by the name of their realm file. */
  realmFiles: Map<string, string>;
  /** Name of the sealed set that env.gpg was encrypted for. Known only if env.gpg was decrypted. */
  sealedSet?: string;
  /** The size of every file in bytes. In an encrypted set: of the content of every file that was decrypted. */
  sizes: Map<string, number>;
  /** Names of the encrypted files that were not decrypted, because the key was missing. */
  unread: string[];
}

interface ContentOptions extends Pick<VerifySetOptions, 'passphrase' | 'judgeEnvironment'> {
  /** Present if the set is encrypted. */
  keys?: SetKeys;
}

/**
 * Reads one file of a set to its end. Its name determines how the content is checked.
 *
 * @throws IDKIT_DAMAGED, IDKIT_CREDENTIALS, IDKIT_VERSION
 */
export async function readContent(
  name: string,
  content: AsyncIterable<Buffer>,
  findings: Findings,
  options: ContentOptions,
): Promise<void> {
  const { keys } = options;
  if (keys === undefined) return readPlain(name, content, findings, options);
  if (name === SET_FILES.manifest) {
    findings.readableManifest = parseManifest(await whole(name, content, MANIFEST_MAX_BYTES));
    return;
  }
  const plain = name === SET_FILES.environment ? name : decryptedName(name);
  if (plain === undefined) return readPlain(name, content, findings, options);
  const opened = await openFile(content, keys, name);
  if (opened.content === undefined) {
    noteUnread(findings, name, opened.packets);
    return opened.drain();
  }
  let bytes = 0;
  const counted = countBytes(opened.content, (total) => {
    bytes = total;
  });
  if (plain === SET_FILES.environment)
    judgeEnvironmentFile(name, await whole(name, counted, LONGEST_MESSAGE), findings, options);
  else await readPlain(plain, counted, findings, options);
  // A reader may stop at the end of its own format. The hash of the message is checked only at its end.
  for await (const _ of counted);
  findings.sizes.set(plain, bytes);
}

async function* countBytes(
  content: AsyncIterable<Buffer>,
  onBytes: (total: number) => void,
): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of content) {
    total += chunk.length;
    onBytes(total);
    yield chunk;
  }
}

/** Adds one note for all files that cannot be decrypted. */
function noteUnread(findings: Findings, name: string, packets: SessionPackets): void {
  if (findings.unread.length === 0)
    findings.notes.push(
      packets.publicKey.length === 0
        ? 'the encrypted files were compared with their checksums, but not decrypted, because no passphrase was given'
        : `the encrypted files were compared with their checksums, but not decrypted: the private key for ${listKeyIds(packets)} was not given`,
    );
  findings.unread.push(name);
}

async function readPlain(
  name: string,
  content: AsyncIterable<Buffer>,
  findings: Findings,
  options: ContentOptions,
): Promise<void> {
  if (name === SET_FILES.manifest)
    findings.manifest = parseManifest(await whole(name, content, MANIFEST_MAX_BYTES));
  else if (name === SET_FILES.dump) findings.dump = await readSql(name, content);
  else if (name === SET_FILES.config) await readArchive(gunzip(content, name));
  else if (name === SET_FILES.environment) await readEnvironment(name, content, findings, options);
  else if (parseRealmFileName(name) !== undefined) await readRealmFile(name, content, findings);
  else findings.notes.push(`${printable(name)} is not a file of a backup set, but the checksums list it`);
}

async function readEnvironment(
  name: string,
  content: AsyncIterable<Buffer>,
  findings: Findings,
  options: ContentOptions,
): Promise<void> {
  const { passphrase } = options;
  const message = await whole(name, content, LONGEST_MESSAGE);
  const opened =
    passphrase === undefined
      ? await inspectEnvironment(message)
      : await decryptEnvironment(message, passphrase);
  if (opened.outcome === 'message')
    findings.notes.push(`${name} was not decrypted because no passphrase was given`);
  else if (opened.outcome !== 'opened') throw messageFault(name, opened);
  else {
    const sealedSet = sealedSetOf(opened);
    if (sealedSet !== undefined) findings.sealedSet = sealedSet;
    judgeEnvironmentFile(name, opened.bytes, findings, options);
  }
}

function judgeEnvironmentFile(
  name: string,
  plain: Uint8Array,
  findings: Findings,
  { judgeEnvironment }: ContentOptions,
): void {
  const { fault, note } = judgeEnvironment?.(plain) ?? {};
  if (note !== undefined) findings.notes.push(`${name}: ${note}`);
  if (fault !== undefined) throw damaged(name, fault);
}

async function readRealmFile(
  name: string,
  content: AsyncIterable<Buffer>,
  findings: Findings,
): Promise<void> {
  const value = parseJson(name, await whole(name, content, REALM_FILE_MAX_BYTES));
  const { realm } = jsonFields(value);
  if (typeof realm !== 'string')
    throw damaged(name, 'it is not a realm representation: it has no member "realm"');
  findings.realmFiles.set(name, realm);
}

async function whole(name: string, content: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw damaged(name, `it is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
