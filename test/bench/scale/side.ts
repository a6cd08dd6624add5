import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { SERVER_CORE, startPinned, stop } from '../measure.ts';
import { databaseFile } from '../seed.ts';
import { ADMINISTRATOR, BASE_URL, type Entry, freePort, logIn, makeRealms, untilReady } from '../service.ts';
import { AdminCalls } from './calls.ts';
import { type Cluster, FILLING, openCluster, RUNNING } from './cluster.ts';
import type { MemoryLimit } from './memory-limit.ts';
import { LIFETIME, membersSql, type Plan } from './seeds/plan.ts';
import * as postgresSessions from './seeds/sessions-postgres.ts';
import * as sqliteSessions from './seeds/sessions-sqlite.ts';
import { openMint, type TokenMint } from './seeds/tokens.ts';
import * as postgresUsers from './seeds/users-postgres.ts';
import * as sqliteUsers from './seeds/users-sqlite.ts';

/** A program to measure: its command, and the checkout with its modules. */
export interface Program {
  name: string;
  entry: Entry;
  checkout: string;
}

/** Timeout in milliseconds for all background migrations of a seeded database. */
const MIGRATION_MS = 3_600_000;

export type DatabaseKind = 'sqlite' | 'postgres';

/** A service on the server's core that runs on a seeded database. */
export interface RunningSide {
  port: number;
  managementPort: number;
  pid: number;
  calls: AdminCalls;
  stop(): Promise<void>;
  /** Ends the service with SIGKILL. */
  kill(): Promise<void>;
}

/** What the seed of a database left for later runs. */
interface Seeded {
  plan: Plan;
  token: string;
  clients: { web: string; rare: string };
}

/**
 * One seeded database with its platform directory. On Postgres, the databases of one program share a cluster. The
 * service runs between `start` and `stop` of the result.
 */
export class Side {
  readonly program: Program;
  readonly kind: DatabaseKind;
  readonly dir: string;
  readonly plan: Plan;
  readonly cluster: Cluster | undefined;
  /** The name of the Postgres database. */
  readonly database: string;

  constructor(program: Program, kind: DatabaseKind, dir: string, plan: Plan, cluster: Cluster | undefined) {
    this.program = program;
    this.kind = kind;
    this.dir = dir;
    this.plan = plan;
    this.cluster = cluster;
    this.database = `n${plan.sessions}`;
  }

  /** The file with the usable refresh tokens, one per line. */
  get tokens(): string {
    return join(this.dir, 'tokens.txt');
  }

  get seeded(): Seeded {
    return JSON.parse(readFileSync(join(this.dir, 'seeded.json'), 'utf8')) as Seeded;
  }

  /** Fills the database, unless an earlier run has done so. On Postgres, the cluster must run with `FILLING`. */
  async seed(): Promise<void> {
    if (existsSync(join(this.dir, 'seeded.json'))) return;
    mkdirSync(this.dir, { recursive: true });
    if (this.cluster) {
      await this.cluster.sql(`DROP DATABASE IF EXISTS ${this.database}`);
      await this.cluster.sql(`CREATE DATABASE ${this.database}`);
    }
    const first = await this.start();
    await makeRealms(first.port);
    const { calls } = first;
    await calls.send('PUT', '/admin/realms/master', { accessTokenLifespan: 86_400 });
    for (const realm of ['rs', 'es'])
      await calls.send('PUT', `/admin/realms/${realm}`, {
        ssoSessionIdleTimeout: LIFETIME,
        ssoSessionMaxLifespan: LIFETIME,
      });
    const rare = { clientId: 'rare', publicClient: true, directAccessGrantsEnabled: true };
    await calls.send('POST', '/admin/realms/rs/clients', rare);
    const uuid = async (clientId: string) =>
      String((await calls.get<{ id: string }[]>(`/admin/realms/rs/clients?clientId=${clientId}`))[0]!.id);
    const clients = { web: await uuid('web'), rare: await uuid('rare') };
    const [token = ''] = await logIn(first.port, 'rs', 1);
    await first.stop();
    const { sessions, users, events } = this.plan;
    await this.fill(async (into) => {
      await into.users(users);
      await into.events('rs', events);
    });
    writeFileSync(join(this.dir, 'seeded.json'), JSON.stringify({ plan: this.plan, token, clients }));
    await this.addSessions({ from: 0, count: sessions, users, fresh: true }, this.tokens);
    await this.#migrateAgain();
    if (this.cluster) await this.cluster.sql('VACUUM ANALYZE', this.database);
  }

