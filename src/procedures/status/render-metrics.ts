import { archivePosition } from '../../archive/index.ts';
import {
  ARCHIVE_METRICS,
  listRootMetrics,
  openRootReader,
  type RootMetric,
  UNREADABLE_ROOT,
} from '../../backupset/index.ts';
import { isForeignArchive, plannedJobs, type Settings } from '../../config/index.ts';
import { readArchive } from '../archive.ts';
import { isResponsive } from '../responsive.ts';
import type { StatusReport } from './report.ts';

type Values = ReturnType<RootMetric['values']>;

/** A gauge of the report itself. */
interface StatusMetric {
  name: string;
  help: string;
  values(report: StatusReport): Values;
}

const seconds = (at: string) => Date.parse(at) / 1000;

/** The metrics that only `idkit status` knows. */
const STATUS_METRICS: readonly StatusMetric[] = [
  {
    name: 'idkit_status_findings',
    help: 'Findings of idkit status by their name',
    values: ({ findings }) => countNames(findings),
  },
  {
    name: 'idkit_status_warnings',
    help: 'Warnings of idkit status by their name',
    values: ({ warnings }) => countNames(warnings),
  },
  {
    name: 'idkit_status_accepted',
    help: 'Findings and warnings that status.accept silences, by their name',
    values: ({ accepted }) => countNames(accepted),
  },
  {
    name: 'idkit_status_healthy',
    help: 'Whether idkit status has no findings: 1 or 0',
    values: ({ findings }) => [{ labels: {}, value: findings.length === 0 ? 1 : 0 }],
  },
  {
    name: 'idkit_service_up',
    help: 'Whether the service reports that it is ready: 1 or 0',
    values: ({ service }) => [{ labels: {}, value: service.health === 'UP' ? 1 : 0 }],
  },
  {
    name: 'idkit_certificate_expiry_timestamp_seconds',
    help: 'Unix time of the end of a TLS certificate',
    values: ({ certificates }) =>
      certificates.map(({ place, expiresAt }) => ({ labels: { place }, value: seconds(expiresAt) })),
  },
  {
    name: 'idkit_signing_key_age_seconds',
    help: 'Age of the oldest active signing key of a realm and algorithm, in whole days',
    values: ({ realms }) =>
      realms.flatMap(({ realm, keys }) => {
        const ages = new Map<string, number>();
        for (const { algorithm, ageDays } of keys)
          if (ageDays !== undefined) ages.set(algorithm, Math.max(ageDays, ages.get(algorithm) ?? 0));
        return [...ages].map(([algorithm, value]) => ({
          labels: { realm, algorithm },
          value: value * 86_400,
        }));
      }),
  },
  {
    name: 'idkit_restore_needed_bytes',
    help: 'Estimate of the space that a restore of the newest set needs',
    values: ({ disks }) =>
      disks
        .filter(({ purpose }) => purpose === 'restore')
        .map(({ place, neededBytes }) => ({ labels: { place }, value: neededBytes })),
  },
  {
    name: 'idkit_restore_free_bytes',
    help: 'Free space for a restore',
    values: ({ disks }) =>
      disks
        .filter(({ purpose }) => purpose === 'restore')
        .map(({ place, freeBytes }) => ({ labels: { place }, value: freeBytes })),
  },
];

function countNames(named: readonly { code: string }[]): Values {
  const counts = new Map<string, number>();
  for (const { code } of named) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].map(([name, value]) => ({ labels: { name }, value }));
}

/**
 * Renders the report and the figures of the backup root as a Prometheus text, for the textfile collector of
 * node_exporter. The service itself serves the figures of the root too, but Keycloak does not.
 *
 * @param now Unix time in milliseconds
 */
export async function renderStatusMetrics(
  settings: Settings,
  report: StatusReport,
  now: number,
): Promise<string> {
  const { root, maxAgeHours } = settings.backup;
  const figures = (await isResponsive(root)) ? await openRootReader(root).read(now) : UNREADABLE_ROOT;
  const jobs = plannedJobs(settings).map(({ id }) => id);
  const metrics = [
    ...listRootMetrics({ maxAgeSeconds: maxAgeHours * 3600, jobs }).map(({ name, help, values }) => ({
      name,
      help,
      values: values(figures),
    })),
    ...(await readArchiveMetrics(settings, now)),
    ...STATUS_METRICS.map(({ name, help, values }) => ({ name, help, values: values(report) })),
  ];
  const time = { name: 'idkit_status_timestamp_seconds', help: 'Unix time of this report' };
  return [...metrics, { ...time, values: [{ labels: {}, value: Math.floor(now / 1000) }] }]
    .filter(({ values }) => values.length > 0)
    .map(({ name, help, values }) =>
      [
        `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`,
        ...values.map(({ labels, value }) => `${name}${renderLabels(labels)} ${value}\n`),
      ].join(''),
    )
    .join('');
}

async function readArchiveMetrics(settings: Settings, now: number) {
  const { archive } = settings.backup;
  if (archive === null || settings.service === 'keycloak' || isForeignArchive(archive)) return [];
  const position = archivePosition(await readArchive(settings), now);
  return ARCHIVE_METRICS.map(({ name, help, values }) => ({ name, help, values: values(position) }));
}

function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** Escapes a label value (Prometheus exposition format 0.0.4). */
function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
