import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { mirrorRoot } from '../../../src/procedures/index.ts';
import { scratch } from '../../target/scratch.ts';
import { mirrorOptions, NOW, writeSet } from './roots.ts';

const OLD = '20261120_101112';
const NEW = '20261122_101112';

/** A backup root with two sets and an empty directory for copies. */
function places(t: TestContext): { root: string; target: string } {
  const root = join(scratch(t), 'root');
  for (const name of [OLD, NEW]) writeSet(root, name);
  return { root, target: join(scratch(t), 'target') };
}

const messagesOf = ({ findings }: { findings: readonly { message: string }[] }) =>
  findings.map(({ message }) => message);

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

test('the first run copies every set and reads everything back, and the next one copies nothing', async (t) => {
  const { root, target } = places(t);
  const first = await mirrorRoot(mirrorOptions(root, target));
  assert.deepEqual([first.copied, first.findings, first.readBack.kind], [[OLD, NEW], [], 'all']);
  for (const name of [OLD, NEW])
    for (const file of readdirSync(join(root, name)))
      assert.deepEqual(readFileSync(join(target, name, file)), readFileSync(join(root, name, file)));
  const second = await mirrorRoot(mirrorOptions(root, target));
  assert.deepEqual([second.copied, second.findings, second.readBack.kind], [[], [], 'sample']);
  assert.ok(second.readBack.bytes > 600_000, 'one whole set is read');
});

test('a week later every byte is read again', async (t) => {
  const { root, target } = places(t);
  await mirrorRoot(mirrorOptions(root, target));
  const later = await mirrorRoot(mirrorOptions(root, target, { now: NOW + 7 * 86_400_000 }));
  assert.equal(later.readBack.kind, 'all');
  assert.equal(later.readBack.files, 4);
});

test('a flipped bit in any file at the target is found by the next full read, and the right file is named', async (t) => {
  const { root, target } = places(t);
  await mirrorRoot(mirrorOptions(root, target));
  const count = Number(process.env['IDKIT_TEST_FLIPS'] ?? 3);
  for (const file of ['config.tar.gz', 'keycloak-db.sql.gz']) {
    const path = join(target, OLD, file);
    const { length } = readFileSync(path);
    for (let index = 0; index < count; index += 1) {
      const at = Math.floor((index * length) / count);
      flip(path, at);
      const found = await mirrorRoot(mirrorOptions(root, target, { readsAll: true }));
      assert.deepEqual(
        messagesOf(found),
        [`the mirror ${target}: ${OLD}: ${file} does not match its checksum at the target`],
        `byte ${at}`,
      );
      flip(path, at);
    }
  }
  const changed = join(target, OLD, 'checksums.sha256');
  flip(changed, 3);
  const found = await mirrorRoot(mirrorOptions(root, target));
  assert.match(messagesOf(found).join(), /different set with this name, which is not overwritten/);
});

test('local damage never reaches the target: the set there stays, and a new damaged set never becomes a set there', async (t) => {
  const { root, target } = places(t);
  await mirrorRoot(mirrorOptions(root, target));
  const good = readFileSync(join(target, OLD, 'keycloak-db.sql.gz'));
  flip(join(root, OLD, 'keycloak-db.sql.gz'), 77);
  const third = writeSet(root, '20261122_101113');
  flip(join(root, third, 'keycloak-db.sql.gz'), 77);
  const found = await mirrorRoot(mirrorOptions(root, target));
  assert.match(messagesOf(found).join(), /keycloak-db\.sql\.gz does not match its checksum in the set/);
  assert.deepEqual(readFileSync(join(target, OLD, 'keycloak-db.sql.gz')), good);
  assert.deepEqual(readdirSync(join(target, third)), ['config.tar.gz'], 'no checksums');
});

test('a deleted file or set at the target is copied again and reported', async (t) => {
  const { root, target } = places(t);
  await mirrorRoot(mirrorOptions(root, target));
  rmSync(join(target, OLD, 'keycloak-db.sql.gz'));
  rmSync(join(target, NEW), { recursive: true });
  const found = await mirrorRoot(mirrorOptions(root, target));
  assert.deepEqual(messagesOf(found), [
    `the mirror ${target}: ${OLD} lacked files there, which were copied again`,
    `the mirror ${target}: ${NEW} was deleted there by another program, and was copied again`,
  ]);
  assert.deepEqual((await mirrorRoot(mirrorOptions(root, target, { readsAll: true }))).findings, []);
});

test('a set that is deleted at the target after it expired here is reported', async (t) => {
  const { root, target } = places(t);
  await mirrorRoot(mirrorOptions(root, target));
  rmSync(join(root, OLD), { recursive: true });
  assert.deepEqual((await mirrorRoot(mirrorOptions(root, target))).findings, []);
  rmSync(join(target, OLD), { recursive: true });
  assert.match(
    messagesOf(await mirrorRoot(mirrorOptions(root, target))).join(),
    /was deleted there by another program/,
  );
  assert.deepEqual((await mirrorRoot(mirrorOptions(root, target))).findings, [], 'once');
});

