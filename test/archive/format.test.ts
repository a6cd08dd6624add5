import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  ArchiveReader,
  type ArchiveState,
  ChainWriter,
  chainName,
  checkArchive,
  deriveArchiveKeys,
  listChains,
  planRecovery,
} from '../../src/archive/index.ts';
import { Secret } from '../../src/core/index.ts';
import { openTarget } from '../../src/target/index.ts';

/** How many positions of each file are flipped. Fuzzing changes many more (`archive-file`). */
const FLIPS = Number(process.env['IDKIT_TEST_FLIPS'] ?? 5);
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const KEYS = deriveArchiveKeys(new Secret(MASTER_KEY));
const CHAIN = chainName(1_000_000, '0badcafe');

/** Makes an archive with one chain: a base of two parts, and a log of two generations. */
async function makeArchive(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-format-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const target = await openTarget(dir);
  const writer = await ChainWriter.begin(target, KEYS, CHAIN, {
    kind: 'sqlite',
    follows: null,
    complete: false,
  });
  const base = writer.beginBase();
  await base.put(Buffer.from('first part, '));
  await base.put(Buffer.from('second part'));
  const from = { generation: 1, after: writer.end.log };
  for (const n of [1, 2, 3, 4]) {
    const generation = n < 3 ? 1 : 2;
    const start = n % 2 === 1 ? 0 : 100;
    const at = n * 1000;
    const marks = [{ at, position: start + 100 }];
    await writer.putLog(
      writer.sealLog({ generation, start, content: Buffer.alloc(100, `event-${n}.`), marks, until: at }),
    );
  }
  await base.end(from, { at: 1000, position: 100, generation: 1 });
  const path = (name: string) => join(dir, CHAIN, name);
  return {
    dir,
    target,
    writer,
    path,
    names: readdirSync(join(dir, CHAIN)),
    reader: new ArchiveReader(target, KEYS),
  };
}

const noState = undefined;

