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
import { waitUntil } from '../wait-until.ts';
import { CASES, type Series } from './alert-cases.ts';
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
  const archive = join(platform.dir, '..', 'archive');
  const settings = await platform.load({ 'listen.managementPort': '0', 'backup.archive': archive });
  const service = await startService(settings);
  t.after(() => service.close());
  const mirror = join(platform.dir, '..', 'mirror');
  await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE, mirror });
  await verify(settings, restoreOptions({ drill: true }));
  const restorable = /^idkit_archive_newest_timestamp_seconds \d{10}(\.\d+)?$/m;
  await waitUntil('the archive has a base', async () => restorable.test(await readMetrics(service)));
  const report = await status(settings, procedureOptions());
  const certificates = [{ place: 'https://x', expiresAt: '2027-01-01T00:00:00.000Z' }];
  const findings = [{ code: 'DISK_LOW', message: 'an example' }];
  const own = await renderStatusMetrics(settings, { ...report, certificates, findings }, Date.now());
  const served = await readMetrics(service);
  const known = new Set(
    [...`${own}\n${served}`.matchAll(/^(?:# TYPE )?([a-zA-Z_:]\w*)/gm)].map(([, name]) => name!),
  );
  for (const text of [own, served]) {
    assert.match(text, restorable);
    assert.match(text, /^idkit_archive_gaps 0$/m);
    assert.match(text, /^idkit_archive_lag_seconds 0$/m);
  }
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
