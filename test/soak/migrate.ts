/**
 * `node test/soak/migrate.ts --from DIR [--to DIR] [--database sqlite|postgres] [--sessions N] [--kills N] [--data DIR]`
 * seeds a database with the program in the checkout --from, and updates the service to the program in --to while clients
 * refresh. It ends the new program with SIGKILL --kills times while it migrates. With --rolling, it starts the new
 * replica on Postgres before it stops the old one; a new program rejects this if the old one cannot use its schema.
 * Prints the seconds without service, and exits with 1 if a session, a family or a client's newest token is lost.
 *
 * Default: this checkout, both databases, 1,000,000 sessions, 2 kills.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { CHECKOUT } from '../bench/package.ts';
import { type DatabaseKind, openSides, type Program, type RunningSide, Side } from '../bench/scale/side.ts';
import { databaseFile } from '../bench/seed.ts';
import { makeDirectory, removeDirectory } from '../bench/service.ts';
import { Balancer } from './balancer.ts';
import { Tally } from './tally.ts';
import { TokenLoad } from './token-load.ts';

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    to: { type: 'string', default: CHECKOUT },
    database: { type: 'string' },
    sessions: { type: 'string', default: '1000000' },
    kills: { type: 'string', default: '2' },
    rolling: { type: 'boolean', default: false },
    data: { type: 'string' },
  },
});
if (values.from === undefined) throw new Error('--from DIR is missing: the checkout of the older program');
const sessions = Number(values.sessions);
const CHAINS = 300;
/** Number of tokens that no client used during the migration and that must work afterwards. */
const UNTOUCHED = 2000;
/** Timeout in milliseconds for the background migrations. */
const MIGRATION_MS = 3_600_000;

function programAt(name: string, checkout: string): Program {
  return { name, checkout, entry: { command: process.execPath, args: [`${checkout}/bin/idkit.js`] } };
}

const data = values.data ?? makeDirectory();
mkdirSync(data, { recursive: true });
chmodSync(data, 0o755);
let failed = false;
try {
  for (const kind of ['sqlite', 'postgres'] as const)
    if (values.database === undefined || values.database === kind) failed = !(await migrate(kind)) || failed;
} finally {
  if (values.data === undefined) removeDirectory(data);
}
process.exit(failed ? 1 : 0);

/** Migrates one database. Returns whether nothing was lost. */
async function migrate(kind: DatabaseKind): Promise<boolean> {
  const plan = {
    sessions,
    users: Math.min(1_000_000, sessions / 5),
    events: Math.min(1_000_000, sessions / 2),
  };
  const from = programAt('migrated', values.from!);
  const { sides, cluster } = await openSides(from, kind, data, [plan], '0-1');
  const old = sides[0]!;
  const next = new Side(programAt('migrated', values.to), kind, old.dir, plan, cluster);
  const tally = new Tally();
  const balancer = new Balancer();
  const running: RunningSide[] = [];
  const start = async (side: Side, name: string): Promise<RunningSide> => {
    const service = await side.start({ cores: '0-1' });
    running.push(service);
    balancer.set(name, service.port);
    return service;
  };
  const tokens = readFileSync(old.tokens, 'latin1').trimEnd().split('\n');
  const used = tokens.splice(0, CHAINS);
  const untouched = tokens.splice(0, UNTOUCHED);
  writeFileSync(old.tokens, `${tokens.join('\n')}\n`);
  const load = new TokenLoad(balancer, tally, used, plan.users);
  const gaps = watchGaps(tally);
  try {
    const before = await countRows(old);
    const first = await start(old, 'old');
    load.start({ refreshes: 60, logins: 1, jobs: 5, doubles: 0 });
    await pause(10_000);
    console.log(`${kind}: before ${describe(tally)}`);
    gaps.begin();
    const began = performance.now();
    let service: RunningSide;
    if (kind === 'postgres' && values.rolling) {
      service = await start(next, 'new');
      await pause(1000);
      await first.stop();
    } else {
      await first.stop();
      service = await start(next, 'new');
    }
    console.log(
      `${kind}: the new program is ready after ${seconds(began)} s, ${gaps.longest()} s without service`,
    );
    for (let kill = 0; kill < Number(values.kills); kill += 1) {
      await pause(1500);
      const state = await readState(next);
      await service.kill();
      console.log(`${kind}: killed during ${state === '' ? 'no background migration' : state}`);
      service = await start(next, 'new');
    }
    const until = performance.now() + MIGRATION_MS;
    for (let last = ''; performance.now() < until; await pause(1000)) {
      const state = await readState(next);
      if (state === '') break;
      if (state !== last && Math.floor(performance.now() / 1000) % 10 === 0) console.log(`${kind}: ${state}`);
      last = state;
    }
    const unfinished = await readState(next);
    if (unfinished !== '') tally.fault(`the background migrations do not finish: ${unfinished}`);
    console.log(`${kind}: migrated after ${seconds(began)} s, with ${describe(tally)}`);
    await load.stop();
    await load.checkAll();
    await new TokenLoad(balancer, tally, untouched, plan.users).checkAll();
    const after = await countRows(next);
    const started = tally.total('logged in');
    console.log(
      `${kind}: before ${JSON.stringify(before)}, after ${JSON.stringify(after)}, ${started} logins between`,
    );
    for (const table of ['user_session', 'token_family'] as const)
      if (after[table] < before[table])
        tally.fault(`${table} had ${before[table]} rows and has ${after[table]}`);
    console.log(`${kind}: longest time without a token ${gaps.longest()} s`);
    console.log(`${kind}: ${JSON.stringify(tally.totals())}`);
    for (const fault of tally.faults) console.log(`FAULT ${fault}`);
    return tally.total('faults') === 0;
  } finally {
    gaps.stop();
    await load.stop();
    balancer.stop();
    for (const service of running) await service.stop();
    await cluster?.stop();
  }
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}

