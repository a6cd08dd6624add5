import { type AdminClient, connectAdmin } from '../../client/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { Component, Platform, StoreStatus } from '../../platform/index.ts';
import { openPlatform } from '../../platform/open.ts';
import type { ListBackupsResult } from '../backups/list.ts';
import { listBackups } from '../backups/list.ts';
import { checkDefined, checkPlatform } from '../platform.ts';
import type { Finding, ProcedureOptions } from '../run.ts';
import { call, parseObject } from '../smoke/call.ts';
import { healthUrl } from '../smoke/check-readiness.ts';
import { findRenewals, judgeRenewals } from './find-renewals.ts';
import { judgeWildcards } from './find-wildcards.ts';
import { readRealms } from './read-realms.ts';
import type { StatusReport } from './report.ts';

/** Timeout of one call in milliseconds. A hanging service must not delay the screen. */
const TIMEOUT = 5_000;

/** Reports the state of the platform. Values that are unknown are absent. */
export async function status(settings: Settings, options: ProcedureOptions): Promise<StatusReport> {
  await checkPlatform(settings);
  await checkDefined(settings);
  const platform = await openPlatform(settings);
  const description = platform.info();
  const { baseUrl, parts, findings: faults } = await findParts(platform);
  const health = await fetchHealth(settings, baseUrl, options);
  const { unenforced, migrations } = await readStore(platform, options);
  const known = baseUrl === undefined ? [] : await fetchRealms(settings, baseUrl, options);
  const renewals =
    baseUrl === undefined ? new Map() : await findRenewals(settings, baseUrl, options, TIMEOUT);
  const realms = joinRealms(known, unenforced).map((row) => {
    const figures = renewals.get(row.realm);
    return figures === undefined ? row : { ...row, renewals: figures };
  });
  const { sets, findings } = await findBackups(settings, options);
  const lastBackup = sets.findLast(({ whole, future }) => whole && !future);
  const lastVerify = sets
    .flatMap(({ name, verified }) => (verified === undefined ? [] : [{ name, ...verified }]))
    .toSorted((one, other) => (one.at < other.at ? -1 : 1))
    .at(-1);
  const keySource = settings.sources['IDKIT_MASTER_KEY'];
  return {
    dir: settings.dir,
    runtime: description.runtime,
    service: {
      kind: description.service,
      version: (await platform.service.readVersion()) ?? description.serviceVersion,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...health,
    },
    database: { kind: description.database, location: description.databaseLocation },
    ...(parts.length === 0 ? {} : { parts }),
    migrations,
    realms,
    ...(lastBackup === undefined
      ? {}
      : {
          lastBackup: {
            name: lastBackup.name,
            ageSeconds: lastBackup.ageSeconds,
            bytes: lastBackup.bytes,
            sealed: lastBackup.sealed,
          },
        }),
    ...(lastVerify === undefined
      ? {}
      : { lastVerify: { name: lastVerify.name, at: lastVerify.at, verdict: lastVerify.verdict } }),
    masterKey: {
      set: settings.masterKey !== undefined,
      ...(settings.masterKey === undefined || keySource === undefined ? {} : { source: keySource }),
      rotationUnfinished: settings.masterKeyOld !== undefined,
    },
    findings: [...faults, ...findings, ...judgeRenewals(realms), ...judgeWildcards(realms)],
  };
}

/**
 * Lists the backup sets. An unreadable backup root is a finding, so that it does not hide the other values of the
 * report.
 */
async function findBackups(
  settings: Settings,
  { clock }: ProcedureOptions,
): Promise<Pick<ListBackupsResult, 'sets' | 'findings'>> {
  try {
    return await listBackups(settings, { clock });
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    return { sets: [], findings: [{ code: 'BACKUPS_UNREADABLE', message: error.message }] };
  }
}

/**
 * Reads the settings of realms that idkit does not enforce, and the background migrations. If the database is
 * unreadable, returns none and adds a note.
 */
async function readStore(platform: Platform, options: ProcedureOptions): Promise<StoreStatus> {
  try {
    return await platform.database.readStatus();
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    options.reporter.note(
      `idkit could not check the realms for settings that it does not enforce: ${error.message}`,
    );
    return { unenforced: [], migrations: [] };
  }
}

/** Adds the unenforced settings to each realm. They come from the database, so they are known without a service. */
function joinRealms(
  known: StatusReport['realms'],
  demands: StoreStatus['unenforced'],
): StatusReport['realms'] {
  const missing = new Set(demands.map(({ realm }) => realm));
  for (const { realm } of known) missing.delete(realm);
  const all = [
    ...known,
    ...[...missing].map((realm) => ({ realm, keys: [], wildcards: [], unenforced: [] })),
  ];
  return all.map((row) => ({
    ...row,
    unenforced: demands
      .filter(({ realm }) => realm === row.realm)
      .map(
        ({ path, what, refuses }) => `${path}: ${what}${refuses ? ' (affected logins are rejected)' : ''}`,
      ),
  }));
}

async function fetchHealth(
  settings: Settings,
  baseUrl: string | undefined,
  options: ProcedureOptions,
): Promise<{ health: 'UP' | 'DOWN' | 'stopped'; detail?: string }> {
  if (baseUrl === undefined) return { health: 'stopped' };
  try {
    const url = await healthUrl(settings, baseUrl, undefined);
    const answer = await call(`${url}/health/ready`, {
      signal: options.signal,
      timeoutMilliseconds: TIMEOUT,
    });
    return { health: parseObject(answer, '/health/ready')['status'] === 'UP' ? 'UP' : 'DOWN' };
  } catch (error) {
    return { health: 'DOWN', detail: error instanceof Error ? error.message : String(error) };
  }
}

async function fetchRealms(
  settings: Settings,
  baseUrl: string,
  options: ProcedureOptions,
): Promise<StatusReport['realms']> {
  const { username, password } = settings.administrator;
  if (password === undefined) {
    options.reporter.note('IDKIT_ADMIN_PASSWORD is not set, so the realms are unknown');
    return [];
  }
  let admin: AdminClient | undefined;
  try {
    admin = await connectAdmin({
      baseUrl,
      username,
      password,
      signal: options.signal,
      timeoutMilliseconds: TIMEOUT,
    });
    return await readRealms(admin, options.clock.now());
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    options.reporter.note(`the realms are unknown: ${error.message}`);
    return [];
  } finally {
    await admin?.logout().catch(() => undefined);
  }
}

interface FoundParts {
  baseUrl?: string;
  parts: readonly Component[];
  findings: readonly Finding[];
}

/** A part with at least this many restarts by the engine is a finding. A reboot causes one restart. */
const MANY_RESTARTS = 3;

/** Returns the base URL and the parts. If the engine does not respond, returns a finding instead. */
async function findParts(platform: Platform): Promise<FoundParts> {
  try {
    const baseUrl = await platform.service.baseUrl();
    const parts = await platform.service.listComponents();
    return { ...(baseUrl === undefined ? {} : { baseUrl }), parts, findings: parts.flatMap(judgePart) };
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    return { parts: [], findings: [{ code: 'PARTS_UNKNOWN', message: error.message }] };
  }
}

function judgePart({ name, health, restarts, detail }: Component): readonly Finding[] {
  const findings: Finding[] = [];
  if (health === 'DOWN')
    findings.push({ code: 'PART_DOWN', message: `${name} is not up: ${detail ?? 'the reason is unknown'}` });
  if (restarts >= MANY_RESTARTS)
    findings.push({
      code: 'PART_RESTARTS',
      message: `the engine restarted ${name} ${restarts} times`,
    });
  return findings;
}
