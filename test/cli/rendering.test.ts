import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { exitCodeOf, toIdkitError } from '../../src/cli/exit.ts';
import type { Output } from '../../src/cli/output/output.ts';
import { renderTable } from '../../src/cli/output/render-table.ts';
import { renderAge, renderBytes, renderMilliseconds } from '../../src/cli/output/render-units.ts';
import { renderProgress } from '../../src/cli/output/spinner.ts';
import { openOutput } from '../../src/cli/run-cli.ts';
import { openTerminal, readFirstLine, type Terminal } from '../../src/cli/terminal.ts';
import { ERROR_CATALOGUE, type ErrorCode, IdkitError } from '../../src/core/index.ts';

const FLAGS = { json: false, quiet: false, verbose: false, color: true, progress: true, yes: false };

function makeTerminal(isTerminal: boolean): { terminal: Terminal; out(): string; err(): string } {
  const texts = { out: '', err: '' };
  const collect = (name: 'out' | 'err') =>
    new Writable({
      write(chunk, _, done) {
        texts[name] += String(chunk);
        done();
      },
    });
  const stderr = Object.assign(collect('err'), {
    isTTY: isTerminal,
    columns: 80,
    cursorTo() {},
    clearLine() {},
    moveCursor() {},
  });
  const terminal = { stdin: new PassThrough(), stdout: collect('out'), stderr, canAsk: false };
  return { terminal, out: () => texts.out, err: () => texts.err };
}

/** Reports two steps, a note and a finding. */
function reportRun({ reporter }: Output): void {
  reporter.stepStarted({ id: 'dump', title: 'Dump the database' });
  reporter.stepProgress({ id: 'dump', done: 5, total: 10, unit: 'bytes' });
  reporter.stepFinished({ id: 'dump', milliseconds: 1234, summary: '10 B' });
  reporter.note('worth knowing');
  reporter.finding({ code: 'MIRROR_FAILED', message: 'the mirror\ndid not answer' });
  reporter.stepStarted({ id: 'publish', title: 'Publish' });
  reporter.stepFailed({ id: 'publish', milliseconds: 5 });
}

const END = {
  command: 'backup',
  exitCode: 3 as const,
  outcome: {
    data: { dir: '/x' },
    text: '/x',
    findings: [{ code: 'MIRROR_FAILED', message: 'the mirror\ndid not answer' }],
  },
};

test('without a terminal, prints a plain line for each finished step on stderr and the result on stdout', async () => {
  const { terminal, out, err } = makeTerminal(false);
  const output = await openOutput(terminal, FLAGS, {});
  reportRun(output);
  output.finish(END);
  assert.equal(
    err(),
    'done Dump the database (1.2 s): 10 B\nnote: worth knowing\nfinding: MIRROR_FAILED: the mirror did not answer\nfailed Publish (0.0 s)\n',
  );
  assert.equal(out(), '/x\n');
});

test('--quiet hides progress and notes, and keeps results, findings and errors', async () => {
  const { terminal, out, err } = makeTerminal(false);
  const output = await openOutput(terminal, { ...FLAGS, quiet: true }, {});
  reportRun(output);
  output.finish({ ...END, error: new IdkitError('IDKIT_FAILED', 'it failed', { hints: ['try again'] }) });
  assert.equal(
    err(),
    'finding: MIRROR_FAILED: the mirror did not answer\nerror IDKIT_FAILED: it failed\nhint: try again\n',
  );
  assert.equal(out(), '/x\n');
});

test('--json prints one object per line on stdout, and only the last one is a result', async () => {
  const { terminal, out, err } = makeTerminal(true);
  const output = await openOutput(terminal, { ...FLAGS, json: true }, {});
  reportRun(output);
  output.finish(END);
  const lines = out()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    lines.map(({ type, state }) => [type, state]),
    [
      ['step', 'started'],
      ['step', 'running'],
      ['step', 'finished'],
      ['note', undefined],
      ['finding', undefined],
      ['step', 'started'],
      ['step', 'failed'],
      ['result', undefined],
    ],
  );
  assert.deepEqual(lines.at(-1), {
    type: 'result',
    command: 'backup',
    ok: false,
    exitCode: 3,
    dir: '/x',
    findings: [{ code: 'MIRROR_FAILED', message: 'the mirror\ndid not answer' }],
  });
  assert.equal(err(), '');
});

