import { IdkitError, seconds } from '../../core/index.ts';
import type { Unenforced } from '../../model/index.ts';
import type { AdminContext, Progress } from '../call/context.ts';
import { type ImportedFile, importRealm } from './import-realm.ts';
import type { Environment } from './placeholders.ts';
import { type RealmDirectory, type RealmFiles, readRealmFiles } from './realm-files.ts';

/** A demand of an imported realm that the service does not enforce. */
export type Unenforceable = { realm: string } & Pick<Unenforced, 'path' | 'what' | 'refuses'>;

/** The realms that the service imported at this start. */
export interface ImportedRealms {
  realms: readonly string[];
  unenforced: readonly Unenforceable[];
}

/** The log to which an import reports its results. */
export interface ImportLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface ImportSettings {
  /** Whether to generate the secrets that a file does not contain. If false, the file is rejected. */
  newSecrets: boolean;
  /** Values of the placeholders in the files. */
  environment: Environment;
  log: ImportLog;
  /** Receives every progress report, to show it on a terminal. */
  progress: ((state: ImportProgress) => void) | undefined;
}

/** How far the import of one realm has come, counted in users. */
export interface ImportProgress {
  realm: string;
  /** The users are checked, then prepared, then stored in one transaction, which ends with `imported`. */
  phase: 'checked' | 'prepared' | 'stored' | 'imported';
  done: number;
  total: number;
}

/** Interval of the progress lines in seconds. */
const PROGRESS = 2;

/** Minimum number of users for progress lines. Smaller imports take only a few seconds. */
const MANY = 5000;

/** Duration in seconds for which the store remembers an imported file: a hundred years. */
const FOR_EVER = 100 * 366 * 86_400;

/** Realm files that have been read but not imported yet. */
export interface PendingImport {
  empty: boolean;
  /**
   * Imports each realm in one transaction, then moves or removes its files.
   *
   * @throws IDKIT_IMPORT that names the file, the JSON path and the expected value; nothing of that realm is stored
   */
  run(): Promise<ImportedRealms>;
}

/**
 * Reads the realm files of a directory. Skips a file whose content was imported before. Such a file remains in the
 * directory if the directory is read-only, if the service was killed, or if another replica imported a copy.
 *
 * @throws IDKIT_IMPORT if a file cannot be used or its realm exists already
 */
export async function openImport(
  directory: RealmDirectory,
  admin: AdminContext,
  settings: ImportSettings,
): Promise<PendingImport> {
  const pending = await readRealmFiles(directory, settings.environment);
  for (const files of pending) await checkNew(directory, admin, files);
  return {
    empty: pending.length === 0,
    async run() {
      const realms: string[] = [];
      const unenforced: Unenforceable[] = [];
      for (const files of pending) {
        const imported = await importOne(admin, files, settings);
        if (imported === undefined) continue;
        realms.push(imported.realm);
        report(settings.log, directory, files, imported);
        for (const { path, what, refuses } of imported.unenforced)
          unenforced.push({ realm: imported.realm, path, what, refuses });
      }
      for (const name of new Set(pending.flatMap(({ files }) => files))) await directory.putAway(name);
      return { realms, unenforced };
    },
  };
}

/** @throws IDKIT_IMPORT if the realm exists and did not come from these files */
async function checkNew(directory: RealmDirectory, admin: AdminContext, files: RealmFiles): Promise<void> {
  const { realm, fingerprint } = files;
  if (!(await admin.store.hasRealm(realm)) || (await admin.store.isClaimed(fingerprint))) return;
  throw new IdkitError(
    'IDKIT_IMPORT',
    `${directory.pathOf(files.files[0] ?? '')} is not used: realm ${realm} exists already`,
    {
      hints: [
        'remove the file from import/, and start again',
        `to add its users, clients, roles and groups to realm ${realm}, send it to POST /admin/realms/${encodeURIComponent(realm)}/partialImport`,
        `to replace realm ${realm}, delete it first: DELETE /admin/realms/${encodeURIComponent(realm)}`,
      ],
    },
  );
}

/**
 * Imports one realm. Returns undefined if the realm already exists, because an earlier start or another replica
 * imported these files.
 */
async function importOne(
  admin: AdminContext,
  { realm, representation, fileOf, fingerprint }: RealmFiles,
  { newSecrets, log, progress }: ImportSettings,
): Promise<ImportedFile | undefined> {
  if (await admin.store.hasRealm(realm)) return undefined;
  // Claim the fingerprint before storing the realm. In the reverse order, a process that is killed in between would
  // leave a realm that is not recorded as imported.
  await admin.store.claimOnce(fingerprint, seconds(admin.clock) + FOR_EVER);
  try {
    const imported = await importRealm(admin, representation, {
      source: fileOf,
      newSecrets,
      progress: reportProgress(realm, log, progress),
    });
    progress?.({ realm, phase: 'imported', done: imported.users, total: imported.users });
    return imported;
  } catch (error) {
    if (await admin.store.hasRealm(realm)) return undefined;
    throw error;
  }
}

/** Lets other work run between two steps of the import, and reports large imports every few seconds. */
function reportProgress(realm: string, log: ImportLog, progress: ImportSettings['progress']): Progress {
  let last = performance.now();
  return async ({ phase, done, total }) => {
    progress?.({ realm, phase, done, total });
    await new Promise((resolve) => setImmediate(resolve));
    const now = performance.now();
    // The last phase is a single transaction and reports its progress only once, so this line is always written.
    if (total < MANY || (phase !== 'stored' && now - last < PROGRESS * 1000)) return;
    last = now;
    const state = phase === 'stored' ? `storing ${total} users` : `${phase} ${done} of ${total} users`;
    const line = `importing realm ${realm}: ${state}`;
    log.info({ realm, phase, done, total }, line);
  };
}

function report(
  log: ImportLog,
  directory: RealmDirectory,
  { files, realm }: RealmFiles,
  imported: ImportedFile,
): void {
  const file = directory.pathOf(files[0] ?? '');
  const { users, clients, bare, newSecrets, unenforced } = imported;
  log.info({ file, files: files.length, realm, users, clients }, 'realm imported');
  if (bare)
    log.warn(
      { file, realm },
      `${file} contains neither clients nor users; kc export --dir DIR --realm ${realm} exports a complete realm`,
    );
  for (const { path, what } of newSecrets)
    log.warn(
      { file, realm, path, what },
      `idkit generated a new random secret to replace the ${what} at ${path}`,
    );
  for (const { path, what, refuses } of unenforced)
    log.warn(
      { realm, path, what, refuses },
      refuses
        ? `idkit does not enforce a demand of realm ${realm}, so it rejects the affected logins: ${what}`
        : `realm ${realm} uses a feature that idkit does not support yet: ${what}`,
    );
}
