import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { timed } from '../../measure.ts';
import { databaseFile } from '../../seed.ts';
import { inRounds, type Row } from '../bench.ts';
import { pidsBelow } from '../processes.ts';
import type { Side } from '../side.ts';
import { resident } from './users.ts';

/** A backup of the large database relative to the database's own tool, at its best. */
export const backupRow: Row = {
  name: 'backup',
  measure: (bench) =>
    inRounds(bench, 1, async ({ large }) => {
      const scratch = join(large.dir, 'scratch');
      mkdirSync(scratch, { recursive: true });
      try {
        const theirs = await measureTools(large, scratch);
        const best = Math.min(...theirs.values());
        const { seconds, most } = await backUp(large);
        const detail = [...theirs].map(([tool, taken]) => `${tool} ${taken.toFixed(1)} s`).join(', ');
        return {
          'backup / the best of the tools': {
            value: seconds / best,
            detail: `${seconds.toFixed(1)} s; ${detail}`,
          },
          'backup, resident MB': { value: most, detail: 'of the processes of idkit backup' },
        };
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    }),
};

async function measureTools(side: Side, scratch: string): Promise<Map<string, number>> {
  const taken = new Map<string, number>();
  const run = async (name: string, command: string) => {
    taken.set(name, await timed(() => shell(command)));
    rmSync(join(scratch, 'out'), { recursive: true, force: true });
  };
  const out = join(scratch, 'out');
  if (!side.cluster) {
    await run('sqlite3 .dump | gzip -6', `sqlite3 '${databaseFile(side.dir)}' .dump | gzip -6 > '${out}'`);
    return taken;
  }
  const { programs, port, password } = side.cluster;
  const dump = `PGPASSWORD='${password}' '${programs}/pg_dump' -h 127.0.0.1 -p ${port} -U postgres`;
  await run('pg_dump | gzip -6', `${dump} ${side.database} | gzip -6 > '${out}'`);
  await run('pg_dump | gzip -1', `${dump} ${side.database} | gzip -1 > '${out}'`);
  await run('pg_dump -Fd -j 2 -Z 1', `${dump} -Fd -j 2 -Z 1 -f '${out}' ${side.database}`);
  return taken;
}

async function shell(command: string): Promise<void> {
  const child = spawn('bash', ['-c', `set -euo pipefail; ${command}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`a baseline ended with ${code}`);
}

async function backUp(side: Side): Promise<{ seconds: number; most: number }> {
  const { command, args } = side.program.entry;
  const service = await side.start();
  let most = 0;
  try {
    const env = side.cluster
      ? {
          IDKIT_DATABASE_URL: side.cluster.url(side.database),
          IDKIT_DATABASE_PASSWORD: side.cluster.password,
        }
      : {};
    const seconds = await timed(async () => {
      const child = spawn(command, [...args, 'backup', '--dir', side.dir, '--quiet'], {
        env: { ...process.env, ...env, IDKIT_BACKUP_PASSPHRASE: 'bench-Passphrase-1' },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const timer = setInterval(() => {
        most = Math.max(most, residentBelow(child.pid!));
      }, 200);
      const [code] = await once(child, 'exit');
      clearInterval(timer);
      // Exit code 3 is expected: a finding reports that the database's password is only in the environment.
      if (code !== 0 && code !== 3) throw new Error(`idkit backup ended with ${code}`);
    });
    return { seconds, most };
  } finally {
    await service.stop();
    const root = join(side.dir, 'backups');
    for (const name of readdirSync(root))
      if (/^\d{8}_\d{6}$/.test(name)) rmSync(join(root, name), { recursive: true, force: true });
  }
}

/** Returns the resident memory in MB of a process and its descendants, among them `pg_dump` and `psql`. */
function residentBelow(root: number): number {
  let total = 0;
  for (const pid of pidsBelow(root)) {
    try {
      total += resident(pid);
    } catch {
      // The process has ended.
    }
  }
  return total;
}
