import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { rewriteDump } from '../procedures/inspect/rewrite-dump.ts';
import { copyKeycloakSet } from '../procedures/platform.ts';
import { findS3Gap, startS3 } from '../target/s3-server.ts';
import { run } from './run.ts';

describe('backups show and diff', () => {
  it('escape what could steer a terminal in the names of a dump', async (t) => {
    const { root, dir } = await copyKeycloakSet(t);
    const other = join(root, 'other');
    await cp(dir, other, { recursive: true });
    const hostile = '\u001b]0;title\u0007\u202e\u009b2Jowned';
    await rewriteDump(other, (sql) =>
      sql.replaceAll('\tglobex\t', `\t${hostile}\t`).replaceAll('\talice\t', `\t${hostile}\t`),
    );
    for (const argv of [
      ['show', other],
      ['diff', dir, other],
    ])
      for (const more of [[], ['--json']]) {
        const ran = await run(['backups', ...argv, ...more], { cwd: root, terminal: true });
        assert.equal(ran.code, 0, ran.stderr);
        assert.match(ran.stdout, /owned/);
        assert.doesNotMatch(ran.stdout + ran.stderr, /\u001b\]|[\u0007\u009b\u202e]/);
      }
  });

  it('reads sets of an S3 target', { skip: findS3Gap() }, async (t) => {
    const { root, dir } = await copyKeycloakSet(t);
    const server = await startS3(t);
    const before = { ...process.env };
    Object.assign(process.env, server.env);
    t.after(() => {
      process.env = before;
    });
    for (const name of ['20261121_020000', '20261122_020000'])
      await cp(dir, join(server.objects, 'idkit', name), { recursive: true });
    const location = `s3://${server.bucket}/idkit`;
    const shown = await run(['backups', 'show', `${location}/latest`, '--json'], { cwd: root });
    assert.equal(shown.code, 0, shown.stderr);
    assert.equal(shown.result()['name'], '20261122_020000');
    const sets = ['20261121_020000', 'latest'].map((name) => `${location}/${name}`);
    const compared = await run(['backups', 'diff', ...sets], { cwd: root });
    assert.equal(compared.code, 0, compared.stderr);
    assert.match(compared.stdout, /20261121_020000 and 20261122_020000 have the same content/);
  });
});
