import { type ManifestRealm, numberedRealmFile, realmFileName } from '../../backupset/index.ts';
import { type AdminClient, connectAdmin } from '../../client/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { DumpSummary } from '../../platform/index.ts';
import { findServiceUrl } from '../../platform/open.ts';
import type { Reporter } from '../run.ts';
import { call } from '../smoke/call.ts';
import type { BackupWork, RealmFiles } from './work.ts';

/** A realm from the administrative API or from the snapshot. */
interface FetchedRealm {
  realm: string;
  representation: unknown;
}

/**
 * Writes `realm-<realm>.json` for each configured realm. The source is the administrative API, or the snapshot of the
 * dump if the service is stopped. Keycloak has no snapshot: if it rejects the administrator, the function adds a
 * finding and returns undefined.
 *
 * @throws IDKIT_UNREACHABLE if Keycloak does not respond; IDKIT_CREDENTIALS if the set has no other part
 */
export async function fetchRealms(
  work: BackupWork,
  dump: DumpSummary | undefined,
): Promise<RealmFiles | undefined> {
  const from = await fetchFromSource(work, dump);
  if (from === undefined) return undefined;
  const { source, fetched } = from;
  const wanted = work.settings.realms;
  const chosen =
    wanted.length === 0 ? fetched : wanted.flatMap((name) => fetched.filter(({ realm }) => realm === name));
  for (const name of wanted) {
    if (fetched.some(({ realm }) => realm === name)) continue;
    work.run.finding(
      'REALM_MISSING',
      `the configured realm ${name} does not exist, so the set has no file for it`,
    );
  }
  noteChanges(work, dump, fetched);
  if (work.settings.service === 'keycloak') noteMissingParts(chosen, work.options.reporter);
  const realms: (ManifestRealm & { file: string })[] = [];
  for (const { realm, representation } of chosen) {
    // The names of realms are as secret as the content of an encrypted set.
    const isEncrypted = work.writer.encryption !== undefined;
    const file = isEncrypted ? numberedRealmFile(realms.length + 1) : realmFileName(realm);
    await work.writer.putFile(file, `${JSON.stringify(representation, null, 2)}\n`);
    const users = dump?.realms.find((counted) => counted.realm === realm)?.users;
    realms.push({ realm, file, ...(users === undefined ? {} : { users }) });
  }
  return { source, realms };
}

async function fetchFromSource(
  work: BackupWork,
  dump: DumpSummary | undefined,
): Promise<{ source: RealmFiles['source']; fetched: readonly FetchedRealm[] } | undefined> {
  const { settings, options, platform, run, parts } = work;
  const address = await findAddress(work);
  if (address !== undefined) {
    try {
      return { source: 'api', fetched: await fetchOverHttp(work, address) };
    } catch (error) {
      const isRefused = error instanceof IdkitError && error.code === 'IDKIT_CREDENTIALS';
      const goesWithout = isRefused && settings.service === 'keycloak' && parts.length > 1;
      if (!goesWithout && !(await mayReadSnapshot(work, error))) throw error;
      if (isRefused) {
        const consequence = goesWithout
          ? 'the set has no realm files'
          : 'the realm files come from the snapshot';
        run.finding(
          'ADMINISTRATOR_REFUSED',
          `the service rejects the administrator from .env, so ${consequence} and a restored service cannot be checked: ${error.message}`,
        );
      }
      if (goesWithout) return undefined;
    }
  }
  if (dump === undefined) await platform.database.dump(async () => undefined, { signal: options.signal });
  return { source: 'snapshot', fetched: await platform.database.readSnapshot() };
}

/**
 * Returns the base URL from the flag or from the record of the running service. Without a record, idkit's service is
 * not running, and no other program may receive the administrator's password. Keycloak writes no record, so its URL
 * comes from the settings.
 */
async function findAddress(
  work: Pick<BackupWork, 'settings' | 'platform' | 'options'>,
): Promise<string | undefined> {
  const { settings, options, platform } = work;
  if (options.baseUrl !== undefined) return options.baseUrl.replace(/\/+$/, '');
  return settings.service === 'keycloak'
    ? findServiceUrl(settings, platform.service)
    : platform.service.baseUrl();
}

/**
 * Checks that the service responds before anything is dumped, because the dump of a large database takes minutes.
 *
 * @throws IDKIT_UNREACHABLE, IDKIT_SETTING if the settings do not name Keycloak's database
 */