test('shows a coloured progress line on a terminal, unless flags disable colours or progress', async () => {
  const show = async (flags: Partial<typeof FLAGS>, env: NodeJS.ProcessEnv) => {
    const { terminal, err } = makeTerminal(true);
    const output = await openOutput(terminal, { ...FLAGS, ...flags }, env);
    reportRun(output);
    output.finish(END);
    return err();
  };
  const color = /\u001b\[3[123]m/;
  assert.match(await show({}, {}), color);
  assert.doesNotMatch(await show({}, { NO_COLOR: '1' }), color);
  assert.doesNotMatch(await show({ color: false }, {}), color);
  const dumb = await show({}, { TERM: 'dumb' });
  assert.ok(!dumb.includes('\u001b'), 'nothing moves on a dumb terminal');
  assert.ok(!(await show({ progress: false, color: false }, {})).includes('\u001b'));
});

test('progress shows percent, bytes, rate and remaining time', () => {
  assert.equal(
    renderProgress({ done: 5_000_000, total: 20_000_000, unit: 'bytes' }, 1000),
    '25 %  5.0 MB of 20.0 MB  5.0 MB/s  3.0 s left',
  );
  assert.equal(renderProgress({ done: 3, total: 10, unit: 'items' }, 50), '30 %  3 of 10');
  assert.equal(renderProgress({ done: 1000, unit: 'bytes' }, 1000), '1.0 kB  1.0 kB/s');
});

test('prints sizes, durations and ages in a short form', () => {
  assert.deepEqual([0, 999, 1000, 123_456, 1_234_567_890].map(renderBytes), [
    '0 B',
    '999 B',
    '1.0 kB',
    '123 kB',
    '1.2 GB',
  ]);
  assert.deepEqual([0, 1500, 59_400, 187_000, 7_500_000].map(renderMilliseconds), [
    '0.0 s',
    '1.5 s',
    '59 s',
    '3 min 7 s',
    '2 h 5 min',
  ]);
  assert.deepEqual([5, 300, 7200, 200_000, -7200].map(renderAge), [
    '5 s',
    '5 min',
    '2 h',
    '2 d',
    '2 h ahead',
  ]);
});

test('a table removes control characters from its values', () => {
  assert.equal(
    renderTable(
      [
        { title: 'A', field: 'a' },
        { title: 'B', field: 'b' },
      ],
      [
        { a: 'x\u001b[31m\n', b: true },
        { a: 'long value', b: null },
      ],
      undefined,
    ),
    'A           B\nx           yes\nlong value',
  );
});

test('prints a stack trace only for a bug or with --verbose', async () => {
  const show = async (error: IdkitError, verbose: boolean) => {
    const { terminal, err } = makeTerminal(false);
    const output = await openOutput(terminal, { ...FLAGS, verbose }, {});
    output.finish({ command: 'x', exitCode: error.exitCode, outcome: {}, error });
    return err();
  };
  const failed = new IdkitError('IDKIT_FAILED', 'it failed', { cause: new Error('deep down') });
  assert.doesNotMatch(await show(failed, false), / {4}at /);
  assert.match(await show(failed, true), /deep down\n {4}at /);
  assert.match(await show(new IdkitError('IDKIT_BUG', 'no'), false), / {4}at /);
});

test('every error of the catalogue has the exit code of the contract, and findings exit with 3', () => {
  for (const [code, { exit }] of Object.entries(ERROR_CATALOGUE)) {
    assert.equal(exitCodeOf({ failure: new IdkitError(code as ErrorCode, 'x') }), exit, code);
  }
  const findings = [{ code: 'X', message: 'y' }];
  assert.equal(exitCodeOf({ findings }), 3);
  assert.equal(exitCodeOf({ findings, failure: new IdkitError('IDKIT_DAMAGED', 'x') }), 13);
  assert.equal(exitCodeOf({}), 0);
});

test('maps known system errors to error codes for the operator, and all others to a bug (exit code 70)', () => {
  const quiet = new AbortController();
  const code = (error: unknown, controller = quiet) => toIdkitError(error, controller.signal).code;
  assert.equal(code(Object.assign(new Error('x'), { code: 'ENOSPC' })), 'IDKIT_NO_SPACE');
  assert.equal(code(Object.assign(new Error('x'), { code: 'EDQUOT' })), 'IDKIT_NO_SPACE');
  assert.equal(code(Object.assign(new Error('x'), { code: 'EACCES' })), 'IDKIT_DIRECTORY_NOT_WRITABLE');
  assert.equal(code(new TypeError('x')), 'IDKIT_BUG');
  assert.equal(code('a text'), 'IDKIT_BUG');
  assert.equal(code(undefined), 'IDKIT_BUG');
  const interrupted = new AbortController();
  interrupted.abort(new IdkitError('IDKIT_TERMINATED', 'ended by SIGTERM'));
  assert.equal(code(new Error('The operation was aborted'), interrupted), 'IDKIT_TERMINATED');
  assert.equal(code(new IdkitError('IDKIT_DAMAGED', 'x'), interrupted), 'IDKIT_DAMAGED');
});

test('reads the first line of stdin, and rejects an empty one', async () => {
  const read = async (text: string) => {
    const { terminal } = makeTerminal(false);
    (terminal.stdin as PassThrough).end(text);
    return readFirstLine(terminal, 'a token');
  };
  assert.equal(await read('one\r\ntwo\n'), 'one');
  assert.equal(await read('one'), 'one');
  await assert.rejects(read(''), {
    code: 'IDKIT_USAGE',
    message: 'stdin is empty, but must contain a token',
  });
  await assert.rejects(read('x'.repeat(2_000_000)), {
    code: 'IDKIT_USAGE',
    message: /longer than 1048576 characters/,
  });
});

test('continues its work if the reader of its output closes the pipe', () => {
  const { terminal } = makeTerminal(false);
  openTerminal(terminal);
  assert.doesNotThrow(() => terminal.stdout.emit('error', Object.assign(new Error('x'), { code: 'EPIPE' })));
  assert.throws(() => terminal.stdout.emit('error', Object.assign(new Error('x'), { code: 'EIO' })), /x/);
});

test('prints plain lines and no spinner on a terminal without a width', async () => {
  const { terminal, err } = makeTerminal(true);
  Object.assign(terminal.stderr, { columns: 0 });
  reportRun(await openOutput(terminal, { ...FLAGS, color: false }, {}));
  assert.match(err(), /^done Dump the database/);
});

test('escapes control characters in names from outside, in results, notes, errors and JSON', async () => {
  const name = 'a\u001b[31m\u009b2J\u202eb\u2028c';
  const steering = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e]/;
  const end = {
    command: 'drill',
    exitCode: 1 as const,
    outcome: { text: `0 users of ${name}\nend`, data: { realm: name } },
    error: new IdkitError('IDKIT_FAILED', name, { hints: [name] }),
  };
  for (const json of [false, true]) {
    const { terminal, out, err } = makeTerminal(false);
    const output = await openOutput(terminal, { ...FLAGS, json, verbose: true }, {});
    output.reporter.note(name);
    output.showText('schedule', name);
    output.finish(end);
    assert.doesNotMatch(out() + err(), steering);
    if (json) assert.equal(JSON.parse(out().trimEnd().split('\n').at(-1)!).realm, name);
    else assert.match(out(), /0 users of a\\u001b\[31m\\u009b2J\\u202eb\\u2028c\nend\n/);
  }
});
