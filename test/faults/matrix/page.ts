import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestResult } from './reporter.ts';
import { KINDS, type Kind, MATRIX, type MatrixRow, type Proof } from './rows.ts';

export const PAGE = join(import.meta.dirname, '../../../docs/operate/fault-matrix.md');
export const RESULTS = join(import.meta.dirname, 'results.json');

const NAMES: Readonly<Record<Kind, string>> = {
  sqlite: 'SQLite',
  postgres: 'Postgres',
  containers: 'Containers',
};

/** The results of the last run, as `results.json` contains them. */
export interface MatrixResults {
  /** The day of the run: `YYYY-MM-DD`. */
  day: string;
  tests: readonly TestResult[];
}

export function readResults(): MatrixResults {
  return JSON.parse(readFileSync(RESULTS, 'utf8')) as MatrixResults;
}

/** Returns the results that belong to a proof. A title with a placeholder has several. */
export function resultsOf(proof: Proof, tests: readonly TestResult[], kind: Kind): readonly TestResult[] {
  const found = tests.filter(({ file, title }) => file === proof.file && title.startsWith(proof.title));
  // Tests that run on several databases have the database at the end of their title.
  if (!found.some(({ title }) => /\((SQLite|Postgres)[,)]/.test(title)) || proof.on.length === 1)
    return found;
  const own = kind === 'sqlite' ? 'SQLite' : 'Postgres';
  return found.filter(({ title }) => new RegExp(`\\(${own}[,)]`).test(title));
}

function cell({ proofs, without }: MatrixRow, kind: Kind, tests: readonly TestResult[]): string {
  const reason = without?.[kind];
  if (reason !== undefined) return reason;
  const own = proofs.filter(({ on }) => on.includes(kind));
  const results = own.flatMap((proof) => resultsOf(proof, tests, kind));
  const passed = results.filter(({ outcome }) => outcome === 'passed');
  const faults = passed.reduce((sum, one) => sum + one.faults, 0);
  const failed = results.filter(({ outcome }) => outcome === 'failed').length;
  const skipped = results.filter(({ outcome }) => outcome === 'skipped').length;
  const missing = own.filter((proof) => resultsOf(proof, tests, kind).length === 0).length;
  return [
    `${faults} of ${faults + failed} held`,
    ...(failed === 0 ? [] : [`${failed} FAILED`]),
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(missing === 0 ? [] : [`${missing} ${missing === 1 ? 'test' : 'tests'} not in this run`]),
  ].join(', ');
}

/** Renders the page from the table and the results of a run. */
export function renderPage({ day, tests }: MatrixResults): string {
  const lines = [
    '# The fault matrix',
    '',
    'Each row is a kind of fault that happens to backups and restores. Tests inject it into real processes, on each kind',
    'of platform. The last three columns count the injected faults after which the promise held, in the run of',
    `${day}. \`node test/faults/matrix/write-matrix.ts\` runs the tests and writes this page; with \`--containers\`, it also`,
    'runs those that need Docker and Podman.',
    '',
    `| # | fault | what holds | ${KINDS.map((kind) => NAMES[kind]).join(' | ')} |`,
    '|---|---|---|---|---|---|',
    ...MATRIX.map((row) => {
      const cells = KINDS.map((kind) => cell(row, kind, tests));
      return `| ${row.number} | ${row.injection} | ${row.holds} | ${cells.join(' | ')} |`;
    }),
    '',
    '## Tests',
    '',
    'A test of files alone is the same on every kind of platform.',
    '',
    '| # | on | test | file |',
    '|---|---|---|---|',
    ...MATRIX.flatMap((row) =>
      row.proofs.map(
        ({ on, title, file }) =>
          `| ${row.number} | ${on.length === KINDS.length ? 'all' : on.map((kind) => NAMES[kind]).join(', ')} | ${title.replace(/[ "]+$/, '')} | \`test/${file}\` |`,
      ),
    ),
    '',
  ];
  return lines.join('\n');
}
