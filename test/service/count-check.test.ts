import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { startCountCheck } from '../../src/service/count-check.ts';
import { begin } from '../conformance/store/suite.ts';
import { newStore } from '../store/files.ts';
import { waitUntil } from '../wait-until.ts';

test('logs a warning with each count that differed, and the end of a first check', async (t) => {
  const { store, file } = await newStore(t);
  await begin(store);
  const database = new DatabaseSync(file, { timeout: 10_000 });
  database.exec(`UPDATE count_check SET checked_at = 0 WHERE kind = 'families';
    DELETE FROM count_check WHERE kind = 'users';
    UPDATE record_count SET amount = 9 WHERE kind = 'families';`);
  database.close();
  const lines: { level: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const at = (level: string) => (fields: Readonly<Record<string, unknown>>) =>
    void lines.push({ level, fields });
  const log = { info: at('info'), warn: at('warn'), error: at('error') };
  const check = startCountCheck(store, log, { first: 1, idle: 600_000 });
  await waitUntil('both checks are logged', () => lines.length >= 2, { seen: () => JSON.stringify(lines) });
  check.stop();
  const drifts = [{ kind: 'families', owner: '', drift: -8 }];
  assert.deepEqual(
    lines.map(({ level, fields }) => [level, JSON.parse(JSON.stringify(fields))]),
    [
      ['info', { check: 'users' }],
      ['warn', { check: 'families', corrected: 1, drifts }],
    ],
  );
  assert.equal((await store.figures()).tokenFamilies, 1);
});
