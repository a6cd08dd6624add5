import { type DumpSurvey, type PrivateKeys, type SealState, surveyDump } from '../../backupset/index.ts';
import type { Secret } from '../../core/index.ts';
import { beginRun, type ProcedureOptions } from '../run.ts';
import { dumpProgress, inspectSet } from './open-set.ts';

/** The step of `backups show`, for progress and logs. */
export const SHOW_STEPS = [
  {
    id: 'read',
    title: 'Read the dump',
    why: 'the numbers come from the rows themselves, not from the manifest',
  },
] as const;

export interface ShowSetOptions extends ProcedureOptions {
  /** The directory of the set. */
  set: string;
  /** Also checks the seal. */
  passphrase?: Secret;
  /** Decrypts sets that are encrypted to public keys. */
  privateKeys?: PrivateKeys;
}

/** What `backups show` reports about a set. It contains no secrets. */
export interface ShownSet extends Omit<DumpSurvey, 'report'> {
  name: string;
  dir: string;
  seal: SealState;
  /** Absent without a manifest. */
  startedAt?: string;
  versions: {
    /** The idkit that made the set. */
    idkit?: string;
    /** `idkit` or `keycloak`, with the version of the service. */
    service?: string;
    database: 'sqlite' | 'postgres';
    databaseVersion?: string;
    /** The schema of idkit, or the version of Keycloak that last migrated the database. */
    schema?: number | string;
  };
  /** The size of the SQL in bytes. */
  sqlBytes: number;
}

/** Reads a set as a stream, without a database, in bounded memory. @throws IDKIT_NOT_FOUND, IDKIT_DAMAGED */
export async function showSet(options: ShowSetOptions): Promise<ShownSet> {
  const { reporter, signal } = options;
  const { set, seal, manifest } = await inspectSet(options.set, options);
  const run = beginRun(SHOW_STEPS, options);
  const { report, ...survey } = await run.step('read', () =>
    surveyDump(set, { signal, onProgress: dumpProgress(reporter, 'read') }),
  );
  if (report.postgres?.unread === true)
    reporter.note('the dump was written with --inserts, and idkit does not read the rows of such a dump');
  const keycloak = report.postgres?.keycloakVersion;
  const schema = keycloak ?? (report.schemaVersion === undefined ? undefined : report.schemaVersion);
  const databaseVersion = manifest?.database?.version ?? report.postgres?.serverVersion;
  return {
    name: set.name,
    dir: set.dir,
    seal,
    ...(manifest === undefined ? {} : { startedAt: manifest.startedAt }),
    versions: {
      ...(manifest === undefined
        ? {}
        : {
            idkit: manifest.idkitVersion,
            service: `${manifest.service.kind} ${manifest.service.version}`,
          }),
      ...(manifest === undefined && keycloak !== undefined ? { service: `keycloak ${keycloak}` } : {}),
      database: report.kind,
      ...(databaseVersion === undefined ? {} : { databaseVersion }),
      ...(schema === undefined ? {} : { schema }),
    },
    sqlBytes: report.bytes,
    ...survey,
  };
}
