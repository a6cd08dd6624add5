import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { overviewRoot, putVerdict } from '../../src/backupset/index.ts';
import { makeSet, SET_NAME, temporaryDirectory } from './sample-set.ts';

const NOW = Date.UTC(2026, 10, 2);

test('describes the sets of a root, newest first, with verdicts and reports of drills', async (t) => {
  const root = await temporaryDirectory(t);
  await (await makeSet(root)).publish();
  await (await makeSet(root, { name: '20261101_030000', parts: ['realms'] })).publish();
  const checksums = await readFile(join(root, SET_NAME, 'checksums.sha256'));
  await putVerdict(root, SET_NAME, {
    at: '2026-11-01T04:00:00.000Z',
    verdict: 'good',
    checksumsSha256: createHash('sha256').update(checksums).digest('hex'),
    problems: [],
    seal: 'holds',
  });
  const report = {
    set: SET_NAME,
    startedAt: '2026-11-01T05:00:00.000Z',
    outcome: 'failed',
    milliseconds: 1500,
    phases: [{ id: 'load', milliseconds: 700 }],
    checklist: [{ outcome: 'passed', title: 'Health', detail: 'UP' }],
    findings: [{ code: 'SMOKE', message: 'a check failed' }],
    failure: { code: 'IDKIT_DAMAGED', message: 'the dump is damaged' },
    dir: '/tmp/kept',
  };
  await writeFile(join(root, '.state', `drill-${SET_NAME}.json`), JSON.stringify(report));
  await writeFile(
    join(root, '.state', 'last-verify.json'),
    JSON.stringify({ at: '2026-11-01T04:00:00.000Z', outcome: 'good', set: SET_NAME, findings: [] }),
  );

  const { sets, more, unfinished, last } = await overviewRoot(root, NOW);
  assert.deepEqual([more, unfinished], [0, 0]);
  const [newest, older] = sets;
  assert.deepEqual([newest?.name, newest?.whole, newest?.parts], ['20261101_030000', false, ['realms']]);
  assert.equal(older?.state, 'verified');
  assert.equal(older?.whole && older.sealed, true);
  assert.ok(older!.bytes > 1000);
  assert.deepEqual(older?.realms.map(({ users }) => users).sort(), [1, 2]);
  assert.deepEqual(older?.verified, {
    at: '2026-11-01T04:00:00.000Z',
    verdict: 'good',
    problems: [],
    seal: 'holds',
  });
  const { set: _set, findings: _findings, failure: _failure, dir: _dir, ...rest } = report;
  assert.deepEqual(older?.drill, { ...rest, problems: ['the dump is damaged', 'a check failed'] });
  assert.deepEqual(last, {
    verify: { at: '2026-11-01T04:00:00.000Z', outcome: 'good', set: SET_NAME, messages: [] },
  });
});

test('a root that does not exist is empty', async (t) => {
  const root = join(await temporaryDirectory(t), 'nowhere');
  assert.deepEqual(await overviewRoot(root, NOW), { sets: [], more: 0, unfinished: 0, last: {}, drills: [] });
});

test('follows no links inside the root', async (t) => {
  const root = await temporaryDirectory(t);
  const outside = await temporaryDirectory(t);
  await (await makeSet(outside)).publish();
  await symlink(join(outside, SET_NAME), join(root, SET_NAME));
  await mkdir(join(root, '.state'));
  await (await makeSet(root, { name: '20261101_030000' })).publish();
  const secret = join(outside, 'drill.json');
  await writeFile(
    secret,
    JSON.stringify({ startedAt: '', outcome: 'passed', milliseconds: 1, phases: [], checklist: [] }),
  );
  await symlink(secret, join(root, '.state', 'drill-20261101_030000.json'));
  const { sets } = await overviewRoot(root, NOW);
  assert.deepEqual(
    sets.map(({ name, drill }) => [name, drill]),
    [['20261101_030000', undefined]],
  );
});

test('reports a damaged set, and broken reports are ignored', async (t) => {
  const root = await temporaryDirectory(t);
  await (await makeSet(root)).publish();
  await writeFile(join(root, SET_NAME, 'manifest.json'), 'no JSON');
  await mkdir(join(root, '.state'), { recursive: true });
  await writeFile(join(root, '.state', `drill-${SET_NAME}.json`), '{"outcome":');
  const [set] = (await overviewRoot(root, NOW)).sets;
  assert.deepEqual([set?.state, set?.parts, set?.drill, set?.verified], ['bad', [], undefined, undefined]);
});
