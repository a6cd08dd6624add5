import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { SET_FILES } from '../../src/backupset/index.ts';
import { OLD } from '../procedures/restored-state.ts';
import { putContent } from '../procedures/tampered-set.ts';
import { describeOnEachDatabase, runProgram } from './each-database.ts';

/** Returns the dump cut at each place where a reader could mistake it for a complete one. */
function truncations(file: Buffer): readonly (readonly [where: string, file: Buffer])[] {
  const sql = gunzipSync(file);
  const text = sql.toString('latin1');
  const cutSql = (at: number) => gzipSync(sql.subarray(0, at));
  // Nothing that matters follows the marker, so a dump is complete with it.
  const marker = text.lastIndexOf('dump complete');
  const markerLine = text.lastIndexOf('\n', marker) + 1;
  const rows = Math.max(text.indexOf('COPY '), text.indexOf('INSERT INTO'));
  return [
    ['at a line end inside the rows', cutSql(text.indexOf('\n', rows) + 1)],
    [
      'after the data',
      cutSql(text.lastIndexOf('\n', Math.max(text.lastIndexOf('\\.\n'), text.lastIndexOf(');\n')) + 2) + 1),
    ],
    ['before the marker', cutSql(markerLine)],
    ['one byte before the end of the marker', cutSql(marker + 'dump complete'.length - 1)],
    ['in the middle of the SQL', cutSql(Math.floor(sql.length / 2))],
    ['inside the gzip stream', file.subarray(0, Math.floor(file.length / 2))],
    ['one byte before the end of the gzip stream', file.subarray(0, -1)],
    ['at the beginning', Buffer.alloc(0)],
  ];
}

describeOnEachDatabase('a truncated dump whose checksums and seal were written again', ({ kind, fresh }) => {
  it(`ends verify and restore with exit code 13 wherever it is cut, and changes nothing (${kind})`, async (t) => {
    const platform = await fresh(t);
    const file = await readFile(join(platform.set, SET_FILES.dump));
    const cuts = truncations(file);
    for (const [where, cut] of cuts) {
      await putContent({ dir: platform.set }, SET_FILES.dump, cut);
      for (const args of [
        ['verify', platform.set],
        ['restore', '--from', platform.set, '--yes'],
      ]) {
        const { code, stderr } = await runProgram(platform.dir, args);
        assert.equal(code, 13, `${args[0]}, cut ${where}: ${stderr}`);
        assert.match(stderr, /keycloak-db\.sql\.gz: /, where);
      }
      assert.deepEqual(await platform.readState(), OLD, where);
    }
    t.diagnostic(`injected ${cuts.length} faults`);
  });
});