function describe(tally: Tally): string {
  const { counts, p99 } = tally.takeLine();
  return `token p99 ${Math.round(p99)} ms, ${JSON.stringify(counts)}`;
}

/** Watches the longest time, in seconds, in which no refresh succeeded. */
function watchGaps(tally: Tally): { begin(): void; longest(): string; stop(): void } {
  let [last, longest, count] = [performance.now(), 0, 0];
  let counting = false;
  const timer = setInterval(() => {
    const now = performance.now();
    const refreshed = tally.total('refreshed');
    if (counting) longest = Math.max(longest, now - last);
    if (refreshed > count) last = now;
    count = refreshed;
  }, 20);
  return {
    begin: () => {
      counting = true;
    },
    longest: () => (longest / 1000).toFixed(1),
    stop: () => clearInterval(timer),
  };
}

/** Returns the unfinished background migrations with their number of handled records, or an empty text. */
async function readState(side: Side): Promise<string> {
  const { BACKGROUND_MIGRATIONS } = await import(
    pathToFileURL(join(side.program.checkout, 'src/store/migrations/background.ts')).href
  );
  const names = (BACKGROUND_MIGRATIONS as { name: string }[]).map(({ name }) => name);
  const rows = await query(side, 'SELECT name, handled, finished FROM background_migration');
  return names
    .map((name) => ({ name, row: rows.find((row) => row['name'] === name) }))
    .filter(({ row }) => Number(row?.['finished'] ?? 0) === 0)
    .map(({ name, row }) => `${name} ${row?.['handled'] ?? 0}`)
    .join(', ');
}

/** Counts sessions and token families, including those in the tables of the older version. */
async function countRows(side: Side): Promise<{ user_session: number; token_family: number }> {
  const tables = await query(
    side,
    side.cluster
      ? `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace`
      : `SELECT name FROM sqlite_schema WHERE type = 'table'`,
  );
  const count = async (prefix: string) => {
    let total = 0;
    for (const name of [prefix, `${prefix}_0`])
      if (tables.some((table) => table['name'] === name))
        total += Number((await query(side, `SELECT count(*) AS n FROM ${name}`))[0]!['n']);
    return total;
  };
  return { user_session: await count('user_session'), token_family: await count('token_family') };
}

async function query(side: Side, sql: string): Promise<Record<string, unknown>[]> {
  if (side.cluster) return side.cluster.sql(sql, side.database);
  const database = new DatabaseSync(databaseFile(side.dir), { readOnly: true, timeout: 10_000 });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}
