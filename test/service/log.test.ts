import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Secret } from '../../src/core/index.ts';
import { openLog } from '../../src/service/index.ts';

test('writes one JSON line per event to a descriptor, in order, and flush() writes all buffered lines', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-log-'));
  const descriptor = openSync(join(dir, 'log'), 'w');
  const log = await openLog(descriptor);
  for (let n = 0; n < 100; n++) log.info({ n }, 'event');
  log.warn({ realm: 'a\nb' }, 'two\nlines');
  log.flush();
  const lines = readFileSync(join(dir, 'log'), 'utf8').trim().split('\n');
  assert.equal(lines.length, 101);
  assert.deepEqual(
    lines.slice(0, 100).map((line) => (JSON.parse(line) as { n: number }).n),
    Array.from({ length: 100 }, (_, n) => n),
  );
  assert.equal((JSON.parse(lines[100]!) as { level: string }).level, 'warn');
  closeSync(descriptor);
  rmSync(dir, { recursive: true });
});

test('logs the name, code, message, stack and causes of an error, and none of its other properties', async () => {
  let text = '';
  const log = await openLog({
    write: (line) => {
      text += line;
    },
  });
  const error = Object.assign(new Error('outer', { cause: new Error('inner') }), {
    code: 'E_TEST',
    body: 'password=hunter2',
  });
  log.error({ err: error, secret: new Secret('hunter2') }, 'failed');
  const line = JSON.parse(text) as { err: { code: string; cause: { message: string } }; secret: string };
  assert.equal(line.err.code, 'E_TEST');
  assert.equal(line.err.cause.message, 'inner');
  assert.equal(line.secret, '[secret]');
  assert.ok(!text.includes('hunter2'));
});
