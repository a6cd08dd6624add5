import { IdkitError } from '../../core/index.ts';
import type {
  ChecksumEntry,
  SetEncryptionState,
  SetHandle,
  SetProblem,
  Verdict,
  VerifySetOptions,
} from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { damaged, printable, problemOf } from '../faults.ts';
import { checkSeal } from '../openpgp/seal.ts';
import { SetKeys } from '../openpgp/set-keys.ts';
import { decryptedName, isEncryptedSet } from '../set/encrypted-names.ts';
import { judgeAgreement, judgeUnsealed } from './agreement.ts';
import { type Findings, readContent } from './content.ts';
import { readThrough } from './read-through.ts';

/**
 * Verifies a set from its files alone, and reads each file once. The seal must hold, the checksums must list exactly the
 * set's files, and every hash must match. The gzip and SQL data must be complete, the manifest and the dump must agree,
 * and the realm files and the archive must be valid. With a passphrase, env.gpg is decrypted too. Damage is a verdict,
 * not an error.
 *
 * @throws the reason of an aborted signal; IDKIT_FAILED if the system cannot read a file
 */
export async function verifySet(set: SetHandle, options: VerifySetOptions = {}): Promise<Verdict> {
  const sealed = options.sealed ?? (await checkSeal(set, options.passphrase));
  const { seal, list } = sealed;
  const problems = [...sealed.problems];
  const notes = [...sealed.notes];
  const findings: Findings = { notes, realmFiles: new Map(), sizes: new Map(), unread: [] };
  const isEncrypted = isEncryptedSet(list?.entries.map(({ name }) => name) ?? []);
  // In a set that is not encrypted, env.gpg alone is a message, which can have any form that gpg writes.
  const { keys, ...withoutKeys } = options;
  const reading = isEncrypted
    ? { ...withoutKeys, keys: keys ?? new SetKeys({ passphrase: options.passphrase }) }
    : withoutKeys;
  const sizes = new Map<string, number>();
  let bytes = list?.bytes ?? 0;
  if (list !== undefined) {
    checkSameFiles(set, list.entries, problems);
    const total = bytes + (await sumOfSizes(set, list.entries));
    for (const entry of list.entries) {
      if (!set.names.includes(entry.name)) continue;
      const before = bytes;
      // If the seal is broken, a file is only hashed, to report what was changed.
      const reader =
        seal === 'broken'
          ? () => Promise.resolve()
          : (content: AsyncIterable<Buffer>) => readContent(entry.name, content, findings, reading);
      bytes += await judgeFile(set, entry, sizes, problems, reader, {
        ...options,
        onProgress: (done) => options.onProgress?.(before + done, total),
      });
    }
    const listed = list.entries.map((entry) => entry.name);
    if (!isEncrypted) findings.sizes = sizes;
    if (seal !== 'broken') problems.push(...judgeAgreement(findings, listed, problems, sizes));
    if (seal === 'unsealed') problems.push(...judgeUnsealed(findings, listed));
  }
  return {
    ...conclude(problems),
    problems,
    notes,
    seal,
    parts: findings.manifest?.parts ?? findings.readableManifest?.parts ?? partsOf(list?.entries ?? []),
    ...(findings.dump === undefined ? {} : { dump: findings.dump }),
    ...(findings.manifest === undefined ? {} : { manifest: findings.manifest }),
    ...(isEncrypted ? { encryption: encryptionOf(findings) } : {}),
    realms: realmsOf(findings),
    files: list === undefined ? 0 : list.entries.length + (seal === 'unsealed' ? 1 : 2),
    bytes,
    ...(list === undefined ? {} : { checksumsSha256: list.sha256 }),
    entries: list?.entries ?? [],
  };
}

/** Checks both directions: every file is listed, and every listed file exists. */
function checkSameFiles(set: SetHandle, entries: readonly ChecksumEntry[], problems: SetProblem[]): void {
  const listed = new Set(entries.map((entry) => entry.name));
  for (const name of set.names)
    if (!listed.has(name) && name !== SET_FILES.checksums && name !== SET_FILES.seal)
      problems.push(problemOf(name, damaged(printable(name), `${SET_FILES.checksums} does not list it`)));
  if (listed.has(SET_FILES.seal))
    problems.push(
      problemOf(
        SET_FILES.seal,
        damaged(SET_FILES.seal, `${SET_FILES.checksums} lists it, but the seal is written after the list`),
      ),
    );
  for (const name of listed)
    if (!set.names.includes(name)) problems.push(problemOf(name, damaged(printable(name), 'it is missing')));
}

async function sumOfSizes(set: SetHandle, entries: readonly ChecksumEntry[]): Promise<number> {
  let sum = 0;
  for (const entry of entries) {
    try {
      sum += await set.size(entry.name);
    } catch (error) {
      // The error is reported when the file is read.
      if (!(error instanceof IdkitError)) throw error;
    }
  }
  return sum;
}

/** Returns the number of bytes read. */
async function judgeFile(
  set: SetHandle,
  entry: ChecksumEntry,
  sizes: Map<string, number>,
  problems: SetProblem[],
  reader: (content: AsyncIterable<Buffer>) => Promise<void>,
  options: VerifySetOptions,
): Promise<number> {
  try {
    const { digest, read } = await readThrough(set, entry.name, reader, options);
    // If the checksum is wrong, other faults of the content do not matter.
    if (digest.sha256 !== entry.sha256)
      problems.push(problemOf(entry.name, damaged(entry.name, 'its checksum is wrong')));
    else if (read.outcome === 'failed') problems.push(problemOf(entry.name, read.error));
    sizes.set(entry.name, digest.bytes);
    return digest.bytes;
  } catch (error) {
    problems.push(problemOf(entry.name, error));
    return 0;
  }
}

function encryptionOf({ readableManifest, unread }: Findings): SetEncryptionState {
  const { to, fingerprints = [] } = readableManifest?.encryption ?? {};
  return { ...(to === undefined ? {} : { to }), fingerprints, isRead: unread.length === 0 };
}

function conclude(problems: readonly SetProblem[]): Pick<Verdict, 'verdict' | 'code'> {
  const has = (code: SetProblem['code']) => problems.some((problem) => problem.code === code);
  if (has('IDKIT_DAMAGED')) return { verdict: 'damaged', code: 'IDKIT_DAMAGED' };
  if (has('IDKIT_CREDENTIALS')) return { verdict: 'passphrase', code: 'IDKIT_CREDENTIALS' };
  if (has('IDKIT_VERSION')) return { verdict: 'unreadable', code: 'IDKIT_VERSION' };
  return { verdict: 'good' };
}

function partsOf(entries: readonly ChecksumEntry[]): Verdict['parts'] {
  const names = entries.flatMap((entry) => [entry.name, decryptedName(entry.name) ?? []]).flat();
  return [
    ...(names.includes(SET_FILES.dump) ? (['database'] as const) : []),
    ...(names.some((name) => name.startsWith('realm-') && name.endsWith('.json'))
      ? (['realms'] as const)
      : []),
    ...(names.includes(SET_FILES.config) ? (['config'] as const) : []),
    ...(names.includes(SET_FILES.environment) ? (['env'] as const) : []),
  ];
}

/**
 * Combines realms, realm files and user counts. The counts come from the dump, or from the manifest if the dump has
 * none.
 */
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
