import { existsSync } from 'node:fs';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type AdminContext, type ImportedFile, importRealm } from '../../admin/index.ts';
import { IdkitError, seconds, systemErrorCode } from '../../core/index.ts';
import type { ServiceLog } from '../../http/index.ts';
import type { Unenforceable } from '../service.ts';
import { DONE, type RealmFiles, readRealmFiles } from './read-realm-files.ts';

/** What a start imported. */
export interface ImportedRealms {
  realms: readonly string[];
  unenforced: readonly Unenforceable[];
}

/** How the import directory is read, and what becomes of its files. */
export interface ImportSettings {
  /** Replaces secrets that a file does not hold instead of refusing it. */
  newSecrets: boolean;
  /** Removes imported files instead of moving them to `done/`. */
  remove: boolean;
  /** Called with a line for a person; the log has it too. */
  progress: ((message: string) => void) | undefined;
}

/** Seconds between two lines of progress in the log. */
const PROGRESS = 2;

/** Users whose import takes long enough for a line of progress. */
const MANY = 5000;

/** Seconds that an imported file is known for: as good as for ever. */
const FOR_EVER = 100 * 366 * 86_400;

/** Realm files that were read and found to be new, and how they are imported. */
export interface PendingImport {
  /** No file waits. */
  empty: boolean;
  /**
   * Imports each realm in one transaction and moves its files away.
   *
   * @throws IDKIT_IMPORT that names file, JSON path and what was expected; nothing of that realm is imported
   */
  run(): Promise<ImportedRealms>;
}

/**
 * Reads the realm files of a directory. A file that was imported before and could not be moved (the directory cannot be
 * written, the service was killed, another replica imported a copy) is known by its content, and passed over.
 *
 * @throws IDKIT_IMPORT for a file that is not used, or a realm that exists already
 */
export async function openImport(
  directory: string,
  admin: AdminContext,
  log: ServiceLog,
  settings: ImportSettings,
): Promise<PendingImport> {
  const found = await readRealmFiles(directory, (name) => process.env[name]);
  for (const files of found) await checkNew(directory, admin, files);
  return {
    empty: found.length === 0,
    async run() {
      const realms: string[] = [];
      const unenforced: Unenforceable[] = [];
      for (const files of found) {
        const imported = await importOne(directory, admin, log, files, settings);
        if (imported === undefined) continue;
        realms.push(imported.realm);
        report(log, directory, files, imported);
        for (const { path, what, refuses } of imported.unenforced)
          unenforced.push({ realm: imported.realm, path, what, refuses });
      }
      const names = new Set(found.flatMap(({ files }) => files));
      for (const name of names) await putAway(directory, name, log, settings);
      return { realms, unenforced };
    },
  };
}

/** @throws IDKIT_IMPORT for a realm that exists and did not come from these files */
async function checkNew(directory: string, admin: AdminContext, files: RealmFiles): Promise<void> {
  const { realm, fingerprint } = files;
  if ((await admin.store.findRealm(realm)) === undefined || (await admin.store.isClaimed(fingerprint)))
    return;
  throw new IdkitError(
    'IDKIT_IMPORT',
    `${join(directory, files.files[0]!)} is not used: realm ${realm} exists already`,
    {
      hints: [
        'remove the file from import/, and start again',
        `to add its users, clients, roles and groups to realm ${realm}, send it to POST /admin/realms/${encodeURIComponent(realm)}/partialImport`,
        `to replace realm ${realm}, delete it first: DELETE /admin/realms/${encodeURIComponent(realm)}`,
      ],
    },
  );
}

/** Undefined if the realm is there by now: these files were imported before, or by another replica. */
async function importOne(
  directory: string,
  admin: AdminContext,
  log: ServiceLog,
  files: RealmFiles,
  { newSecrets, progress }: ImportSettings,
): Promise<ImportedFile | undefined> {
  const { realm, representation, fileOf, fingerprint } = files;
  if ((await admin.store.findRealm(realm)) !== undefined) return undefined;
  // Before the realm: a kill between the two must not leave a realm that nobody knows to be imported.
  await admin.store.claimOnce(fingerprint, seconds(admin.clock) + FOR_EVER);
  let last = performance.now();
  try {
    return await importRealm(admin, representation, {
      source: (path) => join(directory, fileOf(path)),
      newSecrets,
      progress: async ({ phase, done, total }) => {
        await setImmediate();
        const now = performance.now();
        // The last phase is one transaction; of few users nothing is worth a line.
        if (total < MANY || (phase !== 'stored' && now - last < PROGRESS * 1000)) return;
        last = now;
        const line = `importing realm ${realm}: ${phase === 'stored' ? `storing ${total} users` : `${phase} ${done} of ${total} users`}`;
        log.info({ realm, phase, done, total }, line);
        progress?.(line);
      },
    });
  } catch (error) {
    if ((await admin.store.findRealm(realm)) !== undefined) return undefined;
    throw error;
  }
}

function report(
  log: ServiceLog,
  directory: string,
  { files, realm }: RealmFiles,
  imported: ImportedFile,
): void {
  const file = join(directory, files[0]!);
  const { users, clients, bare, newSecrets, unenforced } = imported;
  log.info({ file, files: files.length, realm, users, clients }, 'realm imported');
  if (bare)
    log.warn(
      { file, realm },
      `${file} is a bare realm, with neither clients nor users; kc export --dir DIR --realm ${realm} writes a whole one`,
    );
  for (const { path, what } of newSecrets)
    log.warn({ file, realm, path, what }, `a new random secret takes the place of the ${what} at ${path}`);
  for (const { path, what, refuses } of unenforced)
    log.warn(
      { realm, path, what, refuses },
      `realm ${realm}: ${what} ${refuses ? 'is not enforced, and such tokens are refused' : 'is not built yet'}`,
    );
}

/** Readable by its owner alone: a realm file holds password hashes, client secrets and private keys. */
async function putAway(
  directory: string,
  name: string,
  log: ServiceLog,
  { remove }: ImportSettings,
): Promise<void> {
  const file = join(directory, name);
  try {
    if (remove) return await rm(file, { force: true });
    const done = join(directory, DONE);
    await mkdir(done, { recursive: true, mode: 0o700 });
    await chmod(file, 0o600);
    const to = join(done, existsSync(join(done, name)) ? `${Date.now()}-${name}` : name);
    await rename(file, to);
    log.info({ file, movedTo: to }, 'realm file moved');
  } catch (cause) {
    const code = systemErrorCode(cause);
    // Another replica that shares the directory moved it.
    if (code === 'ENOENT') return;
    if (code === undefined) throw cause;
    log.warn({ file, code }, `${file} was imported and cannot be moved: it holds secrets, remove it`);
  }
}
