import { median } from '../../measure.ts';
import {
  type Bench,
  count,
  inRounds,
  type Lines,
  ms,
  type Row,
  readAll,
  refresh,
  type Sides,
  withServices,
} from '../bench.ts';
import { RUNNING } from '../cluster.ts';
import { bytesFromDisk, dropPages, limitMemory, type MemoryLimit } from '../memory-limit.ts';
import { pidsBelow } from '../processes.ts';
import type { RunningSide, Side } from '../side.ts';
import { sessionBytes } from './bytes.ts';

/** Refreshes in a large database relative to a small one, with the data in memory. */
export const refreshRow: Row = {
  name: 'refresh',
  async measure(bench) {
    for (const { large } of bench.sides) readAll(large.cluster?.dir ?? large.dir);
    return withServices(
      bench,
      ({ small, large }) => [small, large],
      (running) => compare(bench, running, 'in memory'),
    );
  },
};

/**
 * The same with a quarter of the sessions' data in memory: a control group limits what the server and the page cache
 * use. The detail says how much each refresh read from the disk.
 */
export const refreshFromDiskRow: Row = {
  name: 'refresh-disk',
  async measure(bench) {
    const all: Lines = new Map();
    for (const sides of bench.sides) {
      const one = { ...bench, sides: [sides] };
      for (const [line, figures] of await measureLimited(one, sides))
        all.set(line, new Map([...(all.get(line) ?? []), ...figures]));
    }
    return all;
  },
};

/** Memory in bytes that the programs themselves need, in addition to the data. */
const OWN_MEMORY = { sqlite: 180e6, postgres: 60e6 };

async function measureLimited(bench: Bench, sides: Sides): Promise<Lines> {
  const { cluster, small, large } = sides;
  const quarter = (await sessionBytes(large)) / 4;
  const limits: MemoryLimit[] = [];
  const limited = (name: string, bytes: number) => {
    const limit = limitMemory(`${name}-${sides.program.name}`, Math.round(bytes));
    limits.push(limit);
    return limit;
  };
  const services: RunningSide[] = [];
  try {
    if (cluster) {
      await cluster.stop();
      dropPages(cluster.dir);
      const shared = Math.max(16, Math.round(quarter / 4 / 1e6));
      await cluster.start(
        { ...RUNNING, shared_buffers: `${shared}MB` },
        { limit: limited('postgres', quarter + OWN_MEMORY.postgres) },
      );
    } else for (const side of [small, large]) dropPages(side.dir);
    const start = async (side: Side): Promise<RunningSide> => {
      const limit = cluster ? undefined : limited(side.database, quarter + OWN_MEMORY.sqlite);
      const service = await side.start(limit === undefined ? {} : { limit });
      services.push(service);
      return service;
    };
    const running = new Map([[small, await start(small)] as const, [large, await start(large)] as const]);
    const reader = () => pidsBelow(cluster ? cluster.pid : running.get(large)!.pid);
    return await compare(
      bench,
      (side) => running.get(side)!,
      'from disk',
      () => bytesFromDisk(reader()),
    );
  } finally {
    for (const service of services) await service.stop();
    if (cluster) {
      await cluster.stop();
      await cluster.start(RUNNING);
    }
    for (const limit of limits) limit.remove();
  }
}

async function compare(
  bench: Bench,
  running: (side: Side) => RunningSide,
  where: string,
  read: () => number = () => 0,
): Promise<Lines> {
  const rate = async (side: Side, seconds: number) =>
    (await refresh(side, running(side).port, seconds)).perSecond;
  for (const { small, large } of bench.sides)
    for (const side of [small, large]) await rate(side, bench.seconds * 2);
  const rates = await inRounds(bench, bench.rounds, async ({ small, large }) => {
    const few = await rate(small, bench.seconds);
    const before = read();
    const many = await rate(large, bench.seconds);
    const bytes = (read() - before) / (many * bench.seconds);
    const disk = bytes === 0 ? '' : `, ${(bytes / 1e3).toFixed(1)} kB from disk each`;
    return {
      [`refresh/s at many over few sessions, ${where}`]: {
        value: many / few,
        detail: `${count(many)} over ${count(few)}${disk}`,
      },
    };
  });
  for (const paced of [100, 400]) {
    const lines = await inRounds(bench, bench.rounds, async ({ small, large }) => {
      const few: number[] = [];
      const many: number[] = [];
      for (let turn = 0; turn < 2; turn += 1) {
        few.push((await refresh(small, running(small).port, bench.seconds, paced)).p99);
        many.push((await refresh(large, running(large).port, bench.seconds, paced)).p99);
      }
      return {
        [`refresh p99 at ${paced}/s, many over few, ${where}`]: {
          value: median(many) / median(few),
          detail: `${ms(median(many))} over ${ms(median(few))}`,
        },
      };
    });
    for (const [line, figures] of lines) rates.set(line, figures);
  }
  return rates;
}
