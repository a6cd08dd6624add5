import { findLastRun, KEPT_BACKUPS, type KeptRun, type LastRun } from '../../backupset/index.ts';
import { type AdminClient, connectAdmin } from '../../client/index.ts';
import { platformPaths, type Settings } from '../../config/index.ts';
import { errorMessage, IdkitError, systemErrorCode } from '../../core/index.ts';
import { findEntry } from '../../files/index.ts';
import type { Component, Platform, StoreStatus } from '../../platform/index.ts';
import { listBackups } from '../backups/list.ts';
import { isResponsive } from '../responsive.ts';
import { listJournals } from '../restore/journal.ts';
import type { ProcedureOptions } from '../run.ts';
import { call, parseObject } from '../smoke/call.ts';
import { DoesNotApply } from '../smoke/check.ts';
import { healthUrl } from '../smoke/check-readiness.ts';
import { finding, type Judgement } from './judge.ts';
import type { BackupFacts } from './judge-backups.ts';
import { readRealms } from './read-realms.ts';
import type { StatusReport } from './report.ts';

// Each function of this file reads one side of the platform. A side that does not respond becomes a judgement, so that
// it does not hide the others.

/** Timeout of one call in milliseconds. A hanging service must not delay the screen. */
export const TIMEOUT = 5_000;
/** Timeout in milliseconds for a login, which hashes a password and waits for other logins on a busy machine. */
const PATIENT_TIMEOUT = 20_000;

/** A value that was read, and what is wrong with it. */
export interface Read<T> {
  value: T;
  judgements: readonly Judgement[];
}

/**
 * Runs `read`. If it throws an operator's error, or one of the system or of SQLite, such as on a full disk, returns
 * `otherwise` and its judgement.
 */
async function orJudge<T>(
  read: () => Promise<T>,
  otherwise: T,
  judge: (error: Pick<IdkitError, 'message' | 'hints'> & { code?: IdkitError['code'] }) => Judgement,
): Promise<Read<T>> {
  try {
    return { value: await read(), judgements: [] };
  } catch (error) {
    if (error instanceof IdkitError) return { value: otherwise, judgements: [judge(error)] };
    if (systemErrorCode(error) === undefined) throw error;
    return { value: otherwise, judgements: [judge({ message: errorMessage(error), hints: [] })] };
  }
}

/** Lists the backup sets and the last results of the procedures. */
export function readBackups(
  settings: Settings,
  { clock }: Pick<ProcedureOptions, 'clock'>,
): Promise<Read<BackupFacts>> {
  const { root } = settings.backup;
  const read = async (): Promise<BackupFacts> => {
    if (!(await isResponsive(root)))
      throw new IdkitError('IDKIT_UNREACHABLE', `the file system of ${root} does not respond`);
    const { sets } = await listBackups(settings, { clock });
    const runs = new Map<KeptRun, LastRun>();
    for (const run of [...KEPT_BACKUPS, 'verify', 'drill'] as const) {
      const last = await findLastRun(root, run);
      if (last !== undefined) runs.set(run, last);
    }
    const since = findEntry(root)?.birthtimeMs;
    return { root, sets, runs, ...(since === undefined || since <= 0 ? {} : { rootSince: since }) };
  };
  return orJudge(read, { root, sets: [], runs: new Map() }, ({ message }) =>
    finding(
      'BACKUPS_UNREADABLE',
      `the backups are unknown: ${message}; check the owner and the mount of ${root}`,
    ),
  );
}

/** Reads the demands, the background migrations and the figures of idkit's database, even if no service is running. */
export function readStore(platform: Platform): Promise<Read<StoreStatus>> {
  return orJudge(
    () => platform.database.readStatus(),
    { unenforced: [], migrations: [] },
    ({ message, hints }) =>
      finding(
        'DATABASE_UNREADABLE',
        [`the database cannot be read: ${message}`, ...hints.slice(0, 1)].join('; '),
      ),
  );
}

/** Reads the realms with the administrator of `.env`. */
export function readKnownRealms(
  settings: Settings,
  baseUrl: string,
  { signal, clock }: Pick<ProcedureOptions, 'signal' | 'clock'>,
): Promise<Read<StatusReport['realms']>> {
  const unknown = (why: string, advice = 'check IDKIT_ADMIN_USERNAME and IDKIT_ADMIN_PASSWORD in .env') =>
    finding('REALMS_UNKNOWN', `the keys, events and sessions of the realms are unknown: ${why}; ${advice}`);
  const { username, password } = settings.administrator;
  if (password === undefined)
    return Promise.resolve({ value: [], judgements: [unknown('IDKIT_ADMIN_PASSWORD is not set')] });
  const read = async () => {
    let admin: AdminClient | undefined;
    try {
      admin = await connectAdmin({
        baseUrl,
        username,
        password,
        signal,
        timeoutMilliseconds: PATIENT_TIMEOUT,
      });
      return await readRealms(admin, clock.now(), { countSessions: settings.service === 'keycloak' });
    } finally {
      await admin?.logout().catch(() => undefined);
    }
  };
  return orJudge(read, [], ({ code, message }) => {
    if (code === 'IDKIT_UNREACHABLE') return unknown(message, 'see whether the machine is overloaded');
    // The service accepted the login.
    return code === 'IDKIT_FAILED' ? unknown(message, 'read the log of the service') : unknown(message);
  });
}

