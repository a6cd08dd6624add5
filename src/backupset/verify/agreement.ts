import { renderCount } from '../../core/index.ts';
import type { DumpReport, Manifest, SetPart, SetProblem } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { printable } from '../faults.ts';
import { decryptedName, encryptedName, isEncryptedSet } from '../set/encrypted-names.ts';
import { isRealmFileOf } from '../set/names.ts';
import type { Findings } from './content.ts';

/**
 * Checks that the files of a set agree with each other. Damaged files are skipped, because their faults are already
 * reported.
 */
export function judgeAgreement(
  findings: Findings,
  listed: readonly string[],
  known: readonly SetProblem[],
  sizesOnDisk: ReadonlyMap<string, number>,
): SetProblem[] {
  const problems: SetProblem[] = [];
  const bad = new Set(known.map((problem) => problem.file));
  const reportOnDisk = (file: string, why: string) => {
    if (!bad.has(file)) problems.push({ file, code: 'IDKIT_DAMAGED', message: why, hints: [] });
  };
  const isEncrypted = isEncryptedSet(listed);
  const nameOnDisk = (name: string) => (isEncrypted ? encryptedName(name) : name);
  const report = (file: string, why: string) => reportOnDisk(nameOnDisk(file), why);
  const { manifest } = findings;
  if (isEncrypted) judgeEncrypted(findings, listed, sizesOnDisk, reportOnDisk);
  // The content of files that were not decrypted cannot disagree.
  if (findings.unread.length > 0) return problems;
  const names = isEncrypted ? listed.map((name) => decryptedName(name) ?? name) : listed;
  if (manifest === undefined) {
    if (!isEncrypted) judgeWithoutManifest(findings, listed, report);
  } else if (!bad.has(nameOnDisk(SET_FILES.manifest))) {
    judgeParts(manifest, names, report);
    judgeSizes(manifest, findings.sizes, names, report);
    judgeRealmFiles(manifest, findings, report);
    if (findings.dump !== undefined && !bad.has(nameOnDisk(SET_FILES.dump)))
      judgeDump(manifest, findings.dump, findings, report);
  }
  return problems;
}

/** Checks the readable manifest of an encrypted set, and that no file of the set is readable. */
function judgeEncrypted(
  { readableManifest, manifest }: Findings,
  listed: readonly string[],
  sizes: ReadonlyMap<string, number>,
  report: Report,
): void {
  for (const file of [SET_FILES.manifest, encryptedName(SET_FILES.manifest)])
    if (!listed.includes(file)) report(file, 'it is missing, although an encrypted set must contain it');
  for (const file of listed)
    if (decryptedName(encryptedName(file)) === file && file !== SET_FILES.manifest)
      report(file, 'it is not encrypted, although the set is');
  if (readableManifest === undefined) return;
  if (readableManifest.encryption === undefined)
    report(SET_FILES.manifest, 'it does not describe the encryption, although the set is encrypted');
  judgeParts(
    readableManifest,
    listed.map((name) => decryptedName(name) ?? name),
    (file, why) => report(encryptedName(file), why),
  );
  judgeSizes(readableManifest, sizes, listed, report);
  if (manifest !== undefined && manifest.startedAt !== readableManifest.startedAt)
    report(SET_FILES.manifest, `it belongs to another set than ${encryptedName(SET_FILES.manifest)}`);
}

/**
 * Reports a missing seal. A set should have one if its manifest or its env.gpg says so, or if it has an env.gpg and a
 * format that seals every such set. env.gpg cannot be changed without the passphrase.
 */
export function judgeUnsealed(findings: Findings, listed: readonly string[]): SetProblem[] {
  const { manifest = findings.readableManifest, sealedSet } = findings;
  const holdsEnvironment = listed.includes(SET_FILES.environment);
  const problem = (message: string, hints: readonly string[] = []): SetProblem[] => [
    { file: SET_FILES.seal, code: 'IDKIT_DAMAGED', message, hints },
  ];
  if (manifest?.sealed === true)
    return problem(`it is missing, although ${SET_FILES.manifest} says that the set is sealed`);
  if (manifest?.formatVersion === 2 && holdsEnvironment)
    return problem(`it is missing, although a set of this format with ${SET_FILES.environment} is sealed`);
  if (isEncryptedSet(listed)) return problem('it is missing, although an encrypted set is sealed');
  if (sealedSet === undefined) return [];
  return problem(
    `it is missing, although ${SET_FILES.environment} was encrypted for the sealed set ${sealedSet}`,
    ['if you assembled the set yourself, seal it as docs/operate/runbooks.md#the-seal explains'],
  );
}

type Report = (file: string, why: string) => void;

const PART_FILES = [
  ['database', SET_FILES.dump],
  ['config', SET_FILES.config],
  ['env', SET_FILES.environment],
] as const satisfies [SetPart, string][];

