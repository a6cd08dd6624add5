import {
  FOREIGN_STATEMENT,
  type Manifest,
  renderKeycloakVersion,
  renderManifest,
  SET_FILES,
  type SetPart,
  type Verdict,
} from '../../backupset/index.ts';
import { ownVersion } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { DumpSummary } from '../../platform/index.ts';
import { judgeEnvironment } from '../verify/judge-set.ts';
import type { BackupContents, BackupWork } from './work.ts';

/** Writes the manifest, the checksums over all files and, if there is a passphrase, the seal over the checksums. */
export async function writeManifest(work: BackupWork, contents: BackupContents): Promise<Manifest> {
  const { writer, platform, run } = work;
  const { passphrase } = work.options;
  const { service, serviceVersion } = platform.info();
  const { dump, realms } = contents;
  const manifest: Manifest = {
    formatVersion: 2,
    idkitVersion: ownVersion(),
    startedAt: new Date(work.startedAt).toISOString(),
    parts: listParts(contents),
    sealed: passphrase !== undefined,
    service: { kind: service, version: dumpedVersion(service, dump) ?? serviceVersion },
    ...(dump === undefined
      ? {}
      : {
          database: {
            kind: dump.kind,
            version: dump.version,
            schemaVersion: dump.schemaVersion,
            bytes: dump.databaseBytes,
          },
        }),
    realms: listRealms(contents),
    ...(realms === undefined ? {} : { realmSource: realms.source }),
    files: Object.fromEntries([...writer.files].map(([name, { bytes }]) => [name, bytes])),
    steps: run.durations.map(({ id, milliseconds }) => ({ id, milliseconds })),
  };
  await writer.putFile(SET_FILES.manifest, renderManifest(manifest));
  await writer.writeChecksums();
  if (passphrase !== undefined) await writer.writeSeal(passphrase);
  return manifest;
}

/** Only its database tells which Keycloak it is: the version that last migrated it. */
function dumpedVersion(service: 'idkit' | 'keycloak', dump: DumpSummary | undefined): string | undefined {
  return service === 'keycloak' && dump !== undefined ? renderKeycloakVersion(dump.schemaVersion) : undefined;
}

function listParts(contents: BackupContents): readonly SetPart[] {
  const { dump, realms, config, env } = contents;
  const held: Record<SetPart, boolean> = {
    database: dump !== undefined,
    realms: realms !== undefined,
    config,
    env,
  };
  return (Object.keys(held) as SetPart[]).filter((part) => held[part]);
}

/** Every realm of the dump with its count, and every realm file, also of realms that the dump does not hold. */
function listRealms({ dump, realms }: BackupContents): Manifest['realms'] {
  const files = realms?.realms ?? [];
  const counted = (dump?.realms ?? []).map(({ realm, users }) => {
    const file = files.find((one) => one.realm === realm)?.file;
    return { realm, users, ...(file === undefined ? {} : { file }) };
  });
  const others = files.filter(({ realm }) => !counted.some((one) => one.realm === realm));
  return [...counted, ...others.map(({ realm, file }) => ({ realm, file }))];
}

/** Judges the set by its bytes on the disk, as `verify` will. @throws IDKIT_DAMAGED with what does not hold */
export async function readBack(work: BackupWork): Promise<Verdict> {
  const { writer, options, run } = work;
  const { passphrase, signal } = options;
  const verdict = await writer.readBack({
    signal,
    onProgress: run.progress('read-back', 'bytes'),
    ...(passphrase === undefined ? {} : { passphrase }),
    judgeEnvironment,
  });
  if (verdict.verdict === 'good') return verdict;
  const problems = verdict.problems.map(({ file, message }) => `${file}: ${message}`).join('; ');
  throw new IdkitError(
    'IDKIT_DAMAGED',
    `what was written does not read back, so nothing is published: ${problems}`,
    {
      hints: [
        'check the disk of the backup root, then run the backup again',
        ...(verdict.problems.some(
          ({ file, message }) => file === SET_FILES.dump && message.includes(FOREIGN_STATEMENT),
        )
          ? ['drop what somebody else made in the service’s database, or keep it in a database of its own']
          : []),
      ],
    },
  );
}
