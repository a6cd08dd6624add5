import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { backup, renderStatusMetrics, status, verify } from '../../src/procedures/index.ts';
import { startService } from '../../src/service/index.ts';
import { readMetrics } from '../http/service.ts';
import { makePlace } from '../journey/idkit.ts';
import { makePlatform, PASSPHRASE, procedureOptions, restoreOptions } from '../procedures/platform.ts';
import { hasProgram, run } from './system-program.ts';

const RULES = fileURLToPath(new URL('../../examples/alerts.yaml', import.meta.url));
const DASHBOARD = fileURLToPath(new URL('../../examples/grafana-dashboard.json', import.meta.url));

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}

const rules = (parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

/** Time series by name, with values in the notation of promtool, one for each step. */
type Series = Record<string, string>;

interface RuleCase {
  /** The alert fires at `at` with these labels and this summary. */
  fires: Series;
  at: string;
  labels?: Record<string, string>;
  summary: string;
  /** The alert does not fire at `at`. */
  quiet: Series;
  /** The time between two values and two evaluations. Default: a minute. */
  step?: '1h';
}

/** A value that stays the same for 34 days, in steps of an hour. */
const always = (value: number) => `${value}x${34 * 24}`;
const EVENTS = 'keycloak_user_events_total';
const TOKEN = 'http_server_requests_seconds_bucket{uri="/realms/{realm}/protocol/openid-connect/token"';

const CASES: Record<string, RuleCase> = {
  RenewalsFailing: {
    fires: {
      [`${EVENTS}{event="refresh_token",realm="shop",error=""}`]: '0+90x10',
      [`${EVENTS}{event="refresh_token",realm="shop",error="invalid_token"}`]: '0+10x10',
    },
    at: '6m',
    labels: { realm: 'shop' },
    summary: '10% of the renewals in realm shop fail',
    quiet: {
      [`${EVENTS}{event="refresh_token",realm="shop",error=""}`]: '0+95x10',
      [`${EVENTS}{event="refresh_token",realm="shop",error="invalid_token"}`]: '0+5x10',
    },
  },
  RefreshTokenReused: {
    // The series begins with the first reuse.
    fires: { 'idkit_refresh_token_reuse_total{realm="shop"}': '_x20 1x5' },
    at: '23m',
    labels: { realm: 'shop' },
    summary: '1 refresh tokens of realm shop were used twice',
    quiet: { 'idkit_refresh_token_reuse_total{realm="shop"}': '1x60' },
  },
  ClientLoginsFailing: {
    fires: {
      [`${EVENTS}{event="client_login",realm="shop",client_id="job",error=""}`]: '0+1x20',
      [`${EVENTS}{event="client_login",realm="shop",client_id="job",error="invalid_client_credentials"}`]:
        '0+1x20',
    },
    at: '15m',
    labels: { realm: 'shop', client_id: 'job' },
    summary: '50% of the logins of client job in realm shop fail',
    quiet: { [`${EVENTS}{event="client_login",realm="shop",client_id="job",error=""}`]: '0+1x20' },
  },
  DisabledClientUsed: {
    fires: { [`${EVENTS}{event="login",realm="shop",client_id="web",error="client_disabled"}`]: '_x20 1x5' },
    at: '23m',
    labels: { realm: 'shop', client_id: 'web' },
    summary: 'client web of realm shop is used although it or its realm is disabled',
    quiet: { [`${EVENTS}{event="login",realm="shop",client_id="web",error="client_disabled"}`]: '1x60' },
  },
  ServiceDown: {
    fires: { 'up{job="idkit",instance="a:9000"}': '1x5 0x20' },
    at: '15m',
    labels: { job: 'idkit', instance: 'a:9000' },
    summary: 'the service at a:9000 does not respond',
    // A start takes a minute.
    quiet: { 'up{job="idkit",instance="a:9000"}': '1x10 0 1x10' },
  },
  ServiceRestarts: {
    fires: { 'process_start_time_seconds{job="idkit",instance="a:9000"}': '1x5 2x5 3x5 4x5' },
    at: '20m',
    labels: { job: 'idkit', instance: 'a:9000' },
    summary: 'the service at a:9000 restarted 3 times in 30 minutes',
    quiet: { 'process_start_time_seconds{job="idkit",instance="a:9000"}': '1x5 2x20' },
  },
  ServerErrors: {
    fires: {
      'http_server_requests_seconds_count{outcome="SUCCESS"}': '0+98x20',
      'http_server_requests_seconds_count{outcome="SERVER_ERROR"}': '0+2x20',
    },
    at: '15m',
    summary: '2% of the requests fail with a 5xx status',
    quiet: {
      'http_server_requests_seconds_count{outcome="SUCCESS"}': '0+99x20',
      'http_server_requests_seconds_count{outcome="CLIENT_ERROR"}': '0+50x20',
      'http_server_requests_seconds_count{outcome="SERVER_ERROR"}': '0+1x20',
    },
  },
  TokensSlow: {
    fires: {
      [`${TOKEN},le="1"}`]: '0x30',
      [`${TOKEN},le="2"}`]: '0+100x30',
      [`${TOKEN},le="+Inf"}`]: '0+100x30',
    },
    at: '25m',
    summary: '1 % of the token requests take longer than 1.99s',
    quiet: { [`${TOKEN},le="0.1"}`]: '0+100x30', [`${TOKEN},le="+Inf"}`]: '0+100x30' },
  },
  PasswordHashesRefused: {
    fires: { idkit_password_hashes_refused_total: '0 0 4x10' },
    at: '6m',
    summary: '4 logins were rejected because too many passwords were waiting',
    quiet: { idkit_password_hashes_refused_total: '4x10' },
  },
  EventsDropped: {
    fires: { idkit_events_dropped_total: '0x10 15x10' },
    at: '15m',
    summary: '15 user events could not be stored',
    quiet: { idkit_events_dropped_total: '9x20' },
  },
  LaneRefuses: {
    fires: { 'idkit_lane_refused_total{lane="reads"}': '0 0 5x10' },
    at: '6m',
    labels: { lane: 'reads' },
    summary: 'lane reads of the database rejected 5 requests',
    quiet: { 'idkit_lane_refused_total{lane="reads"}': '5x10' },
  },
  SweepBehind: {
    fires: { 'idkit_sweep_overdue_seconds{kind="events"}': '1860x20' },
    at: '15m',
    labels: { kind: 'events' },
    summary: 'expired events have been due for 31m 0s',
    quiet: { 'idkit_sweep_overdue_seconds{kind="events"}': '1800x20' },
  },
  CountsDrifted: {
    fires: { idkit_count_drift: '0x1440 3x20' },
    at: '24h10m',
    summary: 'a check corrected counts by 3',
    quiet: { idkit_count_drift: '3x1500' },
  },
  CountsUnchecked: {
    step: '1h',
    fires: { idkit_counts_checked_timestamp_seconds: always(0) },
    at: '73h',
    summary: 'the counts were last checked 3d 1h 0m 0s ago',
    quiet: { idkit_counts_checked_timestamp_seconds: '0+3600x100' },
  },
  BackupRootUnreadable: {
    fires: { 'idkit_backup_root_readable{instance="a"}': '0x30' },
    at: '20m',
    summary: 'the backup root cannot be read',
    // One of several replicas is on the machine with the root.
    quiet: {
      'idkit_backup_root_readable{instance="a"}': '0x30',
      'idkit_backup_root_readable{instance="b"}': '1x30',
    },
  },
  BackupMissing: {
    fires: { idkit_backup_restorable_sets: '0x30' },
    at: '20m',
    summary: 'the backup root has no set that can be restored',
    quiet: { idkit_backup_restorable_sets: '1x30' },
  },
  BackupTooOld: {
    step: '1h',
    fires: {
      idkit_backup_restorable_timestamp_seconds: always(0),
      idkit_backup_max_age_seconds: always(93600),
    },
    at: '27h',
    summary: 'the newest backup that can be restored is 1d 3h 0m 0s old',
    quiet: {
      idkit_backup_restorable_timestamp_seconds: always(3600),
      idkit_backup_max_age_seconds: always(93600),
    },
  },
  RealmExportTooOld: {
    step: '1h',
    fires: {
      'idkit_backup_part_timestamp_seconds{part="realms"}': always(0),
      idkit_backup_max_age_seconds: always(93600),
    },
    at: '27h',
    summary: 'the newest backup of the realm files is 1d 3h 0m 0s old',
    quiet: {
      'idkit_backup_part_timestamp_seconds{part="config"}': always(0),
      'idkit_backup_part_timestamp_seconds{part="realms"}': always(3600),
      idkit_backup_max_age_seconds: always(93600),
    },
  },
  ConfigurationBackupTooOld: {
    step: '1h',
    fires: { 'idkit_backup_part_timestamp_seconds{part="env"}': always(0) },
    at: '9d',
    labels: { part: 'env' },
    summary: 'the newest backup of the part env is 9d 0h 0m 0s old',
    quiet: { 'idkit_backup_part_timestamp_seconds{part="env"}': always(172800) },
  },
  BackupFailed: {
    fires: { 'idkit_backup_last_run_good{part="database"}': '0x30' },
    at: '20m',
    labels: { part: 'database' },
    summary: 'the last backup of the part database failed or had findings',
    quiet: { 'idkit_backup_last_run_good{part="database"}': '1x30' },
  },
  MirrorIncomplete: {
    fires: { idkit_backup_mirror_complete: '0x30' },
    at: '20m',
    summary: 'the last backup did not copy every set to the mirror',
    quiet: { idkit_backup_mirror_complete: '1x30' },
  },
  BackupDiskLow: {
    fires: { idkit_backup_root_free_bytes: '1048576x90', idkit_backup_newest_bytes: '1048576x90' },
    at: '80m',
    summary: 'the disk of the backup root has only 1MiB left',
    quiet: { idkit_backup_root_free_bytes: '3000000x90', idkit_backup_newest_bytes: '1048576x90' },
  },
  BackupNotVerified: {
    fires: { idkit_backup_newest_verified: '0x90' },
    at: '80m',
    summary: 'the newest backup is damaged or was never verified',
    quiet: { idkit_backup_newest_verified: '1x90' },
  },
  VerifyFailed: {
    fires: { idkit_verify_good: '0x5' },
    at: '3m',
    summary: 'the last verification of the backups failed or had findings',
    quiet: { idkit_verify_good: '1x5' },
  },
  VerifyTooOld: {
    step: '1h',
    fires: { idkit_verify_timestamp_seconds: always(0) },
    at: '33d',
    summary: 'the last verification of the backups was 33d 0h 0m 0s ago',
    quiet: { idkit_verify_timestamp_seconds: always(172800) },
  },
  VerifyMissing: {
    step: '1h',
    fires: { idkit_backup_restorable_sets: always(1) },
    at: '50h',
    summary: 'the backups were never verified',
    quiet: { idkit_backup_restorable_sets: always(1), idkit_verify_timestamp_seconds: always(0) },
  },
  DrillFailed: {
    fires: { idkit_drill_good: '0x5' },
    at: '3m',
    summary: 'the last restore drill failed',
    quiet: { idkit_drill_good: '1x5' },
  },
  DrillTooOld: {
    step: '1h',
    fires: { idkit_drill_timestamp_seconds: always(0) },
    at: '33d',
    summary: 'the last restore drill was 33d 0h 0m 0s ago',
    quiet: { idkit_drill_timestamp_seconds: always(172800) },
  },
  DrillMissing: {
    step: '1h',
    fires: { idkit_backup_restorable_sets: always(1) },
    at: '33d',
    summary: 'no backup was ever restored in a drill',
    quiet: { idkit_backup_restorable_sets: always(1), idkit_drill_timestamp_seconds: always(0) },
  },
  RestoreSlow: {
    fires: { idkit_drill_duration_seconds: '2400x5' },
    at: '3m',
    summary: 'the last restore drill took 40m 0s',
    quiet: { idkit_drill_duration_seconds: '1800x5' },
  },
  StatusFinding: {
    fires: { 'idkit_status_findings{name="DISK_LOW"}': '1x30' },
    at: '20m',
    labels: { name: 'DISK_LOW' },
    summary: 'idkit status reports DISK_LOW',
    quiet: { 'idkit_status_warnings{name="REDIRECT_WILDCARD"}': '1x30' },
  },
  StatusTooOld: {
    fires: { idkit_status_timestamp_seconds: '0x120' },
    at: '90m',
    summary: 'idkit status --prometheus last ran 1h 30m 0s ago',
    quiet: { idkit_status_timestamp_seconds: '0+60x120' },
  },
  CertificateExpires: {
    fires: { 'idkit_certificate_expiry_timestamp_seconds{place="https://x"}': `${10 * 86_400}x5` },
    at: '0m',
    labels: { place: 'https://x' },
    summary: 'the certificate of https://x expires in 10d 0h 0m 0s',
    quiet: { 'idkit_certificate_expiry_timestamp_seconds{place="https://x"}': `${15 * 86_400}x5` },
  },
  KeyNotRotated: {
    fires: { 'idkit_signing_key_age_seconds{realm="shop",algorithm="RS256"}': `${366 * 86_400}x5` },
    at: '3m',
    labels: { realm: 'shop', algorithm: 'RS256' },
    summary: 'the RS256 key of realm shop is 366d 0h 0m 0s old',
    quiet: { 'idkit_signing_key_age_seconds{realm="shop",algorithm="RS256"}': `${365 * 86_400}x5` },
  },
  RestoreDiskLow: {
    fires: {
      'idkit_restore_free_bytes{place="/d"}': '1x90',
      'idkit_restore_needed_bytes{place="/d"}': '2x90',
    },
    at: '80m',
    labels: { place: '/d' },
    summary: 'a restore does not fit on the disk of /d',
    quiet: {
      'idkit_restore_free_bytes{place="/d"}': '2x90',
      'idkit_restore_needed_bytes{place="/d"}': '2x90',
    },
  },
};

test('every alert rule fires when it should, and only then (promtool)', (t) => {
  if (!hasProgram(t, 'promtool')) return;
  assert.deepEqual(Object.keys(CASES).sort(), rules.map(({ alert }) => alert).sort());
  for (const step of ['1m', '1h'] as const) {
    const tests = rules.flatMap(({ alert, labels, annotations }) => {
      const { fires, quiet, at, summary, labels: own = {}, step: every = '1m' } = CASES[alert]!;
      if (every !== step) return [];
      const one = (series: Series, expected: unknown[]) => ({
        name: alert,
        interval: step,
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: expected }],
      });
      const { description } = annotations;
      const expected = { exp_labels: { ...labels, ...own }, exp_annotations: { summary, description } };
      return [one(fires, [expected]), one(quiet, [])];
    });
    const file = join(makePlace(t), 'cases.yaml');
    writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: step, tests }));
    const tested = run('promtool', ['test', 'rules', file]);
    assert.equal(tested.status, 0, tested.text + tested.errors);
  }
});

