import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderPlan } from '../../src/cli/output/render-plan.ts';
import { RESTORE_STEPS, type RestorePlan } from '../../src/procedures/index.ts';

const effect = (kind: RestorePlan['brings'][number]['kind'], index: number) => ({
  kind,
  from: `compose.yaml: service-${index}.entry`,
  what: `a value that is long enough to need more than one row of a terminal with 80 columns, number ${index}`,
});

/** A container platform with many realms, on a server that only the set names. */
const plan: RestorePlan = {
  set: '/srv/idkit/backups/20261101_020000',
  target: '/srv/idkit',
  database: 'postgres://idkit@db.example.org/idkit',
  realms: Array.from({ length: 40 }, (_, index) => ({ realm: `realm-${index}`, users: index * 1000 })),
  neededBytes: 1e9,
  freeBytes: 2e10,
  inPlace: true,
  brings: Array.from({ length: 30 }, (_, index) => effect(index % 3 === 0 ? 'command' : 'file', index)),
  unasked: ['whether the service is stopped, the server can load the dump and its disk has space'],
  steps: RESTORE_STEPS.map(({ id, title, why }) => ({ id, title, why })),
};

for (const columns of [80, 120]) {
  test(`at ${columns} columns, the short plan fits a screen of 24 rows with two finished steps and the question`, () => {
    const rows = renderPlan(plan, { detail: 'short', width: columns }).split('\n');
    assert.ok(rows.length <= 21, `${rows.length} rows`);
    for (const row of rows) assert.ok(row.length <= columns, row);
  });
}

test('the short plan shows commands before files, and says how much it leaves out', () => {
  const text = renderPlan(plan, { detail: 'short', width: 80 });
  assert.match(text, /^command +compose\.yaml: service-0\.entry/m);
  assert.doesNotMatch(text, /^file /m);
  assert.match(text, /and \d+ more; --verbose prints everything/);
  assert.match(text, /realm-4 \(4000 users\), and 35 more$/m);
  assert.match(text, /EMPTIED/);
  assert.match(text, /^steps +verify, preflight, stage, load, check, swap, start/m);
});

test('the full plan leaves nothing out, and with reasons it explains each step', () => {
  const full = renderPlan(plan, { detail: 'full', width: Number.POSITIVE_INFINITY });
  for (const { from } of plan.brings) assert.ok(full.includes(from), from);
  for (const { realm } of plan.realms) assert.ok(full.includes(`${realm} (`), realm);
  assert.match(full, /^ 1\. Verify the backup set\n 2\. /m);
  const reasons = renderPlan(plan, { detail: 'full with reasons', width: Number.POSITIVE_INFINITY });
  for (const { why } of plan.steps) assert.ok(reasons.includes(why), why);
});