test('a set that was replaced at the target, checksums included, is reported even if it no longer exists here', async (t) => {
  const { root, target } = places(t);
  await mirrorRoot(mirrorOptions(root, target));
  rmSync(join(root, OLD), { recursive: true });
  writeSet(target, OLD);
  const found = await mirrorRoot(mirrorOptions(root, target, { readsAll: true }));
  assert.deepEqual(messagesOf(found), [
    `the mirror ${target}: ${OLD}: it was replaced at the target: its checksums are not those that were copied`,
  ]);
});

test('what killed runs left behind is removed a day later, and nothing else', async (t) => {
  const { root, target } = places(t);
  await mirrorRoot(mirrorOptions(root, target));
  const [left, fresh, other] = [
    '.idkit-0123456789abcdef.partial',
    '.idkit-00000000deadbeef.partial',
    'kept',
  ].map((name) => join(target, OLD, name)) as [string, string, string];
  for (const file of [left, fresh, other]) writeFileSync(file, 'x');
  for (const file of [left, other]) utimesSync(file, 1, NOW / 1000 - 86_401);
  utimesSync(fresh, 1, NOW / 1000 - 86_399);
  await mirrorRoot(mirrorOptions(root, target));
  assert.deepEqual(
    [left, fresh, other].map((file) => existsSync(file)),
    [false, true, true],
  );
});

test('a truncated file at the target is reported, and never overwritten', async (t) => {
  const { root, target } = places(t);
  await mirrorRoot(mirrorOptions(root, target));
  truncateSync(join(target, OLD, 'keycloak-db.sql.gz'), 1000);
  const found = await mirrorRoot(mirrorOptions(root, target));
  assert.match(
    messagesOf(found).join(),
    new RegExp(`${OLD}: keycloak-db.sql.gz has another size at the target`),
  );
  assert.equal(readFileSync(join(target, OLD, 'keycloak-db.sql.gz')).length, 1000);
});

test('an unfinished copy continues: right files stay, and wrong ones are replaced', async (t) => {
  const { root, target } = places(t);
  cpSync(join(root, NEW), join(target, NEW), { recursive: true });
  rmSync(join(target, NEW, 'checksums.sha256'));
  flip(join(target, NEW, 'keycloak-db.sql.gz'), 5);
  const found = await mirrorRoot(mirrorOptions(root, target));
  assert.deepEqual([found.findings, found.copied], [[], [OLD, NEW]]);
});

test('sets are deleted at the target only with deletes, within the bound, and never after a fault', async (t) => {
  const root = join(scratch(t), 'root');
  const target = join(scratch(t), 'target');
  for (let day = 10; day <= 16; day += 1) writeSet(root, `202611${day}_101112`, 1000);
  const keep = { last: 2, daily: 0, weekly: 0, monthly: 0, yearly: 0 };
  const kept = await mirrorRoot(mirrorOptions(root, target, { keep }));
  assert.deepEqual([kept.deleted, readdirSync(target).length], [[], 7]);
  const bound = await mirrorRoot(mirrorOptions(root, target, { keep, deletes: true, maxDelete: 4 }));
  assert.deepEqual([bound.deleted, bound.findings.map(({ code }) => code)], [[], ['MIRROR_DELETE_BOUND']]);
  const dry = await mirrorRoot(mirrorOptions(root, target, { keep, deletes: true, dryRun: true }));
  assert.deepEqual(dry.decisions.filter(({ action }) => action === 'delete').length, 5);
  for (let day = 10; day <= 14; day += 1) rmSync(join(root, `202611${day}_101112`), { recursive: true });
  flip(join(target, '20261115_101112', 'config.tar.gz'), 9);
  const faulty = await mirrorRoot(mirrorOptions(root, target, { keep, deletes: true, readsAll: true }));
  assert.deepEqual([faulty.deleted, faulty.findings.length], [[], 1]);
  flip(join(target, '20261115_101112', 'config.tar.gz'), 9);
  const done = await mirrorRoot(mirrorOptions(root, target, { keep, deletes: true }));
  assert.deepEqual(
    [done.deleted.length, done.findings, readdirSync(target)],
    [5, [], ['20261115_101112', '20261116_101112']],
  );
});

test('a target inside the backup root, or around it, is rejected', async (t) => {
  const { root } = places(t);
  for (const target of [root, join(root, 'copies'), join(root, '..')]) {
    const report = await mirrorRoot(mirrorOptions(root, target));
    assert.equal(report.failure?.code, 'IDKIT_SETTING', target);
  }
});
