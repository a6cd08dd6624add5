import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { LOAD_CORE } from '../../measure.ts';
import { ADMINISTRATOR, type Entry, makeDirectory, removeDirectory } from '../../service.ts';
import { count, type Figure, measureLarge, type Row } from '../bench.ts';
import { RARE_WORD } from '../seeds/plan.ts';
import { resident } from './users.ts';

/** `idkit admin user list` of all users, and a search, with the session of a profile. */
export const adminListRow: Row = {
  name: 'admin-list',
  measure: (bench) =>
    measureLarge(bench, bench.rounds, async ({ port }, large): Promise<Record<string, Figure>> => {
      const home = makeDirectory();
      try {
        const idkit = (argv: readonly string[], input = '') =>
          runIdkit(large.program.entry, argv, { home, input });
        await idkit(
          ['login', `http://127.0.0.1:${port}`, '--username', ADMINISTRATOR.username, '--password'],
          ADMINISTRATOR.password,
        );
        const list = ['admin', 'user', 'list', '--realm', 'rs'];
        // Fills the compile cache.
        await idkit([...list, '--search', RARE_WORD]);
        const search = await idkit([...list, '--search', RARE_WORD]);
        const all = await idkit(list);
        if (search.lines !== 2 || all.lines < large.plan.users)
          throw new Error(`the search printed ${search.lines} lines, and the list ${all.lines}`);
        const rows = all.lines - 1;
        return {
          'admin user list: first row, ms': { value: all.firstRow },
          'admin user list, users/s': {
            value: (rows * 1000) / all.end,
            detail: `${count(rows)} in ${(all.end / 1000).toFixed(1)} s`,
          },
          'admin user list, resident MB': { value: all.resident },
          'admin user list --search, ms': { value: search.end },
        };
      } finally {
        removeDirectory(home);
      }
    }),
};

/** What a command printed, and when, in milliseconds after its start. */
interface Printed {
  lines: number;
  /** When the first line after the heading arrived. */
  firstRow: number;
  end: number;
  /** Most resident memory in MB. */
  resident: number;
}

/** Runs a command on the core of the load. @throws Error if it fails */
async function runIdkit(
  { command, args }: Entry,
  argv: readonly string[],
  { home, input }: { home: string; input: string },
): Promise<Printed> {
  const began = performance.now();
  const child = spawn('taskset', ['-c', String(LOAD_CORE), command, ...args, ...argv], {
    env: { ...process.env, XDG_CONFIG_HOME: join(home, 'config'), XDG_STATE_HOME: join(home, 'state') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  child.stdin.end(input);
  const printed: Printed = { lines: 0, firstRow: Number.NaN, end: Number.NaN, resident: 0 };
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    printed.lines += chunk.toString('latin1').split('\n').length - 1;
    if (Number.isNaN(printed.firstRow) && printed.lines > 1) printed.firstRow = performance.now() - began;
    // A process that has exited has no memory.
    if (child.exitCode === null) printed.resident = Math.max(printed.resident, resident(child.pid!));
  }
  const [code] = await exited;
  printed.end = performance.now() - began;
  if (code !== 0) throw new Error(`idkit ${argv.join(' ')} exited with ${code}`);
  return printed;
}