export async function checkServiceResponds(
  work: Pick<BackupWork, 'settings' | 'platform' | 'options' | 'parts'>,
): Promise<void> {
  const { settings, options, parts } = work;
  if (settings.service === 'keycloak' && settings.database.kind !== 'postgres')
    throw new IdkitError(
      'IDKIT_SETTING',
      'the service is Keycloak, but the setting database does not name a Postgres database',
      {
        hints: ['set database in idkit.yaml: postgres://USER@HOST/NAME'],
      },
    );
  if (settings.service !== 'keycloak' && !parts.includes('realms')) return;
  const address = await findAddress(work);
  if (address === undefined) return;
  try {
    await call(`${address}/realms/master`, { signal: options.signal, timeoutMilliseconds: 10_000 });
  } catch (error) {
    if (!(await mayReadSnapshot(work, error))) throw error;
  }
}

/**
 * True if the snapshot can replace the service: idkit's own service rejects the login or has stopped in the meantime.
 */
async function mayReadSnapshot(
  work: Pick<BackupWork, 'settings' | 'platform' | 'options'>,
  error: unknown,
): Promise<boolean> {
  if (work.settings.service === 'keycloak' || !(error instanceof IdkitError)) return false;
  if (error.code === 'IDKIT_CREDENTIALS') return true;
  if (error.code !== 'IDKIT_UNREACHABLE' || work.options.baseUrl !== undefined) return false;
  return (await work.platform.service.baseUrl()) === undefined;
}

async function fetchOverHttp(work: BackupWork, baseUrl: string): Promise<readonly FetchedRealm[]> {
  const { settings, options } = work;
  const { username, password } = settings.administrator;
  if (password === undefined) {
    throw new IdkitError('IDKIT_CREDENTIALS', 'IDKIT_ADMIN_PASSWORD is not set', {
      hints: ['set it in .env of the platform directory', 'idkit recover-admin sets a new password'],
    });
  }
  const admin = await connectAdmin({ baseUrl, username, password, signal: options.signal });
  try {
    const fetched: FetchedRealm[] = [];
    const realms = await admin.listRealms();
    for (const [index, { realm }] of realms.entries()) {
      work.run.progress('realms', 'items')(index, realms.length);
      const representation = await findRealm(admin, realm);
      if (representation === undefined)
        options.reporter.note(`the realm ${realm} was removed during the backup`);
      else fetched.push({ realm, representation });
    }
    return fetched;
  } finally {
    await admin.logout().catch(() => undefined);
  }
}

async function findRealm(admin: AdminClient, realm: string): Promise<unknown> {
  try {
    const representation = await admin.getRealm(realm);
    if (representation.realm === realm) return representation;
    throw new IdkitError('IDKIT_FAILED', `the service returned a realm other than ${realm}`);
  } catch (error) {
    if (error instanceof IdkitError && error.code === 'IDKIT_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Adds a note for each realm that only the snapshot or only the service has. Such a difference is not damage. */
function noteChanges(
  work: BackupWork,
  dump: DumpSummary | undefined,
  fetched: readonly FetchedRealm[],
): void {
  if (dump === undefined) return;
  const { note } = work.options.reporter;
  const dumped = dump.realms.map(({ realm }) => realm);
  const served = fetched.map(({ realm }) => realm);
  for (const realm of served.filter((name) => !dumped.includes(name))) {
    note(`the realm ${realm} was created after the snapshot; the dump does not contain it`);
  }
  for (const realm of dumped.filter((name) => !served.includes(name))) {
    note(`the realm ${realm} was removed after the snapshot; only the dump contains it`);
  }
}

/** Keycloak writes this mask instead of a secret. */
const MASK = '**********';

/**
 * Adds notes about what Keycloak omits from the realm files, because they are not a complete copy of the realms. The
 * dump contains everything.
 */
function noteMissingParts(
  realms: readonly { realm: string; representation: unknown }[],
  reporter: Reporter,
): void {
  if (realms.length === 0) return;
  reporter.note(
    'the realm files contain no users, clients, roles, groups, flows, identity providers or keys, because Keycloak leaves them out; the database dump contains them',
  );
  for (const { realm, representation } of realms) {
    const masked = listMasked(representation);
    if (masked.length > 0)
      reporter.note(
        `the realm file of ${realm} contains ${MASK} for ${masked.join(', ')}, because Keycloak masks it; the database dump contains the value`,
      );
  }
}

/** Lists the paths of masked values, for example `smtpServer.password`. */
function listMasked(value: unknown, path: readonly string[] = []): readonly string[] {
  if (value === MASK) return [path.join('.')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => listMasked(inner, [...path, name]));
}
