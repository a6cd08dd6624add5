import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { buildPackage, CHECKOUT } from '../package.ts';
import { type Entry, makeDirectory, removeDirectory } from '../service.ts';
import type { Bench, Lines, Row, Sides } from './bench.ts';
import { adminListRow } from './rows/admin-list.ts';
import { backupRow } from './rows/backup.ts';
import { bytesRow } from './rows/bytes.ts';
import { costRow } from './rows/cost.ts';
import { emptyingRow, eventsRow } from './rows/events.ts';
import { groupsRow } from './rows/groups.ts';
import { lanesRow, loginsRow } from './rows/lanes.ts';
import { realmsRow } from './rows/realms.ts';
import { refreshFromDiskRow, refreshRow } from './rows/refresh.ts';
import { bigUserRow, metricsRow, sessionsRow } from './rows/sessions.ts';
import { sweepRow } from './rows/sweep.ts';
import { streamRow, usersRow } from './rows/users.ts';
import { type DatabaseKind, openSides, type Program } from './side.ts';
import { TARGETS } from './targets.ts';

/** All rows, in the order in which they run. Rows that change much data come last. */
const ROWS: readonly Row[] = [
  bytesRow,
  refreshRow,
  refreshFromDiskRow,
  usersRow,
  groupsRow,
  streamRow,
  adminListRow,
  sessionsRow,
  metricsRow,
  eventsRow,
  lanesRow,
  loginsRow,
  costRow,
  backupRow,
  realmsRow,
  emptyingRow,
  bigUserRow,
  sweepRow,
];

/**
 * `npm run bench -- scale [OPTION]…` measures what grows with the size of the tables, on both databases.
 *
 * - `--quick`: small data, fewer rounds
 * - `--only ROW`: only this row; several with commas
 * - `--database sqlite|postgres`: only this database
 * - `--sessions N`, `--users N`, `--events N`, `--realms N`: the size of the data
 * - `--rounds N`: how often each figure is measured. Default: 5, or 2 with `--quick`
 * - `--data DIR`: keeps the seeded databases in DIR and uses those that are there
 * - `--before DIR`: also measures the program in the checkout DIR, in turn with this one
 * - `--program DIR`: measures the program in the checkout DIR instead of this one
 * - `--json FILE`: also writes the figures to FILE
 *
 * The exit code is 1 if a figure misses its limit (targets.ts), unless the run is quick.
 */