/** Every expression of the dashboard, with the variable for the job replaced. */
function dashboardExpressions(): readonly string[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr.replaceAll('$job', '.*')));
}

test('every expression of the dashboard is valid PromQL (promtool)', (t) => {
  if (!hasProgram(t, 'promtool')) return;
  const expressions = dashboardExpressions();
  assert.ok(expressions.length > 40, String(expressions.length));
  const file = join(makePlace(t), 'rules.yaml');
  const records = expressions.map((expr, index) => ({ record: `dashboard:panel:${index}`, expr }));
  writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: records }] }));
  const checked = run('promtool', ['check', 'rules', file]);
  assert.equal(checked.status, 0, checked.text + checked.errors);
});

test('the panels of the dashboard have ids, do not overlap and fit into 24 columns', () => {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
    panels: {
      id: number;
      title: string;
      type: string;
      gridPos: { x: number; y: number; w: number; h: number };
    }[];
  };
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const taken = new Map<string, string>();
  for (const { title, gridPos } of panels) {
    assert.ok(gridPos.x + gridPos.w <= 24, title);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        const other = taken.get(`${x} ${y}`);
        assert.equal(other, undefined, `${title} overlaps ${other}`);
        taken.set(`${x} ${y}`, title);
      }
  }
});

/** Metrics that Prometheus itself has, or that need a state which this test does not create. */
const ELSEWHERE = ['up', 'http_server_requests_seconds_bucket', 'http_server_requests_seconds_count'];

