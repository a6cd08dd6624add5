import type { DumpReport, Manifest, SetPart, SetProblem } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { shown } from '../faults.ts';
import { isRealmFileOf } from '../set/names.ts';
import type { Findings } from './content.ts';

/**
 * Holds what the files of a set told against each other. A file that was found damaged is left out of it: its
 * fault is told already.
 */
export function judgeAgreement(
  findings: Findings,
  listed: readonly string[],
  known: readonly SetProblem[],
): SetProblem[] {
  const problems: SetProblem[] = [];
  const bad = new Set(known.map((problem) => problem.file));
  const report = (file: string, why: string) => {
    if (!bad.has(file)) problems.push({ file, code: 'IDKIT_DAMAGED', message: why, hints: [] });
  };
  const { manifest } = findings;
  if (manifest === undefined) judgeWithoutManifest(findings, listed, report);
  else if (!bad.has(SET_FILES.manifest)) {
    judgeFiles(manifest, findings, listed, report);
    judgeRealmFiles(manifest, findings, report);
    if (findings.dump !== undefined && !bad.has(SET_FILES.dump))
      judgeDump(manifest, findings.dump, findings, report);
  }
  return problems;
}

/**
 * A set without a seal that should have one: its manifest says so, or is of a format that seals every set with an
 * env.gpg, or env.gpg itself says so, which only who knows the passphrase can change.
 */
export function judgeUnsealed(findings: Findings, listed: readonly string[]): SetProblem[] {
  const { manifest, sealedSet } = findings;
  const holdsEnvironment = listed.includes(SET_FILES.environment);
  const problem = (message: string, hints: readonly string[] = []): SetProblem[] => [
    { file: SET_FILES.seal, code: 'IDKIT_DAMAGED', message, hints },
  ];
  if (manifest?.sealed === true || (manifest?.formatVersion === 2 && holdsEnvironment))
    return problem(`it is missing, and ${SET_FILES.manifest} says that the set is sealed`);
  if (sealedSet === undefined) return [];
  return problem(
    `it is missing, and ${SET_FILES.environment} was encrypted for the sealed set ${sealedSet}`,
    ['if you put the set together yourself, seal it as docs/operate/runbooks.md#the-seal says'],
  );
}

type Report = (file: string, why: string) => void;

const PART_FILES = [
  ['database', SET_FILES.dump],
  ['config', SET_FILES.config],
  ['env', SET_FILES.environment],
] as const satisfies [SetPart, string][];

/** The specification's five kinds of file, as ordinary tools make them. */
function judgeWithoutManifest(findings: Findings, listed: readonly string[], report: Report): void {
  if (listed.includes(SET_FILES.manifest)) return;
  findings.notes.push(`the set has no ${SET_FILES.manifest}; it was not made by idkit`);
  for (const [, file] of PART_FILES)
    if (!listed.includes(file)) report(file, 'it is missing, and no manifest says that it may');
  if (!listed.some((name) => /^realm-.+\.json$/s.test(name)))
    report('realm-*.json', 'the set holds no realm file, and no manifest says that it may');
  for (const [file, realm] of findings.realmFiles) {
    if (!isRealmFileOf(file, realm)) report(file, `it is of the realm ${shown(realm)}`);
    if (findings.dump?.realms !== undefined && !findings.dump.realms.some((one) => one.realm === realm))
      findings.notes.push(`${file}: the dump does not hold its realm; it was made between the two`);
  }
}

function judgeFiles(manifest: Manifest, findings: Findings, listed: readonly string[], report: Report): void {
  for (const [part, file] of PART_FILES) {
    if (manifest.parts.includes(part) && !listed.includes(file)) report(file, 'it is missing');
    if (!manifest.parts.includes(part) && listed.includes(file))
      report(file, `${SET_FILES.manifest} does not count it among the parts of the set`);
  }
  if (manifest.parts.includes('database') && manifest.database === undefined)
    report(SET_FILES.manifest, 'it says nothing about the database');
  for (const [file, bytes] of Object.entries(manifest.files)) {
    const size = findings.sizes.get(file);
    if (!listed.includes(file))
      report(file, `${SET_FILES.manifest} names it, ${SET_FILES.checksums} does not`);
    else if (size !== undefined && size !== bytes)
      report(file, `it has ${size} bytes, ${SET_FILES.manifest} says ${bytes}`);
  }
}

function judgeRealmFiles(manifest: Manifest, findings: Findings, report: Report): void {
  const expected = new Map(
    manifest.realms.flatMap((one) => (one.file === undefined ? [] : [[one.file, one.realm]])),
  );
  for (const [file, realm] of findings.realmFiles) {
    const named = expected.get(file);
    if (named === undefined) report(file, `${SET_FILES.manifest} does not name it`);
    else if (named !== realm) report(file, `it is of the realm ${shown(realm)}, not of ${shown(named)}`);
  }
  for (const file of expected.keys()) if (!findings.sizes.has(file)) report(file, 'it is missing');
}

function judgeDump(manifest: Manifest, dump: DumpReport, findings: Findings, report: Report): void {
  const { database } = manifest;
  if (database === undefined) return;
  if (database.kind !== dump.kind)
    report(SET_FILES.dump, `it is a dump of ${dump.kind}, ${SET_FILES.manifest} says ${database.kind}`);
  // pg_dump writes a COPY for every table: what is not there was taken out.
  const tellsAll = dump.kind === 'postgres' && dump.postgres?.unread !== true;
  if (dump.schemaVersion === undefined && tellsAll && database.schemaVersion > 0)
    report(
      SET_FILES.dump,
      `it tells no version of its schema, ${SET_FILES.manifest} says ${database.schemaVersion}`,
    );
  if (dump.schemaVersion !== undefined && dump.schemaVersion !== database.schemaVersion)
    report(
      SET_FILES.dump,
      `its schema has version ${dump.schemaVersion}, ${SET_FILES.manifest} says ${database.schemaVersion}`,
    );
  if (dump.realms === undefined) {
    if (tellsAll && manifest.realms.some(({ users }) => users !== undefined)) {
      report(SET_FILES.dump, `it holds no realms with users, which ${SET_FILES.manifest} counts`);
      return;
    }
    findings.notes.push(`${SET_FILES.dump}: its realms and users could not be counted`);
    return;
  }
  const counted = new Map(dump.realms.map((one) => [one.realm, one.users]));
  for (const { realm, users, file } of manifest.realms) {
    const found = counted.get(realm);
    if (users === undefined) {
      if (found !== undefined)
        report(
          SET_FILES.dump,
          `it holds the realm ${shown(realm)}, which ${SET_FILES.manifest} says it does not`,
        );
      else
        findings.notes.push(
          `${file ?? shown(realm)}: the dump does not hold its realm; it was made between the two`,
        );
    } else if (found === undefined) report(SET_FILES.dump, `it does not hold the realm ${shown(realm)}`);
    else if (found !== users)
      report(
        SET_FILES.dump,
        `it holds ${found} users of the realm ${shown(realm)}, ${SET_FILES.manifest} says ${users}`,
      );
    counted.delete(realm);
  }
  for (const realm of counted.keys())
    report(SET_FILES.dump, `it holds the realm ${shown(realm)}, which ${SET_FILES.manifest} does not name`);
}
