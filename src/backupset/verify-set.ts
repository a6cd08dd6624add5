import { createHash } from 'node:crypto';
import { IdkitError } from '../core/index.ts';
import { CHECKSUMS_MAX_BYTES, parseChecksums } from './checksums.ts';
import type { ChecksumEntry, SetHandle, SetProblem, Verdict, VerifySetOptions } from './contract.ts';
import { SET_FILES } from './contract.ts';
import { damaged, shown } from './faults.ts';
import { readThrough } from './read-through.ts';
import { judgeAgreement } from './set-agreement.ts';
import { type Findings, readContent } from './set-content.ts';

/**
 * Judges a set from its bytes alone (contract §3, verify): the set of files equals the checksums, every hash holds,
 * gzip and SQL reach their ends, manifest and dump agree, realm files parse, the archive is walked, env.gpg opens
 * where a passphrase is at hand. Every file is read once.
 *
 * @throws what the signal throws; IDKIT_FAILED where the system refuses to read. Damage is no throw but a verdict
 */
export async function verifySet(set: SetHandle, options: VerifySetOptions = {}): Promise<Verdict> {
  const problems: SetProblem[] = [];
  const notes: string[] = [];
  const findings: Findings = { notes, realmFiles: new Map(), sizes: new Map() };
  const list = await readList(set, problems);
  let bytes = list?.bytes ?? 0;
  if (list !== undefined) {
    checkSameFiles(set, list.entries, problems);
    const total = bytes + (await sumOfSizes(set, list.entries));
    for (const entry of list.entries) {
      if (!set.names.includes(entry.name)) continue;
      const before = bytes;
      bytes += await judgeFile(set, entry, findings, problems, {
        ...options,
        onProgress: (done) => options.onProgress?.(before + done, total),
      });
    }
    const listed = list.entries.map((entry) => entry.name);
    problems.push(...judgeAgreement(findings, listed, problems));
  }
  return {
    ...conclude(problems),
    problems,
    notes,
    parts: findings.manifest?.parts ?? partsOf(list?.entries ?? []),
    ...(findings.dump === undefined ? {} : { dump: findings.dump }),
    ...(findings.manifest === undefined ? {} : { manifest: findings.manifest }),
    realms: realmsOf(findings),
    files: list === undefined ? 0 : list.entries.length + 1,
    bytes,
    ...(list === undefined ? {} : { checksumsSha256: list.sha256 }),
  };
}

async function readList(set: SetHandle, problems: SetProblem[]) {
  try {
    const text = await set.read(SET_FILES.checksums, CHECKSUMS_MAX_BYTES);
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { entries: parseChecksums(text), bytes: text.length, sha256 };
  } catch (error) {
    problems.push(problemOf(SET_FILES.checksums, error));
    return undefined;
  }
}

/** Both ways: whatever lies in the directory is listed, and whatever is listed lies there. */
function checkSameFiles(set: SetHandle, entries: readonly ChecksumEntry[], problems: SetProblem[]): void {
  const listed = new Set(entries.map((entry) => entry.name));
  for (const name of set.names)
    if (!listed.has(name) && name !== SET_FILES.checksums)
      problems.push(problemOf(name, damaged(shown(name), `${SET_FILES.checksums} does not list it`)));
  for (const name of listed)
    if (!set.names.includes(name)) problems.push(problemOf(name, damaged(shown(name), 'it is missing')));
}

async function sumOfSizes(set: SetHandle, entries: readonly ChecksumEntry[]): Promise<number> {
  let sum = 0;
  for (const entry of entries) {
    try {
      sum += await set.size(entry.name);
    } catch (error) {
      // Told when the file is read.
      if (!(error instanceof IdkitError)) throw error;
    }
  }
  return sum;
}

/** Bytes read. */
async function judgeFile(
  set: SetHandle,
  entry: ChecksumEntry,
  findings: Findings,
  problems: SetProblem[],
  options: VerifySetOptions,
): Promise<number> {
  try {
    const { digest, read } = await readThrough(
      set,
      entry.name,
      (content) => readContent(entry.name, content, findings, options),
      options,
    );
    // What a file says is worth nothing where its bytes are not those that were written.
    if (digest.sha256 !== entry.sha256)
      problems.push(problemOf(entry.name, damaged(entry.name, 'its checksum does not hold')));
    else if (read.outcome === 'failed') problems.push(problemOf(entry.name, read.error));
    findings.sizes.set(entry.name, digest.bytes);
    return digest.bytes;
  } catch (error) {
    problems.push(problemOf(entry.name, error));
    return 0;
  }
}

/** @throws the error itself where it is none about a set's content */
function problemOf(file: string, error: unknown): SetProblem {
  if (error instanceof IdkitError) {
    const { code, message } = error;
    if (code === 'IDKIT_DAMAGED' || code === 'IDKIT_CREDENTIALS' || code === 'IDKIT_VERSION')
      return { file, code, message: withoutFile(message, file), hints: error.hints };
  }
  throw error;
}

/** The file is a field of the problem. */
function withoutFile(message: string, file: string): string {
  const prefix = [file, shown(file)].find((name) => message.startsWith(`${name}: `));
  return prefix === undefined ? message : message.slice(prefix.length + 2);
}

function conclude(problems: readonly SetProblem[]): Pick<Verdict, 'verdict' | 'code'> {
  const has = (code: SetProblem['code']) => problems.some((problem) => problem.code === code);
  if (has('IDKIT_DAMAGED')) return { verdict: 'damaged', code: 'IDKIT_DAMAGED' };
  if (has('IDKIT_CREDENTIALS')) return { verdict: 'passphrase', code: 'IDKIT_CREDENTIALS' };
  if (has('IDKIT_VERSION')) return { verdict: 'unreadable', code: 'IDKIT_VERSION' };
  return { verdict: 'good' };
}

function partsOf(entries: readonly ChecksumEntry[]): Verdict['parts'] {
  const names = entries.map((entry) => entry.name);
  return [
    ...(names.includes(SET_FILES.dump) ? (['database'] as const) : []),
    ...(names.some((name) => name.startsWith('realm-') && name.endsWith('.json'))
      ? (['realms'] as const)
      : []),
    ...(names.includes(SET_FILES.config) ? (['config'] as const) : []),
    ...(names.includes(SET_FILES.environment) ? (['env'] as const) : []),
  ];
}

/** Realms as the dump counts them, else as the manifest does, each with its realm file. */
function realmsOf(findings: Findings): Verdict['realms'] {
  const counted = findings.dump?.realms ?? findings.manifest?.realms ?? [];
  const users = new Map(counted.map((one) => [one.realm, one.users]));
  const files = new Map([...findings.realmFiles].map(([file, realm]) => [realm, file]));
  return [...new Set([...users.keys(), ...files.keys()])].sort().map((realm) => {
    const count = users.get(realm);
    const file = files.get(realm);
    return {
      realm,
      ...(count === undefined ? {} : { users: count }),
      ...(file === undefined ? {} : { file }),
    };
  });
}
