import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makePlatform, refresh, startTestService } from '../../http/service.ts';
import { runIdkit } from '../../journey/idkit.ts';

/** Returns the report of `idkit status` about a service whose renewals have all failed. */
async function statusOf(t: TestContext, yaml: string) {
  const platform = makePlatform();
  t.after(() => platform.remove());
  appendFileSync(join(platform.dir, 'idkit.yaml'), yaml);
  const flags = { 'listen.managementPort': /off/.test(yaml) ? 'off' : '0' };
  const service = await startTestService({ platform, flags });
  t.after(() => service.stop());
  for (let round = 0; round < 10; round++) assert.equal((await refresh(service, 'no token')).status, 400);
  const ended = await runIdkit(['status', '--json', '--dir', platform.dir], { cwd: platform.dir });
  const findings = (ended.result()['findings'] ?? []) as { code: string }[];
  return { codes: findings.map(({ code }) => code), ended };
}

test('status finds failed renewals at the management listener', async (t) => {
  const { codes, ended } = await statusOf(t, '');
  assert.ok(codes.includes('RENEWALS_FAILING'), ended.stdout);
});

test('status finds failed renewals on the base URL if the metrics are public and there is no management listener', async (t) => {
  const { codes, ended } = await statusOf(t, 'listen: { managementPort: off }\nmetrics: { public: true }\n');
  assert.ok(codes.includes('RENEWALS_FAILING'), ended.stdout);
});

test('status notes that renewals are unknown if the service has no metrics', async (t) => {
  const { codes, ended } = await statusOf(t, 'listen: { managementPort: off }\n');
  assert.ok(!codes.includes('RENEWALS_FAILING'));
  assert.match(ended.stdout + ended.stderr, /the rate of failed renewals is unknown/);
});
