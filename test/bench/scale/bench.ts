import { execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { LoadOrder, LoadResult } from '../load.ts';
import { LOAD_CORE, load, median, tryLoad } from '../measure.ts';
import type { Cluster } from './cluster.ts';
import type { DatabaseKind, Program, RunningSide, Side } from './side.ts';

/** The seeded databases of one program. */
export interface Sides {
  program: Program;
  /** 100,000 sessions, or fewer in a quick run. */
  small: Side;
  large: Side;
  /** A database with few rows, to which the bench adds realms. */
  realms: Side;
  cluster: Cluster | undefined;
}

/** What a row measures: the databases of each program, on one kind of database. */
export interface Bench {
  kind: DatabaseKind;
  sides: readonly Sides[];
  quick: boolean;
  rounds: number;
  /** Length of a measured window in seconds. */
  seconds: number;
  /** Number of realms that the row `realms` creates. */
  realms: number;
}

/** One figure of one program. */
export interface Figure {
  value: number;
  detail?: string;
}

/** The figures of one line of the report, by the name of the program. */
export type Lines = Map<string, Map<string, Figure>>;

export interface Row {
  name: string;
  measure(bench: Bench): Promise<Lines>;
}

/** Measures each program once per round, in turn, and returns the median of each line. */
export async function inRounds(
  bench: Bench,
  rounds: number,
  measure: (sides: Sides, round: number) => Promise<Readonly<Record<string, Figure>>>,
): Promise<Lines> {
  const all = new Map<string, Map<string, Figure[]>>();
  for (let round = 0; round < rounds; round += 1)
    for (const sides of bench.sides)
      for (const [line, figure] of Object.entries(await measure(sides, round))) {
        const byProgram = all.get(line) ?? new Map<string, Figure[]>();
        all.set(line, byProgram);
        byProgram.set(sides.program.name, [...(byProgram.get(sides.program.name) ?? []), figure]);
      }
  return new Map(
    [...all].map(([line, byProgram]) => [
      line,
      new Map(
        [...byProgram].map(([program, figures]) => {
          const value = median(figures.map((figure) => figure.value));
          const detail = figures.at(-1)?.detail;
          return [program, { value, ...(detail === undefined ? {} : { detail }) }];
        }),
      ),
    ]),
  );
}

/** Runs `use` while the services of `pick` run, one for each side. */
export async function withServices<T>(
  bench: Bench,
  pick: (sides: Sides) => readonly Side[],
  use: (running: (side: Side) => RunningSide) => Promise<T>,
): Promise<T> {
  const running = new Map<Side, RunningSide>();
  try {
    for (const side of bench.sides.flatMap(pick)) running.set(side, await side.start());
    return await use((side) => running.get(side)!);
  } finally {
    for (const service of running.values()) await service.stop();
  }
}

/** Measures in rounds, while the services of the large sides run. */
export function measureLarge(
  bench: Bench,
  rounds: number,
  measure: (running: RunningSide, large: Side, round: number) => Promise<Readonly<Record<string, Figure>>>,
): Promise<Lines> {
  return withServices(
    bench,
    ({ large }) => [large],
    (running) => inRounds(bench, rounds, ({ large }, round) => measure(running(large), large, round)),
  );
}

/** The order of a load that refreshes with the tokens of a side. */
export function refreshOrder(side: Side, port: number, seconds: number, rate?: number): LoadOrder {
  return {
    port,
    method: 'POST',
    path: '/realms/rs/protocol/openid-connect/token',
    form: 'grant_type=refresh_token&client_id=web',
    tokenFile: side.tokens,
    connections: rate === undefined ? 32 : 64,
    seconds,
    ...(rate === undefined ? {} : { rate }),
  };
}

export function refresh(side: Side, port: number, seconds: number, rate?: number): Promise<LoadResult> {
  return load(refreshOrder(side, port, seconds, rate));
}

/** Refreshes, whatever the responses are. */
export function tryRefresh(side: Side, port: number, seconds: number, rate?: number): Promise<LoadResult> {
  return tryLoad(refreshOrder(side, port, seconds, rate));
}

/**
 * Measures how long an idle request waits: sends `/health/live` every 5 ms until `run` ends, and returns the longest
 * time in milliseconds. The probe is a separate process, so that its own work does not count.
 */
export async function longestWait(port: number, run: () => Promise<unknown>): Promise<number> {
  const program = new URL('probe.ts', import.meta.url).pathname;
  const probe = spawn('taskset', ['-c', String(LOAD_CORE), process.execPath, program, String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: probe.stdout })[Symbol.asyncIterator]();
  await lines.next();
  try {
    await run();
  } finally {
    probe.stdin.end();
  }
  return (JSON.parse((await lines.next()).value as string) as { longest: number }).longest;
}

/** Reads the files below a directory once, so that they are in the page cache as far as they fit. */
export function readAll(dir: string): void {
  execFileSync('sh', ['-c', 'find "$0" -type f -size +1M -exec cat {} + > /dev/null', dir]);
}

export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
export const count = (value: number): string => Math.round(value).toLocaleString('en');
