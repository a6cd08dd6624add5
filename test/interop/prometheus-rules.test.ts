import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startExampleRealm, until } from '../client/example-realm.ts';
import { freePort } from '../free-port.ts';
import { makePlace, post } from '../journey/idkit.ts';
import { hasProgram, run } from './system-program.ts';

const RULES = fileURLToPath(new URL('../../examples/alerts.yaml', import.meta.url));

/**
 * Builds a case for `promtool test rules` with numbers of good and failed refreshes per minute. `fires` is the expected
 * result.
 */
function ruleCase(name: string, good: number, failed: number, fires: boolean): string {
  const rate = (failed / (good + failed)) * 100;
  const series = (labels: string, step: number): string =>
    `      - series: 'keycloak_user_events_total{event="refresh_token",realm="shop",${labels}}'\n        values: '0+${step}x10'`;
  const alert = `
          - exp_labels: { severity: warning, realm: shop }
            exp_annotations:
              summary: '${Number(rate.toPrecision(4))}% of the renewals in realm shop fail'
              description: >-
                Users see a login that they did not expect. Many failures together follow a restore of an old backup, a
                change of keys or session lifetimes, or stolen refresh tokens. The event log shows which.`;
  return `  - name: ${name}
    interval: 1m
    input_series:
${series('error="",client_id="web"', good)}
${series('error="invalid_token",client_id="web"', failed)}
      - series: 'keycloak_user_events_total{event="login",realm="shop",error="invalid_user_credentials"}'
        values: '0+1000x10'
    alert_rule_test:
      - eval_time: 6m
        alertname: RenewalsFailing
        exp_alerts: ${fires ? alert : '[]'}
`;
}

test('the alert fires if more than 5 % of the renewals within 5 minutes fail, but not at exactly 5 % (promtool)', (t) => {
  if (!hasProgram(t, 'promtool')) return;
  const file = join(makePlace(t), 'cases.yaml');
  const cases = [
    ruleCase('none fails', 100, 0, false),
    ruleCase('exactly five percent', 95, 5, false),
    ruleCase('ten percent', 90, 10, true),
    ruleCase('nothing happens', 0, 0, false),
  ];
  writeFileSync(file, `rule_files: ['${RULES}']\nevaluation_interval: 1m\ntests:\n${cases.join('')}`);
  const checked = run('promtool', ['check', 'rules', RULES]);
  assert.equal(checked.status, 0, checked.errors);
  const tested = run('promtool', ['test', 'rules', file]);
  assert.equal(tested.status, 0, tested.text + tested.errors);
});

/** Starts a Prometheus that scrapes the service every second and evaluates the rules of the example. */
async function startPrometheus(t: TestContext, target: string): Promise<string> {
  const dir = makePlace(t);
  const port = await freePort();
  const config = join(dir, 'prometheus.yml');
  writeFileSync(
    config,
    `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ['${RULES}']
scrape_configs: [{ job_name: idkit, static_configs: [{ targets: ['${target}'] }] }]\n`,
  );
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => child.on('close', resolve));
  t.after(async () => {
    child.kill();
    await ended;
  });
  return `http://127.0.0.1:${port}`;
}

async function query<T>(prometheus: string, path: string): Promise<T | undefined> {
  try {
    const answer = await fetch(`${prometheus}/api/v1/${path}`);
    return ((await answer.json()) as { data: T }).data;
  } catch {
    return undefined;
  }
}

test('Prometheus and idkit status report the same share of failed refreshes', async (t) => {
  if (!hasProgram(t, 'prometheus')) return;
  const realm = await startExampleRealm(t);
  const refresh = async (token: string): Promise<Record<string, unknown>> =>
    (
      await post(realm.address, 'example', 'token', {
        grant_type: 'refresh_token',
        client_id: 'shop',
        refresh_token: token,
      })
    ).body;
  let token = String((await realm.logIn())['refresh_token']);
  const renew = async (): Promise<void> => {
    token = String((await refresh(token))['refresh_token']);
    await refresh('no token');
  };
  // `increase` needs two scrapes, so the time series must exist before the failures.
  await renew();
  assert.ok(realm.service.managementUrl !== undefined);
  const prometheus = await startPrometheus(t, new URL(realm.service.managementUrl).host);
  const scrapes = async (): Promise<number> => {
    const found = await query<{ result: { value: [number, string] }[] }>(
      prometheus,
      `query?query=${encodeURIComponent('sum(count_over_time(keycloak_user_events_total{event="refresh_token"}[1m]))')}`,
    );
    return Number(found?.result?.[0]?.value[1] ?? 0);
  };
  await until(async () => (await scrapes()) >= 2, 'a scrape');
  for (let count = 0; count < 9; count++) await renew();
  await until(async () => {
    const found = await query<{ alerts: { labels: Record<string, string>; state: string }[] }>(
      prometheus,
      'alerts',
    );
    return (found?.alerts ?? []).some(
      ({ labels, state }) =>
        labels['alertname'] === 'RenewalsFailing' && labels['realm'] === 'example' && state === 'firing',
    );
  }, 'the alert fires');
  const status = await realm.service.run(['status', '--json']);
  assert.equal(status.code, 3, status.stderr);
  const { findings, realms } = status.result() as {
    findings: { code: string; message: string }[];
    realms: { realm: string; renewals?: unknown }[];
  };
  assert.deepEqual(realms.find((row) => row.realm === 'example')?.renewals, { good: 10, failed: 10 });
  assert.ok(
    findings.some(
      ({ code, message }) => code === 'RENEWALS_FAILING' && message.includes('10 of 20 renewals'),
    ),
    JSON.stringify(findings),
  );
});
