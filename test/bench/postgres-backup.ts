import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSet, readDump } from '../../src/backupset/index.ts';
import { parsePostgresUrl } from '../../src/config/index.ts';
import { Secret } from '../../src/core/index.ts';
import { openLocalPrograms } from '../../src/pgtools/programs/local-programs.ts';
import { PostgresDatabase } from '../../src/platform/postgres/database.ts';
import { makeDatabase, runSql } from '../store/databases.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import type { Measured } from './grants.ts';
import { median, timed } from './measure.ts';
import { type Entry, makeDirectory, makeRealms, removeDirectory, startService } from './service.ts';

const PASSPHRASE = 'bench-Passphrase-1';
/** Number of users that one statement creates. */
const BATCH = 50_000;

/**
 * Measures a backup relative to `pg_dump | gzip -6`, and the load of a dump relative to `gunzip | psql`, both with
 * fsync on.
 */
export async function measurePostgresBackup(
  entry: Entry,
  rounds: number,
  bytes: number,
): Promise<Measured[]> {
  const closers: (() => unknown)[] = [];
  try {
    const server = await startPostgres(
      { after: (close) => void closers.push(close) },
      { settings: { fsync: 'on', shared_buffers: '128MB' } },
    );
    const dir = makeDirectory();
    const scratch = makeDirectory();
    closers.push(() => [dir, scratch].forEach(removeDirectory));
    const { name, url } = await makeDatabase(server);
    const env = { IDKIT_DATABASE_URL: url, IDKIT_DATABASE_PASSWORD: server.password };
    const service = await startService(entry, dir, env);
    await makeRealms(service.port);
    await service.stop();
    writeFileSync(join(dir, 'idkit.yaml'), `database: ${url}\n`);
    const size = await seed(server, name, bytes);

    const tool = (program: string) =>
      `PGPASSWORD='${server.password}' '${server.programs}/${program}' -h 127.0.0.1 -p ${server.port} -U ${server.user}`;
    const dump = join(scratch, 'dump.sql.gz');
    const database = new PostgresDatabase({
      address: parsePostgresUrl(url),
      location: url,
      password: new Secret(server.password),
      programs: openLocalPrograms(),
      service: 'idkit',
      masterKey: undefined,
      masterKeyOld: undefined,
    });
    const ratios = { backup: [] as number[], load: [] as number[] };
    const detail = { backup: '', load: '' };
    for (let round = 0; round < rounds; round += 1) {
      const plain = await timed(() => shell(`${tool('pg_dump')} ${name} | gzip -6 > '${dump}'`));
      const backup = await timed(() => idkit(entry, dir, env));
      ratios.backup.push(backup / plain);
      detail.backup = `${backup.toFixed(1)} s over ${plain.toFixed(1)} s`;

      const set = newestSet(dir);
      const sql = readDump(await openSet(set));
      const signal = new AbortController().signal;
      const ours = await timed(() => database.load(sql, { id: 'x', masterKey: undefined, signal }));
      await database.discard('x', { previous: false });
      const theirs = await timed(() =>
        shell(
          `${tool('createdb')} bare && gunzip -c '${set}/keycloak-db.sql.gz' | ${tool('psql')} -q -v ON_ERROR_STOP=1 bare > /dev/null`,
        ),
      );
      await runSql(server, 'DROP DATABASE bare');
      ratios.load.push(ours / theirs);
      detail.load = `${ours.toFixed(1)} s over ${theirs.toFixed(1)} s`;
      rmSync(set, { recursive: true, force: true });
    }
    const of = `${Math.round(size / 1e6)} MB database`;
    return [
      {
        row: 'Postgres: backup / pg_dump | gzip -6',
        ratio: median(ratios.backup),
        detail: `${detail.backup}, ${of}`,
      },
      {
        row: 'Postgres: restore load / gunzip | psql',
        ratio: median(ratios.load),
        detail: `${detail.load}, ${of}`,
      },
    ];
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Adds users with passwords until the database has at least `bytes` bytes. Returns its size in bytes. */
async function seed(server: PostgresServer, name: string, bytes: number): Promise<number> {
  const of = `(SELECT id FROM realm WHERE name = 'rs')`;
  for (let from = 0; ; from += BATCH) {
    const numbers = `generate_series(${from}, ${from + BATCH - 1}) AS n`;
    await runSql(
      server,
      `INSERT INTO account (id, realm_id, username, email, first_name, last_name, enabled, email_verified, service_account_client, doc)
         SELECT md5('u' || n), ${of}, 'user' || n, 'user' || n || '@example.test', 'given' || n, 'family' || n, 1, 1, NULL,
           json_build_object('createdTimestamp', 1700000000000 + n, 'attributes', json_build_object('department', json_build_array(md5('d' || n % 97))))::text
         FROM ${numbers};
       INSERT INTO credential (id, user_id, priority, secret_data, doc)
         SELECT md5('c' || n), md5('u' || n), 10,
           json_build_object('value', encode(sha256(n::text::bytea), 'base64'), 'salt', md5('s' || n))::text,
           json_build_object('type', 'password', 'hashIterations', 5, 'algorithm', 'argon2', 'createdDate', 1700000000000 + n)::text
         FROM ${numbers}`,
      name,
    );
    const [row] = await runSql(server, `SELECT pg_database_size('${name}')::float8 AS bytes`);
    const size = Number(row!['bytes']);
    if (size < bytes) continue;
    await runSql(server, 'VACUUM ANALYZE', name);
    await runSql(server, 'CHECKPOINT');
    return size;
  }
}

async function shell(command: string): Promise<void> {
  const child = spawn('bash', ['-c', `set -euo pipefail; ${command}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`a baseline ended with ${code}`);
}

async function idkit(entry: Entry, dir: string, env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(entry.command, [...entry.args, 'backup', '--dir', dir, '--quiet'], {
    env: { ...process.env, ...env, IDKIT_BACKUP_PASSPHRASE: PASSPHRASE },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  // Exit code 3 is expected: a finding reports that the database's password is in the environment and not in the set.
  if (code !== 0 && code !== 3) throw new Error(`idkit backup ended with ${code}`);
}

function newestSet(dir: string): string {
  const root = join(dir, 'backups');
  const names = readdirSync(root).filter((name) => /^\d{8}_\d{6}$/.test(name));
  return join(root, names.sort().at(-1) ?? '');
}