test('a file opens with tail, gpg and gunzip alone', async (t) => {
  const { path } = await makeArchive(t);
  const script = `pass=$(printf 'idkit archive %s' "$IDKIT_MASTER_KEY" | sha256sum | cut -c1-64)
    tail -n +2 "$FILE" | gpg --batch --quiet --pinentry-mode loopback --passphrase "$pass" --decrypt | gunzip`;
  const env = {
    ...process.env,
    IDKIT_MASTER_KEY: MASTER_KEY,
    FILE: path('base-00000001-00000001'),
    GNUPGHOME: mkdtempSync(join(tmpdir(), 'idkit-gpg-')),
  };
  t.after(() => rmSync(env.GNUPGHOME, { recursive: true, force: true }));
  assert.equal(
    execFileSync('sh', ['-c', script], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    'first part, ',
  );
});

test('a flipped bit in any file is found, and the file is named', async (t) => {
  const { target, names, path } = await makeArchive(t);
  assert.deepEqual((await checkArchive(target, KEYS, noState)).problems, []);
  let tried = 0;
  for (const name of names) {
    const whole = readFileSync(path(name));
    for (let flip = 0; flip < FLIPS; flip++) {
      const position = flip < 2 ? [0, whole.length - 1][flip]! : Math.floor(Math.random() * whole.length);
      const changed = Buffer.from(whole);
      changed[position]! ^= 1 << (flip % 8);
      writeFileSync(path(name), changed);
      const { problems } = await checkArchive(target, KEYS, noState).catch((error: Error) => ({
        problems: [error.message],
      }));
      assert.ok(
        problems.some((problem) => problem.includes(`${CHAIN}/${name}`)),
        `${name} at ${position}: ${problems}`,
      );
      tried++;
    }
    writeFileSync(path(name), whole);
  }
  assert.ok(tried >= names.length * 2);
});

test('a file that is cut off, removed, swapped or served under another name is found', async (t) => {
  const { target, names, path } = await makeArchive(t);
  const logs = names.filter((name) => name.startsWith('log-'));
  const problems = async () => (await checkArchive(target, KEYS, noState)).problems;
  for (const name of names.filter((other) => other !== logs.at(-1) && other !== 'base-00000001-end')) {
    const whole = readFileSync(path(name));
    writeFileSync(path(name), whole.subarray(0, whole.length - 1));
    assert.notDeepEqual(await problems(), [], `${name} is cut off`);
    rmSync(path(name));
    assert.notDeepEqual(await problems(), [], `${name} is missing`);
    writeFileSync(path(name), whole);
  }
  const [first, second] = logs as [string, string];
  renameSync(path(first), path('kept'));
  renameSync(path(second), path(first));
  renameSync(path('kept'), path(second));
  assert.match((await problems()).join(), /log-00000001-00000001/);
});

test('a target that hides the newest file is found by the machine that wrote it', async (t) => {
  const { target, writer, names, path } = await makeArchive(t);
  const state = { chain: writer.end } as ArchiveState;
  assert.deepEqual((await checkArchive(target, KEYS, state)).problems, []);
  rmSync(path(names.filter((name) => name.startsWith('log-')).at(-1)!));
  assert.match((await checkArchive(target, KEYS, state)).problems.join(), /newest file is number 3/);
});

test('another master key opens nothing, and says so', async (t) => {
  const { target } = await makeArchive(t);
  const other = deriveArchiveKeys(new Secret(Buffer.alloc(32, 8).toString('base64')));
  await assert.rejects(checkArchive(target, other, noState), { code: 'IDKIT_MASTER_KEY_WRONG' });
});

test('files of the archive are readable by their owner alone, and contain nothing in plain text', async (t) => {
  const { names, path } = await makeArchive(t);
  for (const name of names) {
    assert.equal(statSync(path(name)).mode & 0o077, 0, name);
    assert.ok(!readFileSync(path(name)).includes('event-'), name);
  }
});

test('a moment is the last transaction that is not after it; an event is found in the log', async (t) => {
  const { target, reader } = await makeArchive(t);
  const plan = async (moment: Parameters<typeof planRecovery>[2]) =>
    (await planRecovery(reader, await listChains(target), moment)).mark;
  assert.deepEqual(await plan({ at: 1000 }), { at: 1000, position: 100, generation: 1 });
  assert.deepEqual(await plan({ at: 2999 }), { at: 2000, position: 200, generation: 1 });
  assert.deepEqual(await plan({ at: 3000 }), { at: 3000, position: 100, generation: 2 });
  assert.deepEqual(await plan({ at: 9_999_999 }), { at: 4000, position: 200, generation: 2 });
  assert.deepEqual(await plan({ before: 'event-3.' }), { at: 2000, position: 200, generation: 1 });
  await assert.rejects(plan({ at: 999 }), { code: 'IDKIT_NOT_FOUND' });
  await assert.rejects(plan({ before: 'event-1.' }), { code: 'IDKIT_NOT_FOUND' });
  await assert.rejects(plan({ before: 'event-9.' }), { code: 'IDKIT_NOT_FOUND' });
});

test('a target that hides a file of a moment cannot move the moment: the restore is refused', async (t) => {
  const { target, reader, names, path } = await makeArchive(t);
  const logs = names.filter((name) => name.startsWith('log-'));
  const plan = async (at: number, known?: ArchiveState) =>
    (await planRecovery(reader, await listChains(target), { at }, known)).mark.at;
  for (const [index, at] of [
    [1, 2500],
    [2, 3999],
    [0, 1999],
  ] as const) {
    renameSync(path(logs[index]!), path('kept'));
    await assert.rejects(plan(at), { code: 'IDKIT_DAMAGED', message: /before it is missing/ }, logs[index]);
    renameSync(path('kept'), path(logs[index]!));
  }
  assert.equal(await plan(2500), 2000);
});

test('a target that hides the newest file cannot restore an older state on the machine that wrote it', async (t) => {
  const { target, reader, writer, names, path } = await makeArchive(t);
  const known = { chain: writer.end } as ArchiveState;
  const plan = async (at: number) =>
    (await planRecovery(reader, await listChains(target), { at }, known)).mark.at;
  assert.equal(await plan(9000), 4000);
  rmSync(path(names.filter((name) => name.startsWith('log-')).at(-1)!));
  await assert.rejects(plan(9000), { code: 'IDKIT_DAMAGED', message: /number 3 instead of 4/ });
  assert.equal(await plan(3000), 3000, 'a moment before the missing file can be restored');
  rmSync(path(''), { recursive: true });
  await assert.rejects(plan(2_000_000), { code: 'IDKIT_DAMAGED', message: /number 0 instead of 4/ });
});

test('a moment between two chains is a gap, unless the first one ended in order', async (t) => {
  const { target, reader } = await makeArchive(t);
  for (const complete of [false, true]) {
    const name = chainName(complete ? 3_000_000 : 2_000_000, '00000000');
    const follows = complete ? chainName(2_000_000, '00000000') : CHAIN;
    const writer = await ChainWriter.begin(target, KEYS, name, { kind: 'sqlite', follows, complete });
    const base = writer.beginBase();
    const at = complete ? 3_500_000 : 2_500_000;
    await base.end({ generation: 1, after: writer.end.log }, { at, position: 0, generation: 1 });
  }
  const plan = async (at: number) => (await planRecovery(reader, await listChains(target), { at })).mark.at;
  await assert.rejects(
    plan(2_200_000),
    ({ code, hints }) => code === 'IDKIT_DAMAGED' && /1970-01-01T00:00:04/.test(hints.join()),
  );
  assert.equal(await plan(3_200_000), 2_500_000);
  assert.equal(await plan(9_000_000), 3_500_000);
});