  /**
   * Runs the background migrations on the seeded rows. The seed writes rows in SQL, so it does not maintain what the
   * service derives from them.
   */
  async #migrateAgain(): Promise<void> {
    const query = async (sql: string): Promise<Record<string, unknown>[]> => {
      if (this.cluster) return this.cluster.sql(sql, this.database);
      const database = this.#openFile();
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    };
    const table = this.cluster
      ? `SELECT relname AS name FROM pg_class WHERE relname = 'background_migration'`
      : `SELECT name FROM sqlite_schema WHERE name = 'background_migration'`;
    if ((await query(table)).length === 0) return;
    const known = await query('SELECT name FROM background_migration');
    if (known.length === 0) return;
    await query('DELETE FROM background_migration');
    const service = await this.start();
    try {
      const until = performance.now() + MIGRATION_MS;
      const finished = 'SELECT name FROM background_migration WHERE finished = 1';
      while ((await query(finished)).length < known.length) {
        if (performance.now() > until) throw new Error('the background migrations do not finish');
        await pause(500);
      }
    } finally {
      await service.stop();
    }
  }

  /** Adds sessions. On SQLite, the service must be stopped. */
  async addSessions(sessions: postgresSessions.Sessions, tokens?: string): Promise<void> {
    const { token, clients } = this.seeded;
    const mint = await this.#mint(token);
    if (this.cluster) {
      const client = await this.cluster.connect(this.database);
      await postgresSessions.seedSessions(client, mint, clients, sessions, tokens);
      await client.end();
    } else {
      const database = this.#openFile();
      await sqliteSessions.seedSessions(database, mint, clients, sessions, tokens);
      database.close();
    }
  }

  /** Adds users, events or members of a group. On SQLite, the service must be stopped. */
  async fill(
    run: (into: {
      users(count: number): Promise<void>;
      events(realm: string, count: number): Promise<void>;
      members(group: string, count: number): Promise<void>;
    }) => Promise<void>,
  ): Promise<void> {
    const { users } = this.plan;
    if (this.cluster) {
      const client = await this.cluster.connect(this.database);
      await run({
        users: (count) => postgresUsers.seedUsers(client, count),
        events: (realm, count) => postgresUsers.seedEvents(client, realm, count, users),
        members: async (group, count) => {
          await client.query(membersSql(group, count));
          await client.query('ANALYZE user_group');
        },
      });
      await client.end();
    } else {
      const database = this.#openFile();
      await run({
        users: async (count) => sqliteUsers.seedUsers(database, count),
        events: async (realm, count) => sqliteUsers.seedEvents(database, realm, count, users),
        members: async (group, count) => database.exec(`${membersSql(group, count)}; ANALYZE user_group`),
      });
      database.close();
    }
  }

  /**
   * Starts the service.
   *
   * @param options.limit the control group in which it runs
   * @param options.cores the processor cores on which it runs, as for `taskset -c`. Default: the server's core
   */
  async start(options: { limit?: MemoryLimit; cores?: string } = {}): Promise<RunningSide> {
    const { limit, cores = SERVER_CORE } = options;
    const [port, managementPort] = [await freePort(), await freePort()];
    const { command, args } = this.program.entry;
    const flags = ['--dir', this.dir, '--port', String(port), '--management-port', String(managementPort)];
    const serve = [command, ...args, 'serve', ...flags, '--base-url', BASE_URL];
    const enter = limit === undefined ? '' : `${limit.enter}; `;
    const child = startPinned(cores, '/bin/sh', ['-c', `${enter}exec "$@"`, 'sh', ...serve], {
      IDKIT_ADMIN_USERNAME: ADMINISTRATOR.username,
      IDKIT_ADMIN_PASSWORD: ADMINISTRATOR.password,
      ...(this.cluster
        ? {
            IDKIT_DATABASE_URL: this.cluster.url(this.database),
            IDKIT_DATABASE_PASSWORD: this.cluster.password,
          }
        : {}),
    });
    const errors: string[] = [];
    child.stdout?.resume();
    child.stderr?.on('data', (chunk) => errors.push(String(chunk)));
    await untilReady(port, child, errors);
    return {
      port,
      managementPort,
      pid: child.pid as number,
      calls: await AdminCalls.logIn(port),
      stop: () => stop(child),
      kill: async () => {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      },
    };
  }

  #mint(token: string): Promise<TokenMint> {
    const database = this.cluster
      ? { url: this.cluster.url(this.database), password: this.cluster.password }
      : { file: databaseFile(this.dir) };
    return openMint(this.program.checkout, this.dir, database, token);
  }

  #openFile(): DatabaseSync {
    const database = new DatabaseSync(databaseFile(this.dir), { enableForeignKeyConstraints: false });
    database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; PRAGMA temp_store = FILE');
    return database;
  }
}

/**
 * Opens the seeded databases of a program, and seeds those that do not exist yet. On Postgres, the cluster runs when
 * this resolves.
 */
export async function openSides(
  program: Program,
  kind: DatabaseKind,
  data: string,
  plans: readonly Plan[],
  cores?: string,
): Promise<{ sides: Side[]; cluster: Cluster | undefined }> {
  const dir = join(data, `${program.name}-${kind}`);
  const cluster = kind === 'postgres' ? openCluster(dir, cores) : undefined;
  const sides = plans.map(
    (plan) => new Side(program, kind, join(dir, `platform-${plan.sessions}`), plan, cluster),
  );
  const missing = sides.filter((side) => !existsSync(join(side.dir, 'seeded.json')));
  if (missing.length > 0) {
    await cluster?.start(FILLING, { cores: `0-${cpus().length - 1}` });
    for (const side of missing) {
      process.stderr.write(`seeding ${program.name} ${kind} ${side.plan.sessions} …\n`);
      await side.seed();
    }
    await cluster?.sql('CHECKPOINT');
    await cluster?.stop();
  }
  await cluster?.start(RUNNING);
  return { sides, cluster };
}
