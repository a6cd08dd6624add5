import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { readLines } from '../../../src/procedures/schedule/run/read-lines.ts';

test('lines are passed on without their ends, however the output is split', async () => {
  const stream = new PassThrough();
  const lines: string[] = [];
  readLines(stream, (line) => lines.push(line));
  for (const part of ['on', 'e\r\n', '\ntw', 'o\nth', 'ree']) stream.write(part);
  stream.end();
  await once(stream, 'end');
  assert.deepEqual(lines, ['one', '', 'two', 'three']);
});

test('a program that prints 20 MB without a line end costs the memory of one long line', async () => {
  const child = spawn('sh', ['-c', "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last"]);
  const lengths: number[] = [];
  readLines(child.stdout, (line) => lengths.push(line.length));
  await once(child, 'close');
  assert.deepEqual(lengths, [256 * 1024, 4]);
});
