import { execFileSync } from 'node:child_process';
import { Client } from 'pg';
import type { RecoveredCluster } from '../../../../src/pgtools/index.ts';

/** Returns why a test cannot run the program, or undefined if it can. */
export function missingProgram(program: 'pgbackrest' | 'barman'): string | undefined {
  try {
    execFileSync(program, [program === 'barman' ? '--version' : 'version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw new Error(`${program} is not installed`);
    return `${program} is not installed (Debian package ${program})`;
  }
}

/** Returns the numbers in the table of a recovered cluster, and closes it. */
export async function numbersIn(cluster: RecoveredCluster): Promise<readonly number[]> {
  try {
    const client = new Client({ host: cluster.socketDirectory, user: 'postgres', database: 'postgres' });
    await client.connect();
    const { rows } = await client.query<{ n: number }>('SELECT n FROM written ORDER BY n');
    await client.end();
    return rows.map(({ n }) => n);
  } finally {
    await cluster.close();
  }
}