/** Checks a set that idkit did not create: it must have all five kinds of files. */
function judgeWithoutManifest(findings: Findings, listed: readonly string[], report: Report): void {
  if (listed.includes(SET_FILES.manifest)) return;
  findings.notes.push(`the set has no ${SET_FILES.manifest}, so idkit did not create it`);
  for (const [, file] of PART_FILES)
    if (!listed.includes(file))
      report(file, 'it is missing, although a set without a manifest must contain it');
  if (!listed.some((name) => /^realm-.+\.json$/s.test(name)))
    report('realm-*.json', 'it is missing, although a set without a manifest must contain a realm file');
  for (const [file, realm] of findings.realmFiles) {
    if (!isRealmFileOf(file, realm)) report(file, `it belongs to the realm ${printable(realm)}`);
    if (findings.dump?.realms !== undefined && !findings.dump.realms.some((one) => one.realm === realm))
      findings.notes.push(`${file}: the dump does not contain its realm, which was created later`);
  }
}

function judgeParts(manifest: Manifest, listed: readonly string[], report: Report): void {
  for (const [part, file] of PART_FILES) {
    if (manifest.parts.includes(part) && !listed.includes(file)) report(file, 'it is missing');
    if (!manifest.parts.includes(part) && listed.includes(file))
      report(file, `${SET_FILES.manifest} does not list it among the parts of the set`);
  }
  if (manifest.parts.includes('database') && manifest.database === undefined)
    report(SET_FILES.manifest, 'it does not describe the database');
}

function judgeSizes(
  manifest: Manifest,
  sizes: ReadonlyMap<string, number>,
  listed: readonly string[],
  report: Report,
): void {
  for (const [file, bytes] of Object.entries(manifest.files)) {
    const size = sizes.get(file);
    if (!listed.includes(file))
      report(file, `${SET_FILES.manifest} lists it, but ${SET_FILES.checksums} does not`);
    else if (size !== undefined && size !== bytes)
      report(file, `it has ${size} bytes, but ${SET_FILES.manifest} says ${bytes}`);
  }
}

function judgeRealmFiles(manifest: Manifest, findings: Findings, report: Report): void {
  const expected = new Map(
    manifest.realms.flatMap((one) => (one.file === undefined ? [] : [[one.file, one.realm]])),
  );
  for (const [file, realm] of findings.realmFiles) {
    const named = expected.get(file);
    if (named === undefined) report(file, `${SET_FILES.manifest} does not list it`);
    else if (named !== realm)
      report(file, `it belongs to the realm ${printable(realm)}, not to ${printable(named)}`);
  }
  for (const file of expected.keys()) if (!findings.sizes.has(file)) report(file, 'it is missing');
}

function judgeDump(manifest: Manifest, dump: DumpReport, findings: Findings, report: Report): void {
  const { database } = manifest;
  if (database === undefined) return;
  if (database.kind !== dump.kind)
    report(SET_FILES.dump, `it is a dump of ${dump.kind}, but ${SET_FILES.manifest} says ${database.kind}`);
  // pg_dump writes a COPY for every table, so a missing table was removed later.
  const isComplete = dump.kind === 'postgres' && dump.postgres?.unread !== true;
  if (dump.schemaVersion === undefined && isComplete && database.schemaVersion > 0)
    report(
      SET_FILES.dump,
      `it has no schema version, but ${SET_FILES.manifest} says ${database.schemaVersion}`,
    );
  if (dump.schemaVersion !== undefined && dump.schemaVersion !== database.schemaVersion)
    report(
      SET_FILES.dump,
      `its schema has version ${dump.schemaVersion}, but ${SET_FILES.manifest} says ${database.schemaVersion}`,
    );
  if (dump.realms === undefined) {
    if (isComplete && manifest.realms.some(({ users }) => users !== undefined)) {
      report(
        SET_FILES.dump,
        `it lacks the table of realms or the table of users, but ${SET_FILES.manifest} contains user counts`,
      );
      return;
    }
    findings.notes.push(`${SET_FILES.dump}: idkit could not count its realms and users`);
    return;
  }
  const counted = new Map(dump.realms.map((one) => [one.realm, one.users]));
  for (const { realm, users, file } of manifest.realms) {
    const count = counted.get(realm);
    if (users === undefined) {
      if (count !== undefined)
        report(
          SET_FILES.dump,
          `it contains the realm ${printable(realm)}, but ${SET_FILES.manifest} says that it does not`,
        );
      else
        findings.notes.push(
          `${file ?? printable(realm)}: the dump does not contain its realm, which was created later`,
        );
    } else if (count === undefined)
      report(SET_FILES.dump, `it does not contain the realm ${printable(realm)}`);
    else if (count !== users)
      report(
        SET_FILES.dump,
        `it contains ${renderCount(count, 'user')} of the realm ${printable(realm)}, but ${SET_FILES.manifest} says ${users}`,
      );
    counted.delete(realm);
  }
  for (const realm of counted.keys())
    report(
      SET_FILES.dump,
      `it contains the realm ${printable(realm)}, which ${SET_FILES.manifest} does not list`,
    );
}
