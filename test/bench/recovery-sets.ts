/**
 * `npm run bench -- recovery [-- --bytes N] [-- --only sets]` measures backup, verify, restore and drill of an embedded
 * platform whose database has N bytes (500 MB without the option): the seconds and the resident memory of each command.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { databaseFile, seedUsers } from './seed.ts';
import { type Entry, makeDirectory, makeRealms, removeDirectory, startService } from './service.ts';

const PASSPHRASE = 'bench-Passphrase-1';

/** The limits of the commands at 500 MB, in seconds, and of all of them at any size, in MB of resident memory. */
const LIMITS = { backup: 8, verify: 3, restore: 20, drill: 60 } as const;
const MOST_RESIDENT = 200;
const LIMITED_BYTES = 500e6;

interface Run {
  seconds: number;
  /** Processor time of the command and its children. */
  cpu: number;
  /** Resident memory in MB at its highest, without the page cache. */
  resident: number;
}

export interface SetFigure {
  command: keyof typeof LIMITS;
  run: Run;
  withinTime: boolean | undefined;
  withinMemory: boolean;
}

/** Measures each command once on a database of at least `bytes` bytes. */
export async function measureSets(
  entry: Entry,
  bytes: number,
): Promise<{ databaseBytes: number; figures: SetFigure[] }> {
  const dir = makeDirectory();
  try {
    const service = await startService(entry, dir);
    await makeRealms(service.port);
    await service.stop();
    seedUsers(dir, 'ada', bytes);
    const databaseBytes = statSync(databaseFile(dir)).size;
    const figures: SetFigure[] = [];
    const measure = async (command: SetFigure['command'], ...args: string[]) => {
      const run = await runCommand(entry, dir, [command, ...args]);
      const scale = bytes / LIMITED_BYTES;
      figures.push({
        command,
        run,
        withinTime: scale > 1.5 ? undefined : run.seconds <= LIMITS[command],
        withinMemory: run.resident <= MOST_RESIDENT,
      });
    };
    await measure('backup');
    await measure('verify', '--latest');
    await measure('drill');
    await measure('restore', '--from', 'latest', '--yes');
    return { databaseBytes, figures };
  } finally {
    removeDirectory(dir);
  }
}

/** Runs a command and reads its use of time and memory from GNU time. */
async function runCommand(entry: Entry, dir: string, args: readonly string[]): Promise<Run> {
  const used = join(dir, 'used');
  const began = performance.now();
  const child = spawn(
    '/usr/bin/time',
    ['-f', '%U %S %M', '-o', used, entry.command, ...entry.args, ...args, '--dir', dir, '--quiet'],
    { env: { ...process.env, IDKIT_BACKUP_PASSPHRASE: PASSPHRASE }, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const [code] = await once(child, 'exit');
  const seconds = (performance.now() - began) / 1000;
  const [user = 0, system = 0, kilobytes = 0] = readFileSync(used, 'utf8').split(/\s+/).map(Number);
  rmSync(used);
  if (code !== 0) throw new Error(`idkit ${args.join(' ')} ended with ${code}`);
  return { seconds, cpu: user + system, resident: kilobytes / 1000 };
}

/** Renders the figures as a table in Markdown. */
export function renderSets({ databaseBytes, figures }: Awaited<ReturnType<typeof measureSets>>): string {
  const rows = figures.map(({ command, run, withinTime, withinMemory }) => {
    const limit = withinTime === undefined ? '' : `≤ ${LIMITS[command]}${withinTime ? '' : ' ✗'}`;
    return `| ${command} | ${run.seconds.toFixed(1)} | ${limit} | ${run.cpu.toFixed(1)} | ${Math.round(run.resident)} | ≤ ${MOST_RESIDENT}${withinMemory ? '' : ' ✗'} |`;
  });
  return [
    `${Math.round(databaseBytes / 1e6)} MB database`,
    '',
    '| | seconds | must | processor seconds | resident MB | must |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
