import type { Settings } from '../../config/index.ts';
import type { StoreStatus } from '../../platform/index.ts';
import { openPlatform } from '../../platform/open.ts';
import { checkDefined, checkPlatform } from '../platform.ts';
import type { ProcedureOptions } from '../run.ts';
import { listJobs } from '../schedule/run/overview.ts';
import { findArchive } from './find-archive.ts';
import { findCertificates, judgeCertificates } from './find-certificates.ts';
import { findDisks, judgeDisks } from './find-disk.ts';
import { findMetrics } from './find-metrics.ts';
import { findSchedule, judgeJobs, judgeSchedule } from './find-schedule.ts';
import { type Judgement, settle, warning } from './judge.ts';
import { type BackupFacts, findLastVerify, findNewest, judgeBackups } from './judge-backups.ts';
import { judgeRealms, judgeRenewals, judgeSweeps } from './judge-realms.ts';
import { findThemes } from './judge-themes.ts';
import {
  judgeRestores,
  readBackups,
  readHealth,
  readKnownRealms,
  readParts,
  readStore,
  TIMEOUT,
} from './read-platform.ts';
import type { StatusReport } from './report.ts';

/**
 * Reports the state of the platform. Values that are unknown are absent, and a warning or finding says why.
 *
 * @throws IDKIT_DIRECTORY_MISSING, IDKIT_SETTING
 */
export async function status(settings: Settings, options: ProcedureOptions): Promise<StatusReport> {
  await checkPlatform(settings);
  await checkDefined(settings);
  const now = options.clock.now();
  const platform = await openPlatform(settings);
  const description = platform.info();
  const parts = await readParts(platform);
  const { baseUrl } = parts.value;
  const health = await readHealth(settings, baseUrl, options);
  const store = await readStore(platform);
  const isServing = baseUrl !== undefined && health.value.health === 'UP';
  const known = isServing ? await readKnownRealms(settings, baseUrl, options) : { value: [], judgements: [] };
  const metrics = isServing ? await findMetrics(settings, baseUrl, options, TIMEOUT) : undefined;
  const realms = joinRealms(known.value, store.value.unenforced, metrics?.renewals);
  const backups = await readBackups(settings, options);
  const newest = findNewest(backups.value.sets);
  const disks = await findDisks(settings, platform, newest);
  const certificates = await findCertificates(settings, [baseUrl, settings.baseUrl], {
    timeoutMilliseconds: TIMEOUT,
    note: (message) => options.reporter.note(message),
  });
  const archive = await findArchive(settings, now);
  const schedule = await findSchedule(settings, now);
  const jobs = await listJobs(settings, now);
  const themes = await findThemes(settings);
  const judgements = [
    ...health.judgements,
    ...parts.judgements,
    ...store.judgements,
    ...known.judgements,
    ...backups.judgements,
    ...(backups.judgements.length === 0 ? judgeBackups(backups.value, settings, now) : []),
    ...archive.judgements,
    ...judgeSchedule(schedule),
    ...judgeJobs(jobs),
    ...(await judgeRestores(settings)),
    ...judgeDisks(disks),
    ...judgeCertificates(certificates, now),
    ...judgeMasterKey(settings),
    ...judgeRealms(realms, now),
    ...judgeRenewals(realms),
    ...judgeSweeps(metrics?.overdue ?? new Map()),
    ...themes.judgements,
  ];
  const sessions = addSessions(store.value, realms);
  return {
    dir: settings.dir,
    runtime: description.runtime,
    service: {
      kind: description.service,
      version: (await platform.service.readVersion()) ?? description.serviceVersion,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...health.value,
    },
    database: {
      kind: description.database,
      location: description.databaseLocation,
      ...(store.value.figures === undefined ? {} : { bytes: store.value.figures.databaseBytes }),
    },
    ...(parts.value.parts.length === 0 ? {} : { parts: parts.value.parts }),
    migrations: store.value.migrations,
    ...(sessions === undefined ? {} : { sessions }),
    realms,
    ...describeBackups(backups.value),
    ...(archive.value === undefined ? {} : { archive: archive.value }),
    schedule,
    jobs,
    themes: themes.value.map(({ name, usable }) => ({ name, usable })),
    disks: disks.disks,
    certificates: certificates.map(({ place, expiresAt }) => ({ place, expiresAt })),
    masterKey: describeMasterKey(settings),
    ...settle(judgements, settings.status.accept),
  };
}

/**
 * Adds the unenforced settings and the refreshes to each realm. The settings come from the database, so they are known
 * without a service.
 */
function joinRealms(
  known: StatusReport['realms'],
  demands: StoreStatus['unenforced'],
  renewals: ReadonlyMap<string, { good: number; failed: number }> | undefined,
): StatusReport['realms'] {
  const missing = new Set(demands.map(({ realm }) => realm));
  for (const { realm } of known) missing.delete(realm);
  const all = [
    ...known,
    ...[...missing].map((realm) => ({ realm, keys: [], wildcards: [], unenforced: [] })),
  ];
  return all.map((row) => {
    const figures = renewals?.get(row.realm);
    return {
      ...row,
      ...(figures === undefined ? {} : { renewals: figures }),
      unenforced: demands
        .filter(({ realm }) => realm === row.realm)
        .map(
          ({ path, what, refuses }) => `${path}: ${what}${refuses ? ' (affected logins are rejected)' : ''}`,
        ),
    };
  });
}

/** idkit counts user sessions in its database, Keycloak counts client sessions by realm. */
function addSessions(
  { figures }: StoreStatus,
  realms: StatusReport['realms'],
): StatusReport['sessions'] | undefined {
  if (figures !== undefined)
    return { kind: 'user', online: figures.userSessions, offline: figures.offlineSessions };
  const counted = realms.flatMap(({ clientSessions }) => clientSessions ?? []);
  if (counted.length === 0) return undefined;
  return {
    kind: 'client',
    online: counted.reduce((sum, { active }) => sum + active, 0),
    offline: counted.reduce((sum, { offline }) => sum + offline, 0),
  };
}

function describeBackups(facts: BackupFacts): Pick<StatusReport, 'lastBackup' | 'lastVerify' | 'lastDrill'> {
  const newest = findNewest(facts.sets);
  const lastVerify = findLastVerify(facts);
  const drill = facts.runs.get('drill');
  return {
    ...(newest === undefined
      ? {}
      : {
          lastBackup: {
            name: newest.name,
            ageSeconds: newest.ageSeconds,
            bytes: newest.bytes,
            sealed: newest.sealed,
          },
        }),
    ...(lastVerify === undefined ? {} : { lastVerify }),
    ...(drill === undefined
      ? {}
      : { lastDrill: { name: drill.set ?? 'unknown', at: drill.at, outcome: drill.outcome } }),
  };
}

function describeMasterKey({ masterKey, masterKeyOld, sources }: Settings): StatusReport['masterKey'] {
  const source = sources['IDKIT_MASTER_KEY'];
  return {
    set: masterKey !== undefined,
    ...(masterKey === undefined || source === undefined ? {} : { source }),
    rotationUnfinished: masterKeyOld !== undefined,
  };
}

function judgeMasterKey({ masterKeyOld }: Settings): readonly Judgement[] {
  if (masterKeyOld === undefined) return [];
  return [
    warning(
      'MASTER_KEY_ROTATION_UNFINISHED',
      'IDKIT_MASTER_KEY_OLD is set, so a rotation of the master key is unfinished; stop the service and run idkit master-key rotate',
    ),
  ];
}
