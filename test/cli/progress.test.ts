import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { renderRunning } from '../../src/cli/output/spinner.ts';
import { PROGRAM } from '../program.ts';
import { waitUntil } from '../wait-until.ts';
import { hasTerminals, openPseudoTerminal } from './pseudo-terminal.ts';
import { run } from './run.ts';
import { type ServedPlatform, servePlatform } from './served-platform.ts';

const SLOW_STEP = fileURLToPath(new URL('./run-slow-step.ts', import.meta.url));

const load = {
  title: 'Load the dump into a staged database',
  number: 4,
  of: 11,
  began: 0,
  state: { done: 5e8, total: 2e9, unit: 'bytes' },
} as const;

/** The rows that a program drew: each is preceded by a carriage return or a line feed. */
function rowsOf(raw: string): readonly string[] {
  return raw
    .split(/[\r\n]/)
    .map((row) => stripVTControlCharacters(row))
    .filter((row) => row !== '');
}

test('the running step shows its number, percentage, amount, rate and remaining time', () => {
  assert.equal(
    renderRunning([load], 5000, 120),
    '4/11 Load the dump into a staged database  25 %  500 MB of 2.0 GB  100 MB/s  15 s left',
  );
});

test('in a narrow terminal, the percentage and the remaining time stay longest', () => {
  assert.equal(renderRunning([load], 5000, 60), '4/11 Load the dump into a staged database  25 %  15 s left');
  assert.equal(renderRunning([load], 5000, 40), '4/11 Load the dump int…  25 %  15 s left');
  for (let width = 1; width <= 130; width++) assert.ok(renderRunning([load], 5000, width).length <= width);
});

test('an inner step shows the numbers of the steps around it', () => {
  const drill = { title: 'Restore the set there', number: 2, of: 4, began: 0 };
  assert.match(renderRunning([drill, load], 5000, 120), /^2\/4 › 4\/11 Load the dump/);
});

test('marks an estimated total, and shows the rate of items', () => {
  const dump = {
    title: 'Dump',
    began: 0,
    state: { done: 10, total: 40, unit: 'bytes', isEstimate: true },
  } as const;
  assert.equal(renderRunning([dump], 100, 80), 'Dump  25 %  10 B of about 40 B');
  const users = { title: 'Check', began: 0, state: { done: 3000, total: 12_000, unit: 'items' } } as const;
  assert.equal(renderRunning([users], 1000, 80), 'Check  25 %  3,000 of 12,000  3,000/s  3.0 s left');
});

test('a step without progress shows how long it has been running', () => {
  assert.equal(renderRunning([{ title: 'Start the service', began: 0 }], 1000, 80), 'Start the service');
  assert.equal(
    renderRunning([{ title: 'Start the service', began: 0 }], 12_345, 80),
    'Start the service  12 s',
  );
});

test('counts wide characters as two columns', () => {
  assert.equal(renderRunning([{ title: '領域領域', began: 0 }], 0, 7), '領域領…');
});

for (const columns of [40, 80, 120]) {
  test(`at ${columns} columns, the progress is one row of the terminal, also after a resize`, async (t) => {
    if (!hasTerminals(t)) return;
    const terminal = await openPseudoTerminal(t, `'${process.execPath}' '${SLOW_STEP}'`, { columns });
    await terminal.waitFor('the step is shown', /25 %/);
    for (const row of rowsOf(terminal.raw())) assert.ok(row.length < columns, row);
    for (const width of [30, 100]) {
      const from = terminal.raw().length;
      terminal.resize(width);
      // Rows that were drawn before the program was notified may still have the old width.
      await waitUntil(
        'the step is drawn in the new width',
        () => {
          const rows = rowsOf(terminal.raw().slice(from)).slice(1);
          return rows.length >= 3 && rows.slice(-3).every((row) => row.length < width);
        },
        { seen: () => rowsOf(terminal.raw().slice(from)) },
      );
    }
    terminal.type('\r');
    assert.equal(await terminal.ended, 0);
    assert.match(terminal.text(), /^ {2}done Load the dump into a staged database \(1\.0 s\)\r?\n/m);
    assert.match(
      terminal.text(),
      /^done Restore the set there and run the smoke tests \(2\.0 s\)\r?\npassed/m,
    );
  });
}

describe('procedures on a terminal', () => {
  const env = { IDKIT_BACKUP_PASSPHRASE: 'correct horse battery staple' };
  const idkit = `'${process.execPath}' '${PROGRAM}'`;
  let platform: ServedPlatform;
  before(async () => {
    platform = await servePlatform();
    assert.equal((await run(['backup'], { cwd: platform.cwd, env })).code, 0);
  });
  after(() => platform.close());

  for (const columns of [40, 80, 120]) {
    test(`at ${columns} columns, the progress of a backup fits the terminal and breaks no word`, async (t) => {
      if (!hasTerminals(t)) return;
      const { cwd } = platform;
      const terminal = await openPseudoTerminal(t, `${idkit} backup`, { columns, cwd, env });
      assert.equal(await terminal.ended, 0);
      assert.match(terminal.text(), /1\/11 Lock/);
      assert.match(terminal.text(), /2\/11 Dump/);
      // The last line is the path of the set, which programs read.
      for (const row of rowsOf(terminal.raw()).slice(0, -1)) {
        assert.ok(row.length <= columns || !row.trim().includes(' '), `${row.length}: ${row}`);
      }
    });
  }

  test('a drill shows the steps of the restore inside its own, also in a log', async () => {
    const { stderr, code } = await run(['drill'], { cwd: platform.cwd, env });
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^done Create an isolated platform directory \(.* s\)\n {2}done Verify the backup set \(/m,
    );
    assert.match(stderr, /^ {2}done Load the dump into a staged database \(/m);
    assert.match(stderr, /^done Restore the set there and run the smoke tests \(/m);
    const { json } = await run(['drill', '--json'], { cwd: platform.cwd, env });
    const started = json().filter(({ type, state }) => type === 'step' && state === 'started');
    assert.deepEqual(
      started.slice(0, 3).map(({ id, number, of, within }) => [id, number, of, within]),
      [
        ['isolate', 1, 4, undefined],
        ['restore', 2, 4, undefined],
        ['verify', 1, 11, ['restore']],
      ],
    );
  });

  test('verify --drill prints the verdict of the drill below that of the set', async () => {
    const { stdout } = await run(['verify', '--drill', '--quiet'], { cwd: platform.cwd, env });
    assert.match(stdout, /^good: [^\n]*\ndrill passed after [\d.]+ m?s\n$/);
  });
});
