import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { appendFile, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext } from 'node:test';
import { initPlatform, loadSettings, type SettingFlags, type Settings } from '../../src/config/index.ts';
import { type BackupResult, backup, recoverAdmin } from '../../src/procedures/index.ts';
import { startService } from '../../src/service/index.ts';
import { runSql } from '../store/databases.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { makeDirectory, PASSPHRASE, procedureOptions } from './platform.ts';
import type { State } from './restored-state.ts';

/** Passwords of the role: `old` is valid before the restore, and `new` is in the `.env` of the set. */
const PASSWORDS = { old: 'Role-Before-1', new: 'Role-Of-The-Set-1' };

/** A server for the tests, with platforms that all start in the same state. */
export interface PostgresPlatforms {
  server: PostgresServer;
  /**
   * Returns a stopped platform that has changed since its backup: it has one more administrator, another password of
   * the database's role in `.env`, and another `config/`. The databases of earlier platforms are dropped.
   */
  fresh(t: TestContext): Promise<PostgresPlatform>;
  close(): Promise<void>;
}

export interface PostgresPlatform {
  dir: string;
  set: string;
  load(flags?: SettingFlags): Promise<Settings>;
  readState(): Promise<State>;
  /** Returns which password of the role the server accepts. */
  password(): Promise<'old' | 'new'>;
  /** Returns the names of the databases, except the template of the tests and the server's own databases. */
  databases(): Promise<readonly string[]>;
  /** Returns the application names of all connections. */
  clients(): Promise<readonly string[]>;
}

/** Like `describe`, for tests that share one Postgres server. Skips them if the programs of Postgres are missing. */
export function describeOnPostgres(title: string, define: (platforms: PostgresPlatforms) => void): void {
  describe(title, { skip: missingPostgres() ?? false }, () => {
    let opened: PostgresPlatforms | undefined;
    const ends: (() => unknown)[] = [];
    before(async () => {
      opened = await openPlatforms({ after: (end) => ends.push(end) });
    });
    after(async () => {
      for (const end of ends.toReversed()) await end();
    });
    const getOpened = () => {
      assert.ok(opened !== undefined, 'the server runs only during the tests');
      return opened;
    };
    define({
      get server() {
        return getOpened().server;
      },
      fresh: (t) => getOpened().fresh(t),
      close: () => getOpened().close(),
    });
  });
}

/** Creates the template, which each platform copies. The server ends with `t`. */
export async function openPlatforms(
  t: { after(end: () => unknown): void },
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresPlatforms> {
  const server = await startPostgres(t, { settings });
  await runSql(server, `CREATE ROLE idkit LOGIN CREATEDB PASSWORD '${PASSWORDS.new}'`);
  await runSql(server, 'CREATE DATABASE idkit OWNER idkit');
  await runSql(server, `ALTER DATABASE idkit SET work_mem = '9MB'`);
  const dir = join(mkdtempSync(join(tmpdir(), 'idkit-test-template-')), 'idkit');
  t.after(() => rmSync(join(dir, '..'), { recursive: true, force: true, maxRetries: 10 }));
  initPlatform(dir, { env: {} });
  await writeFile(join(dir, 'idkit.yaml'), `database: postgres://idkit@127.0.0.1:${server.port}/idkit\n`);
  await appendFile(join(dir, '.env'), `STATE=new\nIDKIT_DATABASE_PASSWORD=${PASSWORDS.new}\n`);
  await writeFile(join(dir, 'config/state'), 'new');
  const load = (at: string) => (flags?: SettingFlags) =>
    loadSettings({ dir: at, env: {}, flags: { ...flags, 'listen.port': '0' } });
  await (await startService(await load(dir)())).close();
  const made: BackupResult = await backup(await load(dir)(), {
    ...procedureOptions(),
    passphrase: PASSPHRASE,
  });
  await recoverAdmin(await load(dir)(), { ...procedureOptions(), username: 'second' });
  await writeFile(join(dir, 'config/state'), 'old');
  const env = await readFile(join(dir, '.env'), 'utf8');
  await writeFile(
    join(dir, '.env'),
    env.replace('STATE=new', 'STATE=old').replace(PASSWORDS.new, PASSWORDS.old),
  );
  await runSql(server, 'ALTER DATABASE idkit RENAME TO beginning');

  const databases = async () =>
    (
      await runSql(
        server,
        `SELECT datname FROM pg_database WHERE NOT datistemplate AND datname NOT IN ('postgres', 'beginning') ORDER BY 1`,
      )
    ).map((row) => String(row['datname']));
  return {
    server,
    close: () => server.stop('immediate'),
    async fresh(test) {
      for (const name of await databases()) await runSql(server, `DROP DATABASE "${name}" WITH (FORCE)`);
      await runSql(server, 'CREATE DATABASE idkit OWNER idkit TEMPLATE beginning');
      await runSql(server, `ALTER DATABASE idkit SET work_mem = '9MB'`);
      await runSql(server, `ALTER ROLE idkit PASSWORD '${PASSWORDS.old}'`);
      const own = join(await makeDirectory(test, 'platform'), 'idkit');
      await rm(own, { recursive: true, force: true });
      await cp(dir, own, { recursive: true, preserveTimestamps: true });
      return {
        dir: own,
        set: join(own, 'backups', made.name),
        load: load(own),
        databases,
        readState: async () => ({
          database: await readDatabase(server),
          env: match(await readText(join(own, '.env')), /^STATE=(old|new)$/m),
          config: match(await readText(join(own, 'config/state')), /^(old|new)$/),
        }),
        async password() {
          const taken: ('old' | 'new')[] = [];
          for (const which of ['old', 'new'] as const) {
            const as = { ...server, user: 'idkit', password: PASSWORDS[which] };
            await runSql(as, 'SELECT 1').then(
              () => taken.push(which),
              () => undefined,
            );
          }
          return taken[0]!;
        },
        clients: async () =>
          (
            await runSql(
              server,
              `SELECT application_name AS name FROM pg_stat_activity
                WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY 1`,
            )
          ).map((row) => String(row['name'])),
      };
    },
  };
}

async function readDatabase(server: PostgresServer): Promise<State['database']> {
  try {
    const [row] = await runSql(
      server,
      `SELECT count(*)::int AS n, current_setting('work_mem') AS work_mem FROM account WHERE username = 'second'`,
      'idkit',
    );
    if (row!['work_mem'] !== '9MB') throw new Error('the settings of the database are lost');
    return row!['n'] === 1 ? 'old' : 'new';
  } catch (error) {
    if (/does not exist|not currently accepting/.test(String(error))) return 'absent';
    throw error;
  }
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

function match(text: string, pattern: RegExp): 'old' | 'new' | 'absent' {
  const state = pattern.exec(text)?.[1];
  return state === 'old' || state === 'new' ? state : 'absent';
}