type Health = Pick<StatusReport['service'], 'health' | 'detail'>;

/** Asks the service whether it is ready. */
export async function readHealth(
  settings: Settings,
  baseUrl: string | undefined,
  { signal }: Pick<ProcedureOptions, 'signal'>,
): Promise<Read<Health>> {
  if (baseUrl === undefined) {
    const start = settings.runtime === 'compose' ? 'idkit up' : 'idkit serve';
    const message = `the service is not running on this machine; ${settings.service === 'keycloak' ? 'start Keycloak' : `run ${start}`}`;
    return { value: { health: 'stopped' }, judgements: [finding('SERVICE_DOWN', message)] };
  }
  const down = (detail: string): Read<Health> => ({
    value: { health: 'DOWN', detail },
    judgements: [
      finding('SERVICE_DOWN', `the service at ${baseUrl} is not ready: ${detail}; its log says why`),
    ],
  });
  try {
    const url = await readinessUrl(settings, baseUrl);
    const answer = await call(url, { signal, timeoutMilliseconds: TIMEOUT });
    if (answer.status !== 200) return down(`${url} responded with ${answer.status}`);
    if (!url.endsWith('/health/ready')) return { value: { health: 'UP' }, judgements: [] };
    const { status } = parseObject(answer, url);
    return status === 'UP'
      ? { value: { health: 'UP' }, judgements: [] }
      : down(`${url} reports ${String(status)}`);
  } catch (error) {
    return down(error instanceof Error ? error.message : String(error));
  }
}

/** Without a known management listener, Keycloak serves no health, so the key set of a realm shows that it responds. */
async function readinessUrl(settings: Settings, baseUrl: string): Promise<string> {
  try {
    return `${await healthUrl(settings, baseUrl, undefined)}/health/ready`;
  } catch (error) {
    if (!(error instanceof DoesNotApply)) throw error;
    return `${baseUrl}/realms/master/protocol/openid-connect/certs`;
  }
}

export interface FoundParts {
  baseUrl?: string;
  parts: readonly Component[];
}

/** A part with at least this many restarts by the engine is a finding. A reboot causes one restart. */
const MANY_RESTARTS = 3;

/** Returns the base URL and the parts. */
export async function readParts(platform: Platform): Promise<Read<FoundParts>> {
  const read = async (): Promise<FoundParts> => {
    const baseUrl = await platform.service.baseUrl();
    const parts = await platform.service.listComponents();
    return { ...(baseUrl === undefined ? {} : { baseUrl }), parts };
  };
  const { value, judgements } = await orJudge(read, { parts: [] }, ({ message }) =>
    finding('PARTS_UNKNOWN', message),
  );
  return { value, judgements: [...judgements, ...value.parts.flatMap(judgePart)] };
}

function judgePart({ name, health, restarts, detail }: Component): readonly Judgement[] {
  const judgements: Judgement[] = [];
  if (health === 'DOWN') {
    const reason = detail ?? 'the reason is unknown';
    const advice = reason.includes('idkit up') ? '' : '; run idkit up';
    judgements.push(finding('PART_DOWN', `${name} is not up: ${reason}${advice}`));
  }
  if (restarts >= MANY_RESTARTS)
    judgements.push(
      finding('PART_RESTARTS', `the engine restarted ${name} ${restarts} times; its log says why`),
    );
  return judgements;
}

/** Judges restores that were interrupted. */
export async function judgeRestores({ dir }: Settings): Promise<readonly Judgement[]> {
  const message =
    'a restore is running or was interrupted; if it was interrupted, run idkit restore --resume or idkit restore --abort';
  const { value, judgements } = await orJudge(
    () => listJournals(platformPaths(dir).data),
    [],
    (error) => finding('RESTORE_UNFINISHED', `${message}: ${error.message}`),
  );
  const open = value.filter(({ state }) => state !== 'kept' && state !== 'done');
  return [
    ...judgements,
    ...open.map(({ id, set, startedAt }) =>
      finding('RESTORE_UNFINISHED', `${message} (restore ${id} of ${set}, begun ${startedAt})`),
    ),
  ];
}
