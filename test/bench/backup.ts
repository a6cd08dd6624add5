import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { loadSqlite } from '../../src/store/open.ts';
import type { Measured } from './grants.ts';
import type { LoadOrder } from './load.ts';
import { load, median, timed } from './measure.ts';
import { databaseFile, seedFamilies, seedUsers } from './seed.ts';
import { type Entry, logIn, makeDirectory, makeRealms, removeDirectory, startService } from './service.ts';

/** Number of refreshes per second during the backup. They are sent on a fixed schedule (open loop). */
const RATE = 300;
const PASSPHRASE = 'bench-Passphrase-1';

async function shell(command: string): Promise<void> {
  const child = spawn('bash', ['-c', `set -euo pipefail; ${command}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await finished(child, command);
}

async function idkit(entry: Entry, dir: string, ...args: string[]): Promise<void> {
  const child = spawn(entry.command, [...entry.args, ...args, '--dir', dir, '--quiet'], {
    env: { ...process.env, IDKIT_BACKUP_PASSPHRASE: PASSPHRASE },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await finished(child, `idkit ${args.join(' ')}`);
}

async function finished(child: ChildProcess, what: string): Promise<void> {
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${what} ended with ${code}`);
}

function newestSet(dir: string): string {
  const root = join(dir, 'backups');
  const names = readdirSync(root).filter((name) => /^\d{8}_\d{6}$/.test(name));
  return join(root, names.sort().at(-1) ?? '');
}

export interface BackupSize {
  /** Minimum size of the database in bytes. */
  bytes: number;
  /** Number of token families in the database. */
  families: number;
  /** Duration of the load in seconds. */
  seconds: number;
}

/**
 * Measures a backup under load, verify, and the load step of a restore, each relative to ordinary tools on the same
 * data.
 */
export async function measureBackup(
  entry: Entry,
  rounds: number,
  { bytes, families, seconds: window }: BackupSize,
): Promise<Measured[]> {
  const dir = makeDirectory();
  const scratch = makeDirectory();
  try {
    const first = await startService(entry, dir);
    await makeRealms(first.port);
    const [token] = await logIn(first.port, 'rs', 1);
    await first.stop();
    let tokens = await seedFamilies(dir, token ?? '', families, families / 10);
    seedUsers(dir, 'ada', bytes);
    const service = await startService(entry, dir);
    const order = (seconds: number): LoadOrder => ({
      port: service.port,
      method: 'POST',
      path: '/realms/rs/protocol/openid-connect/token',
      form: 'grant_type=refresh_token&client_id=web',
      tokens,
      connections: 64,
      seconds,
      rate: RATE,
    });
    const refresh = async (seconds: number) => {
      const result = await load(order(seconds));
      tokens = result.tokens ?? [];
      return result;
    };
    const ratios = {
      backup: [] as number[],
      p99: [] as number[],
      verify: [] as number[],
      load: [] as number[],
    };
    const detail = { backup: '', p99: '', verify: '', load: '' };
    const database = databaseFile(dir);
    const dump = join(scratch, 'dump.sql.gz');
    await refresh(window);
    for (let round = 0; round < rounds; round += 1) {
      const plain = await timed(() => shell(`sqlite3 '${database}' .dump | gzip -6 > '${dump}'`));
      const without = await refresh(window);
      const loaded = refresh(Math.max(window, plain * 1.3));
      await pause(300);
      const backup = await timed(() => idkit(entry, dir, 'backup'));
      const under = await loaded;
      ratios.backup.push(backup / plain);
      detail.backup = `${backup.toFixed(1)} s over ${plain.toFixed(1)} s`;
      ratios.p99.push(under.p99 / Math.max(10, without.p99));
      detail.p99 = `p99 ${under.p99.toFixed(1)} ms during, ${without.p99.toFixed(1)} ms without`;
      const set = newestSet(dir);
      const verify = await timed(() => idkit(entry, dir, 'verify', set));
      const tools = await timed(() =>
        shell(`cd '${set}' && sha256sum --quiet -c checksums.sha256 && gunzip -t keycloak-db.sql.gz`),
      );
      ratios.verify.push(verify / tools);
      detail.verify = `${verify.toFixed(1)} s over ${tools.toFixed(1)} s`;
      const side = join(scratch, 'side.db');
      const sql = createReadStream(join(set, 'keycloak-db.sql.gz')).pipe(
        createGunzip({ chunkSize: 1 << 18 }),
      );
      const ours = await timed(() => loadSqlite(side, sql, { signal: new AbortController().signal }));
      rmSync(side, { force: true });
      const theirs = await timed(() => shell(`gunzip -c '${set}/keycloak-db.sql.gz' | sqlite3 '${side}'`));
      rmSync(side, { force: true });
      ratios.load.push(ours / theirs);
      detail.load = `${ours.toFixed(1)} s over ${theirs.toFixed(1)} s`;
      rmSync(set, { recursive: true, force: true });
    }
    await service.stop();
    const size = `${Math.round(statSync(database).size / 1e6)} MB database`;
    return [
      {
        row: 'backup / sqlite3 .dump | gzip -6',
        ratio: median(ratios.backup),
        detail: `${detail.backup}, ${size}, ${RATE} refreshes/s`,
      },
      {
        row: 'p99 of refreshes during backup / without (or 10 ms)',
        ratio: median(ratios.p99),
        detail: detail.p99,
      },
      { row: 'verify / sha256sum + gunzip -t', ratio: median(ratios.verify), detail: detail.verify },
      { row: 'restore load / gunzip | sqlite3', ratio: median(ratios.load), detail: detail.load },
    ];
  } finally {
    removeDirectory(dir);
    removeDirectory(scratch);
  }
}