test('every metric of the rules and of the dashboard exists in the text of the service or of idkit status', async (t) => {
  const platform = await makePlatform(t);
  const settings = await platform.load({ 'listen.managementPort': '0' });
  const service = await startService(settings);
  t.after(() => service.close());
  const mirror = join(platform.dir, '..', 'mirror');
  await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE, mirror });
  await verify(settings, restoreOptions({ drill: true }));
  const report = await status(settings, procedureOptions());
  const certificates = [{ place: 'https://x', expiresAt: '2027-01-01T00:00:00.000Z' }];
  const findings = [{ code: 'DISK_LOW', message: 'an example' }];
  const own = await renderStatusMetrics(settings, { ...report, certificates, findings }, Date.now());
  const served = await readMetrics(service);
  const known = new Set(
    [...`${own}\n${served}`.matchAll(/^(?:# TYPE )?([a-zA-Z_:]\w*)/gm)].map(([, name]) => name!),
  );
  const used = new Set(
    [...rules.map(({ expr }) => expr), ...dashboardExpressions()].flatMap((expr) =>
      [...expr.matchAll(/\b(?:up|idkit_\w+|keycloak_\w+|http_server_\w+|process_\w+|nodejs_\w+)\b/g)].map(
        ([name]) => name,
      ),
    ),
  );
  const missing = [...used].filter((name) => !known.has(name) && !ELSEWHERE.includes(name));
  assert.deepEqual(missing, []);
  assert.ok(used.size > 30, String(used.size));
  for (const name of ['idkit_backup_newest_timestamp_seconds', 'idkit_verify_good', 'idkit_drill_good'])
    assert.match(served, new RegExp(`^${name} [1-9]`, 'm'), name);
});

test('the text of idkit status is valid for Prometheus (promtool)', async (t) => {
  if (!hasProgram(t, 'promtool')) return;
  const platform = await makePlatform(t);
  await platform.serve();
  const settings = await platform.load();
  const report = await status(settings, procedureOptions());
  const certificates = [{ place: 'C:\\a"b\nc', expiresAt: '2027-01-01T00:00:00.000Z' }];
  const text = await renderStatusMetrics(settings, { ...report, certificates }, Date.now());
  assert.match(text, /^idkit_status_findings\{name="BACKUP_MISSING"\} 1$/m);
  const checked = run('promtool', ['check', 'metrics'], { input: text });
  assert.equal(checked.status, 0, checked.text + checked.errors);
});
