import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { initPlatform } from '../../src/config/index.ts';
import { loadIdkitError } from '../program.ts';
import { waitUntil } from '../wait-until.ts';
import { makeDirectory, run } from './run.ts';

/** A platform directory without a service. Its status has the findings SERVICE_DOWN and BACKUP_MISSING. */
function makePlatform(t: TestContext): string {
  const dir = join(makeDirectory(t), 'idkit');
  initPlatform(dir, { env: {} });
  return dir;
}

describe('idkit status', () => {
  it('exits with 3 on a platform without a service and a backup, and prints findings, warnings and the screen', async (t) => {
    const ended = await run(['status'], { env: { IDKIT_DIR: makePlatform(t) } });
    assert.equal(ended.code, 3);
    assert.match(ended.stderr, /^finding: SERVICE_DOWN: the service is not running .*; run idkit serve$/m);
    assert.match(ended.stderr, /^finding: BACKUP_MISSING: .*; run idkit backup$/m);
    assert.match(ended.stderr, /^warning: MIRROR_MISSING: /m);
    assert.match(ended.stdout, /^last drill +never$/m);
    assert.match(
      ended.stdout,
      /^next run +none installed; with the timers of idkit schedule: backup \d{4}-/m,
    );
    assert.match(ended.stdout, /^result +2 findings, 2 warnings$/m);
  });

  it('exits with 0 if status.accept names every finding, and counts them in JSON', async (t) => {
    const dir = makePlatform(t);
    appendFileSync(join(dir, 'idkit.yaml'), 'status: { accept: [SERVICE_DOWN, BACKUP_MISSING] }\n');
    const ended = await run(['status', '--json'], { env: { IDKIT_DIR: dir } });
    assert.equal(ended.code, 0, ended.stderr);
    const { accepted } = ended.result() as { accepted: { code: string; level: string }[] };
    assert.deepEqual(
      accepted.map(({ code, level }) => `${level} ${code}`),
      ['finding SERVICE_DOWN', 'finding BACKUP_MISSING'],
    );
  });

  it('prints one block for each interval off a terminal, and ends with 0 on Ctrl-C', async (t) => {
    const interrupt = new AbortController();
    const IdkitError = await loadIdkitError();
    let blocks = 0;
    const ended = await run(['status', '--watch', '--interval', '1'], {
      env: { IDKIT_DIR: makePlatform(t) },
      interrupt,
      onOutput: (text) => {
        blocks += /^result /m.test(text) ? 1 : 0;
        if (blocks === 2) interrupt.abort(new IdkitError('IDKIT_INTERRUPTED', 'interrupted by Ctrl-C'));
      },
    });
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(ended.stdout.match(/^result +2 findings/gm)?.length, 2);
    assert.equal(ended.stdout.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/gm)?.length, 2);
    assert.match(ended.stdout, /^finding: BACKUP_MISSING: /m);
    assert.ok(!ended.stdout.includes('\x1b'));
    assert.equal(ended.stderr, '');
  });

  it('redraws one screen on a terminal that is cut to its size', async (t) => {
    const dir = makePlatform(t);
    const command = `stty rows 12 cols 60; exec ${process.execPath} ${join(import.meta.dirname, '../../bin/idkit.js')} status --watch --interval 1`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...process.env, IDKIT_DIR: dir, TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.after(() => child.kill());
    let shown = '';
    child.stdout.on('data', (chunk) => {
      shown += String(chunk);
    });
    await waitUntil('the second screen', () => shown.split('\x1b[H').length > 2);
    child.stdin.write('\x03');
    const [code] = (await once(child, 'close')) as [number];
    assert.equal(code, 0, shown);
    assert.equal(shown.match(/\x1b\[2J/g)?.length, 1);
    const screen = shown.split('\x1b[H')[1]!;
    const lines = screen
      .replaceAll(/\x1b\[[0-9]*[A-Z]/g, '')
      .trimEnd()
      .split(/\r?\n/);
    assert.ok(lines.length <= 12, `${lines.length} lines`);
    assert.ok(
      lines.every((line) => line.length <= 60),
      lines.join('\n'),
    );
    assert.match(screen, /… \d+ more lines/);
  });

  it('writes metrics for the textfile collector to a file that other users can read', async (t) => {
    const dir = makePlatform(t);
    const file = join(dir, '..', 'idkit.prom');
    const ended = await run(['status', '--prometheus', file], { env: { IDKIT_DIR: dir } });
    assert.equal(ended.code, 3);
    assert.equal(ended.stdout, '');
    assert.equal(statSync(file).mode & 0o777, 0o644);
    const text = readFileSync(file, 'utf8');
    assert.match(text, /^idkit_service_up 0$/m);
    assert.match(text, /^idkit_status_findings\{name="BACKUP_MISSING"\} 1$/m);
    const shown = await run(['status', '--prometheus'], { env: { IDKIT_DIR: dir } });
    assert.match(shown.stdout, /^idkit_status_healthy 0$/m);
  });

  it('rejects flags that exclude each other', async (t) => {
    const env = { IDKIT_DIR: makePlatform(t) };
    for (const [argv, message] of [
      [['--interval', '3'], /--interval needs --watch/],
      [['--watch', '--prometheus'], /exclude each other/],
      [['--watch', '--interval', '0'], /--interval must be a whole number/],
    ] as const) {
      const ended = await run(['status', ...argv], { env });
      assert.equal(ended.code, 2, argv.join(' '));
      assert.match(ended.stderr, message);
    }
  });
});
