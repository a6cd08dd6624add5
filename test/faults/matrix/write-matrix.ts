// Runs the tests of the fault matrix, and writes results.json and docs/operate/fault-matrix.md.
//   node test/faults/matrix/write-matrix.ts [--containers] [--rows 4,8] [--files faults/a.test.ts,...] [--page]
// With --rows or --files, only these tests run, and the other results stay. With --page, no test runs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { type MatrixResults, PAGE, RESULTS, readResults, renderPage } from './page.ts';
import type { TestResult } from './reporter.ts';
import { MATRIX } from './rows.ts';

const { values } = parseArgs({
  options: {
    containers: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    rows: { type: 'string' },
    files: { type: 'string' },
  },
});
/** The tests of these files are defined by another file, which the runner must start. */
const STARTED_BY: Readonly<Record<string, string>> = {
  'containers/part-faults.ts': 'containers/faults.test.ts',
  'containers/restore-faults.ts': 'containers/faults.test.ts',
};
const rows = values.rows?.split(',').map(Number);
const known = (): MatrixResults => (existsSync(RESULTS) ? readResults() : { day: '', tests: [] });
const only = values.files?.split(',');

if (values.page) writeFileSync(PAGE, renderPage(known()));
else {
  const files = new Set(
    MATRIX.filter(({ number }) => rows === undefined || rows.includes(number))
      .flatMap(({ proofs }) => proofs.map(({ file }) => STARTED_BY[file] ?? file))
      .filter((file) => values.containers || !file.startsWith('containers/'))
      .filter((file) => only === undefined || only.includes(file)),
  );
  let failed = false;
  // One file after the other, so that tests with limits of time do not disturb each other.
  for (const file of files) {
    const args = ['--test', `--test-reporter=${join(import.meta.dirname, 'reporter.ts')}`];
    const child = spawn(process.execPath, [...args, join(import.meta.dirname, '../..', file)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [lines] = await Promise.all([text(child.stdout), once(child, 'close')]);
    const results = lines
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as TestResult);
    console.error(
      `${file}: ${results.filter(({ outcome }) => outcome === 'passed').length} of ${results.length} passed`,
    );
    failed ||= results.some(({ outcome }) => outcome === 'failed');
    const replaced = new Set([file, ...results.map((one) => one.file)]);
    const proofs = MATRIX.flatMap((row) => row.proofs);
    // Reads the results again, because another run of this script may have added some.
    const tests = [...known().tests.filter((one) => !replaced.has(one.file)), ...results]
      .filter((one) => proofs.some((proof) => proof.file === one.file && one.title.startsWith(proof.title)))
      .toSorted((one, other) => (`${one.file} ${one.title}` < `${other.file} ${other.title}` ? -1 : 1));
    const all: MatrixResults = { day: new Date().toISOString().slice(0, 10), tests };
    writeFileSync(RESULTS, `${JSON.stringify(all, null, 2)}\n`);
    writeFileSync(PAGE, renderPage(all));
  }
  process.exitCode = failed ? 1 : 0;
}