export async function runScale(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      database: { type: 'string' },
      sessions: { type: 'string' },
      users: { type: 'string' },
      events: { type: 'string' },
      realms: { type: 'string' },
      rounds: { type: 'string' },
      data: { type: 'string' },
      before: { type: 'string' },
      program: { type: 'string' },
      json: { type: 'string' },
    },
  });
  const { quick } = values;
  const only = values.only?.split(',');
  const unknown = only?.find((name) => ROWS.every((row) => row.name !== name));
  if (unknown !== undefined)
    throw new Error(`unknown row ${unknown}; the rows are ${ROWS.map(({ name }) => name).join(', ')}`);
  const size = (given: string | undefined, normal: number, small: number) =>
    given === undefined ? (quick ? small : normal) : Number(given);
  const sessions = size(values.sessions, 1_000_000, 50_000);
  const users = size(values.users, sessions, 20_000);
  const events = size(values.events, sessions, 50_000);
  const few = Math.min(100_000, sessions / 5);
  const plans = [
    { sessions: few, users: Math.min(users, 10_000), events: 1000 },
    { sessions, users, events },
    { sessions: 1000, users: 100, events: 100 },
  ] as const;

  const data = values.data ?? makeDirectory();
  mkdirSync(data, { recursive: true });
  // Postgres runs as another user, who must reach its directory.
  chmodSync(data, 0o755);
  const programs: (Program & { remove(): Promise<void> })[] = [];
  for (const [name, checkout] of [
    ...(values.before === undefined ? [] : [['before', values.before] as const]),
    ['now', values.program ?? CHECKOUT] as const,
  ]) {
    const { remove, ...entry }: Entry & { remove(): Promise<void> } = await buildPackage(checkout);
    programs.push({ name, checkout, entry, remove });
  }
  const kinds = (['sqlite', 'postgres'] as const).filter((kind) =>
    [undefined, kind].includes(values.database as DatabaseKind),
  );
  const report: ReportLine[] = [];
  try {
    for (const kind of kinds) {
      const sides: Sides[] = [];
      try {
        for (const program of programs) {
          const opened = await openSides(program, kind, data, plans);
          const [small, large, realms] = opened.sides;
          sides.push({ program, small: small!, large: large!, realms: realms!, cluster: opened.cluster });
        }
        const bench: Bench = {
          kind,
          sides,
          quick,
          rounds: size(values.rounds, 5, 2),
          seconds: quick ? 0.6 : 5,
          realms: size(values.realms, 1000, 20),
        };
        for (const row of ROWS) {
          if (only !== undefined && !only.includes(row.name)) continue;
          process.stderr.write(`${kind} ${row.name} …\n`);
          const lines = toReport(kind, row.name, await row.measure(bench), programs);
          for (const line of lines) process.stderr.write(`  ${line.line}: ${describe(line)}\n`);
          report.push(...lines);
        }
      } finally {
        for (const { cluster } of sides) await cluster?.stop();
      }
    }
  } finally {
    for (const program of programs) await program.remove();
    if (values.data === undefined) removeDirectory(data);
  }
  print(report, programs, { quick, sessions, users, events });
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ sessions, users, events, report }, null, 2)}\n`);
}

interface ReportLine {
  kind: DatabaseKind;
  row: string;
  line: string;
  /** The figures in the order of the programs. */
  figures: readonly ({ value: number; detail?: string } | undefined)[];
}

function toReport(kind: DatabaseKind, row: string, lines: Lines, programs: readonly Program[]): ReportLine[] {
  return [...lines].map(([line, byProgram]) => ({
    kind,
    row,
    line,
    figures: programs.map(({ name }) => byProgram.get(name)),
  }));
}

function describe({ figures }: ReportLine): string {
  return figures
    .map((figure) => (figure ? `${figure.value.toPrecision(3)} (${figure.detail ?? ''})` : '-'))
    .join(' | ');
}

function print(
  report: readonly ReportLine[],
  programs: readonly Program[],
  { quick, sessions, users, events }: { quick: boolean; sessions: number; users: number; events: number },
): void {
  const machine = `${cpus()[0]?.model ?? 'unknown processor'}, Node.js ${process.versions.node}`;
  const data = [sessions, users, events].map((number) => number.toLocaleString('en'));
  console.log(`${quick ? 'Quick run (small data, too small to judge). ' : ''}${machine}`);
  console.log(`${data[0]} sessions, ${data[1]} users, ${data[2]} events\n`);
  console.log(`| database | row | | ${programs.map(({ name }) => name).join(' | ')} | must | |`);
  console.log(`|---|---|---|${programs.map(() => '---|').join('')}---|---|`);
  for (const { kind, row, line, figures } of report) {
    const cells = figures.map((figure) => figure?.value.toPrecision(3) ?? '');
    const details = programs.flatMap(({ name }, at) => {
      const detail = figures[at]?.detail;
      return detail === undefined ? [] : [programs.length > 1 ? `${name}: ${detail}` : detail];
    });
    console.log(
      `| ${kind} | ${row} | ${line} | ${cells.join(' | ')} | ${mustOf(line, figures.at(-1)?.value)} | ${details.join('; ')} |`,
    );
  }
  const missed = report.filter(({ line, figures }) => isMissed(line, figures.at(-1)?.value));
  if (missed.length === 0) return;
  console.log(`\n${missed.length} figures miss their limit`);
  if (!quick) process.exitCode = 1;
}

function mustOf(line: string, value: number | undefined): string {
  return `${TARGETS[line] ?? ''}${isMissed(line, value) ? ' **missed**' : ''}`;
}

function isMissed(line: string, value: number | undefined): boolean {
  const target = TARGETS[line];
  if (target === undefined || value === undefined) return false;
  return target.startsWith('≤') ? !(value <= Number(target.slice(1))) : !(value >= Number(target));
}
