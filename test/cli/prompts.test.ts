import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { ask, confirm, type Terminal } from '../../src/cli/terminal.ts';
import { IdkitError } from '../../src/core/index.ts';

function makeTerminal(): { terminal: Terminal; type(text: string): void; shown(): string } {
  let shown = '';
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} });
  const stderr = new Writable({
    write(chunk, _, done) {
      shown += String(chunk);
      done();
    },
  });
  const stdout = new Writable({ write: (_, __, done) => done() });
  return {
    terminal: { stdin, stdout, stderr, canAsk: true },
    type: (text) => void stdin.write(text),
    shown: () => shown,
  };
}

const quiet = new AbortController().signal;

test('a hidden prompt does not echo the answer', async () => {
  const { terminal, type, shown } = makeTerminal();
  const answer = ask(terminal, 'Password: ', { hidden: true, signal: quiet });
  type('swordfish\r');
  assert.equal(await answer, 'swordfish');
  assert.equal(shown(), 'Password: \n');
});

test('a hidden prompt does not echo the answer after a prompt that did', async () => {
  const { terminal, type, shown } = makeTerminal();
  const visible = ask(terminal, 'Name: ', { hidden: false, signal: quiet });
  type('alice\r');
  assert.equal(await visible, 'alice');
  const hidden = ask(terminal, 'Password: ', { hidden: true, signal: quiet });
  type('swordfish\r');
  assert.equal(await hidden, 'swordfish');
  assert.match(shown(), /alice/);
  assert.doesNotMatch(shown(), /swordfish/);
});

test('uses a line that was typed ahead as the answer to the next prompt', async () => {
  const { terminal, type } = makeTerminal();
  const first = ask(terminal, 'Password: ', { hidden: true, signal: quiet });
  type('one\rtwo\r');
  assert.equal(await first, 'one');
  assert.equal(await ask(terminal, 'Again: ', { hidden: true, signal: quiet }), 'two');
});

test('accepts only y and yes as confirmation', async () => {
  for (const [typed, expected] of [
    ['y', true],
    ['YES', true],
    ['', false],
    ['n', false],
    ['yeah', false],
  ] as const) {
    const { terminal, type } = makeTerminal();
    const answer = confirm(terminal, 'Go?', quiet);
    type(`${typed}\r`);
    assert.equal(await answer, expected, typed);
  }
});

test('Ctrl-C and Ctrl-D interrupt a prompt, and an aborted signal ends it with the signal’s reason', async () => {
  for (const key of ['\u0003', '\u0004']) {
    const { terminal, type } = makeTerminal();
    const answer = ask(terminal, 'Password: ', { hidden: true, signal: quiet });
    type(key);
    await assert.rejects(answer, { code: 'IDKIT_INTERRUPTED' });
  }
  const { terminal } = makeTerminal();
  const controller = new AbortController();
  const answer = ask(terminal, 'Password: ', { hidden: true, signal: controller.signal });
  controller.abort(new IdkitError('IDKIT_TERMINATED', 'ended by SIGTERM'));
  await assert.rejects(answer, { code: 'IDKIT_TERMINATED' });
});
