import { execFileSync, spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Effort, Measured } from './grants.ts';
import { median } from './measure.ts';
import { seedFamilies } from './seed.ts';
import { type Entry, logIn, makeDirectory, makeRealms, removeDirectory, startService } from './service.ts';

const here = (name: string) => new URL(name, import.meta.url).pathname;

/** Measures the store's `rotate` with 32 callers relative to one commit per call. Each fsync is delayed by 1 ms. */
export async function measureGroupCommit(entry: Entry, effort: Effort): Promise<Measured> {
  const dir = makeDirectory();
  try {
    const shim = join(dir, 'slow-fsync.so');
    execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', shim, here('slow-fsync.c'), '-ldl']);
    const service = await startService(entry, dir);
    await makeRealms(service.port);
    const [token] = await logIn(service.port, 'rs', 1);
    await service.stop();
    const tokens = await seedFamilies(dir, token ?? '', 10_000, 32);
    const rate = async (mode: string) => {
      const copy = makeDirectory();
      cpSync(dir, copy, { recursive: true });
      const child = spawn(process.execPath, [here('rotate.ts'), mode, copy, String(effort.seconds)], {
        env: { ...process.env, LD_PRELOAD: shim, IDKIT_BENCH_FSYNC_US: '1000' },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      child.stdin.end(JSON.stringify(tokens));
      const output = await text(child.stdout);
      removeDirectory(copy);
      return (JSON.parse(output) as { perSecond: number }).perSecond;
    };
    const ratios: number[] = [];
    let detail = '';
    for (let round = 0; round < effort.rounds; round += 1) {
      const single = await rate('single');
      const grouped = await rate('group');
      ratios.push(grouped / single);
      detail = `${Math.round(grouped)}/s over ${Math.round(single)}/s`;
    }
    return { row: 'group commit / a commit per call, fsync +1 ms', ratio: median(ratios), detail };
  } finally {
    removeDirectory(dir);
  }
}
