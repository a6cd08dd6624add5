import {
  FOREIGN_STATEMENT,
  type Manifest,
  renderKeycloakVersion,
  renderManifest,
  SET_FILES,
  type SetPart,
  type SetWriter,
  type Verdict,
} from '../../backupset/index.ts';
import { ownVersion } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { DumpSummary } from '../../platform/index.ts';
import { judgeEnvironment } from '../verify/judge-set.ts';
import { BACKUP_PARTS } from './options.ts';
import type { BackupContents, BackupWork } from './work.ts';

/** Writes the manifest, the checksums of all files and, with a passphrase, the seal of the checksums. */
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
    files: Object.fromEntries(contentSizes(writer)),
    steps: run.durations.map(({ id, milliseconds }) => ({ id, milliseconds })),
  };
  await writer.putFile(SET_FILES.manifest, renderManifest(manifest));
  if (writer.encryption !== undefined)
    await writer.putReadableFile(SET_FILES.manifest, renderManifest(readableManifest(writer, manifest)));
  await writer.writeChecksums();
  if (passphrase !== undefined) await writer.writeSeal(passphrase);
  return manifest;
}

function contentSizes({ encryption, contentSizes: sizes, files }: SetWriter): readonly [string, number][] {
  return encryption === undefined ? [...files].map(([name, { bytes }]) => [name, bytes]) : [...sizes];
}

/** Returns the manifest that stays readable in an encrypted set. It contains versions, sizes and times, but no names. */
function readableManifest(writer: SetWriter, manifest: Manifest): Manifest {
  const { to, fingerprints } = writer.encryption!;
  return {
    ...manifest,
    formatVersion: 3,
    encryption: { to, fingerprints },
    realms: [],
    files: Object.fromEntries([...writer.files].map(([name, { bytes }]) => [name, bytes])),
  };
}

/**
 * Returns the version of Keycloak that last migrated the dumped database, or undefined if the service is idkit or there
 * is no dump.
 */
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
  return BACKUP_PARTS.filter((part) => held[part]);
}

/** Lists every realm of the dump with its count, then the realm files of realms that the dump does not contain. */
function listRealms({ dump, realms }: BackupContents): Manifest['realms'] {
  const files = realms?.realms ?? [];
  const counted = (dump?.realms ?? []).map(({ realm, users }) => {
    const file = files.find((one) => one.realm === realm)?.file;
    return { realm, users, ...(file === undefined ? {} : { file }) };
  });
  const others = files.filter(({ realm }) => !counted.some((one) => one.realm === realm));
  return [...counted, ...others.map(({ realm, file }) => ({ realm, file }))];
}

/** Verifies the set from the disk, like `verify`. @throws IDKIT_DAMAGED with every problem */
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
    `the written set does not verify, so it is not published: ${problems}`,
    {
      hints: [
        'check the disk of the backup root, then run the backup again',
        ...(verdict.problems.some(
          ({ file, message }) => file === SET_FILES.dump && message.includes(FOREIGN_STATEMENT),
        )
          ? ['drop the foreign objects in the service’s database, or move them to another database']
          : []),
      ],
    },
  );
}
