import { renderCount } from '../../core/index.ts';
import type { StatusReport } from '../../procedures/index.ts';
import { renderAge, renderBytes, renderNumber } from './render-units.ts';

type Pair = [name: string, value: unknown];

/** Returns the names and values of `idkit status`. @param now Unix time in milliseconds */
export function describeStatus(report: StatusReport, now: number): readonly Pair[] {
  return [
    ...renderService(report),
    ...renderBackups(report, now),
    ...report.migrations.map(
      ({ name, handled, left }): Pair => ['migration', `${name}: ${renderShare(handled, left)}`],
    ),
    ...(report.parts ?? []).map(
      ({ name, state, health, restarts, image }): Pair => [
        name,
        `${state}, ${health}, ${renderCount(restarts, 'restart')}, ${image}`,
      ],
    ),
    ['themes', renderThemes(report)],
    ...report.realms.flatMap(renderRealm),
    ['result', renderResult(report)],
  ];
}

/** Renders the findings and warnings, for a screen without a stream for errors. */
export function renderJudgements({ findings, warnings }: StatusReport): readonly string[] {
  return [
    ...findings.map(({ code, message }) => `finding: ${code}: ${message}`),
    ...warnings.map(({ code, message }) => `warning: ${code}: ${message}`),
  ];
}

function renderService(report: StatusReport): readonly Pair[] {
  const { service, database, masterKey, sessions } = report;
  const health = service.detail === undefined ? service.health : `${service.health} (${service.detail})`;
  const key = masterKey.set ? `set (${masterKey.source ?? 'unknown'})` : 'not set';
  const size = database.bytes === undefined ? '' : `, ${renderBytes(database.bytes)}`;
  return [
    ['directory', report.dir],
    ['platform', report.runtime],
    ['service', `${service.kind} ${service.version}`],
    ['address', service.baseUrl],
    ['health', health],
    ['database', `${database.kind} ${database.location}${size}`],
    [
      'sessions',
      sessions === undefined
        ? undefined
        : `${renderNumber(sessions.online)} ${sessions.kind} sessions, ${renderNumber(sessions.offline)} offline`,
    ],
    // Keycloak does not use idkit's master key.
    ...(service.kind === 'keycloak'
      ? []
      : [['master key', masterKey.rotationUnfinished ? `${key}; a rotation is unfinished` : key] as Pair]),
    ...report.certificates.map(
      ({ place, expiresAt }): Pair => ['certificate', `${place} until ${expiresAt.slice(0, 10)}`],
    ),
  ];
}

function renderBackups(report: StatusReport, now: number): readonly Pair[] {
  const { lastBackup, lastVerify, lastDrill, schedule, disks } = report;
  const ago = (at: string) => {
    const seconds = (now - Date.parse(at)) / 1000;
    return seconds < 0 ? `${renderAge(-seconds)} ahead of the clock` : `${renderAge(seconds)} ago`;
  };
  const restore = disks.find(({ purpose }) => purpose === 'restore');
  return [
    [
      'last backup',
      lastBackup === undefined
        ? 'none'
        : `${lastBackup.name}, ${renderAge(lastBackup.ageSeconds)} old, ${renderBytes(lastBackup.bytes)}${lastBackup.sealed ? '' : ', unsealed'}`,
    ],
    [
      'last verify',
      lastVerify === undefined
        ? 'never'
        : `${lastVerify.verdict}, ${lastVerify.name}, ${ago(lastVerify.at)}${lastVerify.by === 'backup' ? ' (by the backup itself)' : ''}`,
    ],
    [
      'last drill',
      lastDrill === undefined
        ? 'never'
        : `${lastDrill.outcome === 'good' ? 'passed' : 'failed'}, ${lastDrill.name}, ${ago(lastDrill.at)}`,
    ],
    ['archive', report.archive && renderArchive(report.archive)],
    ['next run', renderNext(schedule)],
    [
      'restore needs',
      restore === undefined
        ? undefined
        : `about ${renderBytes(restore.neededBytes)} of ${renderBytes(restore.freeBytes)} free at ${restore.place}`,
    ],
  ];
}

/** Renders the newest moment that can be restored. */
function renderArchive({ target, newest, lagSeconds }: NonNullable<StatusReport['archive']>): string {
  const lag = lagSeconds === 0 ? '' : `, ${renderAge(lagSeconds)} behind`;
  return `restores until ${newest}${lag}, ${target}`;
}

/** Renders the first run of each procedure, such as `backup 2026-11-25 02:00 UTC (crontab)`. */
function renderNext({ source, runs }: StatusReport['schedule']): string {
  const first = ['backup', 'verify', 'drill'].flatMap((procedure) => {
    const [next] = runs
      .flatMap((run) =>
        run.procedure === procedure && run.next !== undefined ? [{ ...run, next: run.next }] : [],
      )
      .toSorted((one, other) => (one.next < other.next ? -1 : 1));
    if (next === undefined) return [];
    const time = `${next.next.slice(0, 10)} ${next.next.slice(11, 16)} UTC`;
    return [`${procedure} ${time}${source === 'installed' ? ` (${next.place})` : ''}`];
  });
  if (source === 'installed')
    return first.length === 0 ? 'none: the timers are not active' : first.join(', ');
  return `none installed; with the timers of idkit schedule: ${first.join(', ')}`;
}

function renderRealm({
  realm,
  users,
  keys,
  renewals,
  unenforced,
}: StatusReport['realms'][number]): readonly Pair[] {
  const shownKeys = keys
    .map(
      (shown) =>
        `${shown.algorithm}${shown.ageDays === undefined ? '' : ` (${renderCount(shown.ageDays, 'day')} old)`}`,
    )
    .join(', ');
  const facts = [
    users === undefined ? undefined : renderCount(users, 'user'),
    shownKeys === '' ? undefined : `keys ${shownKeys}`,
  ];
  const known = facts.filter((part) => part !== undefined);
  const lines = [known.length === 0 ? 'users and keys are unknown' : known.join('; ')];
  if (renewals !== undefined && renewals.good + renewals.failed > 0) {
    const all = renewals.good + renewals.failed;
    lines.push(`${renewals.failed} of ${renderCount(all, 'renewal')} failed in the last 5 minutes`);
  }
  lines.push(...unenforced.map((what) => `not enforced yet: ${what}`));
  return lines.map((line, index): Pair => [index === 0 ? `realm ${realm}` : '', line]);
}

/** Renders for example `acme, shop (has an error)`. Returns undefined without themes. */
function renderThemes({ themes }: StatusReport): string | undefined {
  if (themes.length === 0) return undefined;
  return themes.map(({ name, usable }) => (usable ? name : `${name} (has an error)`)).join(', ');
}

/** Renders for example `1 finding, 2 warnings, 1 accepted (status.accept)`. */
function renderResult({ findings, warnings, accepted }: StatusReport): string {
  const counts = [renderCount(findings.length, 'finding'), renderCount(warnings.length, 'warning')];
  if (accepted.length > 0) counts.push(`${accepted.length} accepted (status.accept)`);
  return counts.join(', ');
}

/** Renders for example `412,000 of about 1,000,000 records handled`. */
function renderShare(handled: number, left: number | undefined): string {
  const all = left === undefined ? '' : ` of about ${renderNumber(handled + left)}`;
  return `${renderNumber(handled)}${all} records handled`;
}
