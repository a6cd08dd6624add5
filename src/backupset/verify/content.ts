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
import { MANIFEST_MAX_BYTES, parseJson, parseManifest } from '../set/manifest.ts';
import { parseRealmFileName } from '../set/names.ts';

const REALM_FILE_MAX_BYTES = 256 * 1024 * 1024;

/** Facts that are collected from the files of a set. */
export interface Findings {
  notes: string[];
  manifest?: Manifest;
  dump?: DumpReport;
  /** Realm names by the name of their realm file. */
  realmFiles: Map<string, string>;
  /** Name of the sealed set that env.gpg was encrypted for. Known only if env.gpg was decrypted. */
  sealedSet?: string;
  /** The size of every file in bytes. */
  sizes: Map<string, number>;
}

type EnvironmentOptions = Pick<VerifySetOptions, 'passphrase' | 'judgeEnvironment'>;

/**
 * Reads one file of a set to its end. Its name determines how the content is checked.
 *
 * @throws IDKIT_DAMAGED, IDKIT_CREDENTIALS, IDKIT_VERSION
 */
export async function readContent(
  name: string,
  content: AsyncIterable<Buffer>,
  findings: Findings,
  options: EnvironmentOptions,
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
  { passphrase, judgeEnvironment }: EnvironmentOptions,
): Promise<void> {
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
    const { fault, note } = judgeEnvironment?.(opened.bytes) ?? {};
    if (note !== undefined) findings.notes.push(`${name}: ${note}`);
    if (fault !== undefined) throw damaged(name, fault);
  }
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
