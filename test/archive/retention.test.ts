import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  ArchiveReader,
  applyRetention,
  ChainWriter,
  checkArchive,
  deriveArchiveKeys,
  listChains,
  planRecovery,
  planRetention,
  restorableRanges,
} from '../../src/archive/index.ts';
import { Secret } from '../../src/core/index.ts';
import { openTarget } from '../../src/target/index.ts';

const KEYS = deriveArchiveKeys(new Secret(Buffer.alloc(32, 5).toString('base64')));
const START = Date.UTC(2026, 10, 1);
const HOUR = 3_600_000;
const [OLD, MIDDLE, NEW] = [
  '20261101T000000.000Z-00000001',
  '20261102T000000.000Z-00000002',
  '20261103T000000.000Z-00000003',
];

/** Three chains of a day each. In each one, a base begins every six hours, and a part of the log ends every hour. */
async function makeArchive(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-retention-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const target = await openTarget(dir);
  t.after(() => target.close());
  for (const [day, chain] of [OLD, MIDDLE, NEW].entries()) {
    const writer = await ChainWriter.begin(target, KEYS, chain, {
      kind: 'sqlite',
      follows: null,
      complete: false,
    });
    for (let hour = 0; hour < 24; hour++) {
      const at = START + (day * 24 + hour) * HOUR;
      if (hour % 6 === 0) {
        const base = writer.beginBase();
        await base.put(Buffer.from(`base at ${hour}`));
        await base.end({ generation: 1, after: writer.end.log }, { at, position: hour * 100, generation: 1 });
      }
      const part = {
        generation: 1,
        start: hour * 100,
        content: Buffer.alloc(100, hour),
        until: at + HOUR - 1,
      };
      await writer.putLog(
        writer.sealLog({ ...part, marks: [{ at: at + HOUR - 1, position: hour * 100 + 100 }] }),
      );
    }
  }
  const reader = new ArchiveReader(target, KEYS);
  const plan = async (since: number) => planRetention(reader, await listChains(target), since);
  return { target, reader, plan };
}

test('retention keeps every moment of the time to keep, and deletes what only older moments need', async (t) => {
  const { target, reader, plan } = await makeArchive(t);
  const since = START + 39.5 * HOUR;
  const steps = await plan(since);
  assert.deepEqual(
    steps.map(({ chain, action }) => [chain, action]),
    [
      [OLD, 'delete'],
      [MIDDLE, 'trim'],
      [NEW, 'keep'],
    ],
  );
  await applyRetention(target, steps);
  const { problems } = await checkArchive(target, KEYS, undefined);
  assert.deepEqual(problems, []);
  const listings = await listChains(target);
  const ranges = await restorableRanges(reader, listings);
  assert.deepEqual(
    ranges.map(({ chain, from }) => [chain, (from - START) / HOUR]),
    [
      [MIDDLE, 36],
      [NEW, 48],
    ],
  );
  for (let hour = 40; hour < 72; hour++) {
    const { mark } = await planRecovery(reader, listings, { at: START + hour * HOUR - 1 });
    assert.equal(mark.at, START + hour * HOUR - 1);
  }
  await assert.rejects(planRecovery(reader, listings, { at: START + 5 * HOUR }), { code: 'IDKIT_NOT_FOUND' });
  assert.ok((await plan(since)).every(({ action, files }) => action === 'keep' && files.length === 0));
});

test('the newest base stays, even if the clock is years ahead or everything is too old', async (t) => {
  const { target, reader, plan } = await makeArchive(t);
  await applyRetention(target, await plan(START + 100_000 * HOUR));
  assert.deepEqual((await checkArchive(target, KEYS, undefined)).problems, []);
  const [range, ...others] = await restorableRanges(reader, await listChains(target));
  assert.deepEqual([range!.chain, (range!.from - START) / HOUR, others], [NEW, 66, []]);
});

test('a chain without a complete base does not replace an older one', async (t) => {
  const { target, plan } = await makeArchive(t);
  const chain = '20261104T000000.000Z-00000004';
  const writer = await ChainWriter.begin(target, KEYS, chain, {
    kind: 'sqlite',
    follows: NEW,
    complete: false,
  });
  await writer.beginBase().put(Buffer.from('half a base'));
  const steps = await plan(START + 200 * HOUR);
  assert.deepEqual(
    steps.map(({ action }) => action),
    ['delete', 'delete', 'trim', 'keep'],
  );
});

test('a deletion that is interrupted anywhere leaves an archive without damage', async (t) => {
  const { target, plan } = await makeArchive(t);
  const since = START + 60 * HOUR;
  for (let runs = 0; ; runs++) {
    const { isDone } = await applyRetention(target, await plan(since), { most: 10 });
    assert.deepEqual((await checkArchive(target, KEYS, undefined)).problems, [], `after run ${runs}`);
    if (isDone) break;
    assert.ok(runs < 100);
  }
  assert.deepEqual(
    (await listChains(target)).map(({ name }) => name),
    [NEW],
  );
});
