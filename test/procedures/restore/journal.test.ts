import assert from 'node:assert/strict';
import { chmod, chown, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { IdkitError } from '../../../src/core/index.ts';
import {
  type Journal,
  journalFile,
  listJournals,
  putJournal,
  removeJournal,
} from '../../../src/procedures/restore/journal.ts';
import { makeDirectory } from '../platform.ts';

const JOURNAL: Journal = {
  format: 1,
  id: '20261101_020000-abcdef',
  set: '/sets/20261101_020000',
  startedAt: '2026-11-01T02:00:00.000Z',
  state: 'done',
  step: 'finish',
  database: 'data/idkit.db',
  keepEnv: false,
  keepConfig: false,
  items: [{ name: 'config', had: true }],
  expectation: [],
};

/** Lists the journals of a directory, which must fail with IDKIT_RESTORE_BROKEN, and returns the message. */
async function refusal(dir: string): Promise<string> {
  const error = await listJournals(dir).then(
    () => assert.fail('the journal is trusted'),
    (fault: IdkitError) => fault,
  );
  assert.equal(error.code, 'IDKIT_RESTORE_BROKEN');
  return error.message;
}

test('rejects a journal that another user may have written, before a file is moved or removed', async (t) => {
  const dir = await makeDirectory(t, 'data');
  const file = journalFile(dir, JOURNAL.id);
  await putJournal(dir, JOURNAL);
  assert.deepEqual(await listJournals(dir), [JOURNAL]);

  await chmod(file, 0o662);
  assert.match(await refusal(dir), /is not trusted: other users can write to it$/);
  await chmod(file, 0o600);

  const elsewhere = join(await makeDirectory(t, 'elsewhere'), 'journal');
  await rename(file, elsewhere);
  await symlink(elsewhere, file);
  assert.match(await refusal(dir), /is not trusted: it is a link$/);
});

test('rejects a journal of another user', {
  skip: process.getuid?.() !== 0 && 'needs root',
}, async (t) => {
  const dir = await makeDirectory(t, 'data');
  await putJournal(dir, JOURNAL);
  await chown(journalFile(dir, JOURNAL.id), 65_534, 65_534);
  assert.match(await refusal(dir), /is not trusted: it belongs to another user \(65534\)$/);
  // A journal may belong to the owner of the directory, even if another user runs idkit.
  await chown(dir, 65_534, 65_534);
  assert.deepEqual(await listJournals(dir), [JOURNAL]);
});

test('rejects a journal with an item that no restore replaces', async (t) => {
  const dir = await makeDirectory(t, 'data');
  for (const name of ['../victim', 'data', '.env/../../victim', '']) {
    await writeFile(
      journalFile(dir, JOURNAL.id),
      JSON.stringify({ ...JOURNAL, items: [{ name, had: false }] }),
      { mode: 0o600 },
    );
    assert.match(await refusal(dir), /is unreadable$/);
  }
});

test('removing a journal removes the drafts that killed processes left, and no other file', async (t) => {
  const dir = await makeDirectory(t, 'data');
  await putJournal(dir, JOURNAL);
  await writeFile(join(dir, `.restore-${JOURNAL.id}.json.67d371599eef.partial`), '{');
  await writeFile(join(dir, '.restore-20261101_020000-fedcba.json.67d371599eef.partial'), '{');
  await writeFile(join(dir, '.restore.json'), '{');
  await removeJournal(dir, JOURNAL.id);
  assert.deepEqual(await readdir(dir), ['.restore.json']);
});
