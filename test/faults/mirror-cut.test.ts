import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { hasProgram } from '../interop/system-program.ts';
import { makeDirectory } from '../procedures/platform.ts';
import { describeOnEachDatabase, listSetNames, runProgram } from './each-database.ts';

/** Bytes after which the connection ends, in the direction of the mirror. */
const CUTS = [0, 2_000, 20_000];

/** Writes a program in place of ssh that runs the command on this machine, and ends after some bytes. */
async function cutShell(t: TestContext, bytes: number | undefined): Promise<string> {
  const file = join(await makeDirectory(t, 'shell'), 'shell.mjs');
  const program = `#!${process.execPath}
import { spawn } from 'node:child_process';
const [, , , program, ...args] = process.argv;
const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'] });
let left = ${bytes ?? 'Infinity'};
const cut = () => { child.kill('SIGKILL'); process.exit(12); };
child.stdin.on('error', cut);
child.on('exit', (code) => process.exit(code ?? 12));
if (left === 0) cut();
process.stdin.on('data', (chunk) => {
  child.stdin.write(chunk.subarray(0, left));
  left -= chunk.length;
  if (left <= 0) setTimeout(cut, 20);
});
process.stdin.on('end', () => child.stdin.end());
`;
  await writeFile(file, program);
  await chmod(file, 0o755);
  return file;
}

describeOnEachDatabase('the mirror on another machine', ({ kind, fresh }) => {
  it(`a mirror whose connection is cut never shows a set without valid checksums, and the next run completes it (${kind})`, async (t) => {
    if (!hasProgram(t, 'rsync')) return;
    const platform = await fresh(t);
    const mirror = await makeDirectory(t, 'mirror');
    const args = ['backup', '--mirror', `nowhere.example:${mirror}`];
    const checkMirror = async (when: string) => {
      for (const name of await listSetNames(mirror)) {
        const dir = join(mirror, name);
        if (!(await readdir(dir)).includes('checksums.sha256')) continue;
        execFileSync('sha256sum', ['--strict', '--quiet', '-c', 'checksums.sha256'], { cwd: dir });
        assert.ok((await readdir(dir)).includes('seal.gpg'), when);
      }
    };
    let findings = 0;
    for (const bytes of CUTS) {
      const ended = await runProgram(platform.dir, args, { RSYNC_RSH: await cutShell(t, bytes) });
      assert.ok(ended.code === 0 || ended.code === 3, `${bytes}: ${ended.stderr}`);
      if (ended.code === 3) {
        assert.match(ended.stderr, /MIRROR_FAILED|the mirror nowhere\.example/);
        findings += 1;
      }
      await checkMirror(`cut after ${bytes} bytes`);
    }
    assert.equal(findings, CUTS.length, 'every run was cut');
    const whole = await runProgram(platform.dir, args, { RSYNC_RSH: await cutShell(t, undefined) });
    assert.equal(whole.code, 0, whole.stderr);
    await checkMirror('the complete run');
    assert.deepEqual(await listSetNames(mirror), await listSetNames(platform.root));
    t.diagnostic(`injected ${findings} faults`);
  });
});
