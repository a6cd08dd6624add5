/**
 * `node test/soak/soak.ts [--quick] [--sessions N] [--minutes M] [--data DIR] [--program DIR] [--json FILE]` runs two
 * replicas on one Postgres database with N sessions for M minutes: refreshes, logins, expiry, searches, deletion of
 * events, a backup, a replica that is restarted and one that is killed. Prints a line per minute and a summary, and exits
 * with 1 if a token request was refused, a token was lost or accepted twice, or a size keeps growing.
 *
 * Default: 10,000,000 sessions, 30 minutes. `--quick`: 100,000 sessions, 2 minutes.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { CHECKOUT } from '../bench/package.ts';
import { resident } from '../bench/scale/rows/users.ts';
import { uuidOf } from '../bench/scale/seeds/plan.ts';
import { openSides, type RunningSide } from '../bench/scale/side.ts';
import { makeDirectory, removeDirectory } from '../bench/service.ts';
import { startAdminLoad } from './admin-load.ts';
import { backUp } from './backup.ts';
import { Balancer } from './balancer.ts';
import { readSizes, type Sizes } from './sizes.ts';
import { slope, Tally } from './tally.ts';
import { TokenLoad } from './token-load.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    sessions: { type: 'string' },
    minutes: { type: 'string' },
    data: { type: 'string' },
    program: { type: 'string', default: CHECKOUT },
    json: { type: 'string' },
  },
});
const sessions = Number(values.sessions ?? (values.quick ? 100_000 : 10_000_000));
const minutes = Number(values.minutes ?? (values.quick ? 2 : 30));
const plan = {
  sessions,
  users: Math.min(1_000_000, sessions / 10),
  events: Math.min(5_000_000, sessions / 2),
};
/** Number of chains of refresh tokens, and the expired sessions that each minute adds: a share of all sessions. */
const CHAINS = 500;
const EXPIRED_PER_MINUTE = Math.round(sessions / 100);
/** The share of the logins that the bounded queue of password hashes may put off. */
const MOST_PUT_OFF = 0.01;
/** Growth that counts as level in the second half of the run. */
const LEVEL = { memory: 0.1, tables: 0.05 };

const data = values.data ?? makeDirectory();
mkdirSync(data, { recursive: true });
chmodSync(data, 0o755);
const program = {
  name: 'now',
  checkout: values.program,
  entry: { command: process.execPath, args: [`${values.program}/bin/idkit.js`] },
};
const { sides, cluster } = await openSides(program, 'postgres', data, [plan], '0-1');
const side = sides[0]!;
const tally = new Tally();
const balancer = new Balancer();
const replicas = new Map<string, RunningSide>();

async function startReplica(name: string): Promise<RunningSide> {
  const replica = await side.start({ cores: '0-1' });
  replicas.set(name, replica);
  balancer.set(name, replica.port);
  return replica;
}

interface Minute {
  minute: number;
  memory: Record<string, number>;
  sizes: Sizes;
  p99: number;
  counts: Readonly<Record<string, number>>;
}
const lines: Minute[] = [];

async function report(minute: number): Promise<void> {
  const memory = Object.fromEntries([...replicas].map(([name, { pid }]) => [name, residentOrNone(pid)]));
  const sizes = await readSizes(side);
  const { counts, p99 } = tally.takeLine();
  lines.push({ minute, memory, sizes, p99, counts });
  console.log(
    `${minute.toFixed(1)} min | resident MB ${JSON.stringify(memory)} | ${JSON.stringify(sizes)} | token p99 ${Math.round(p99)} ms | ${JSON.stringify(counts)}`,
  );
}

/** Adds expired sessions all the time, so that the sweeper always has work, as much as it removes. */
async function addExpired(running: () => boolean): Promise<void> {
  const count = Math.ceil(EXPIRED_PER_MINUTE / 6);
  // Starts at a number by the clock, far above those of an earlier run on the same data.
  for (let from = 2e9 + Math.floor(Date.now() / 1000) * 10_000; running(); from += count) {
    await side.addSessions({ from, count, users: plan.users, expired: true });
    tally.add('expired sessions added', count);
    await pause(10_000);
  }
}

try {
  await soak();
} finally {
  balancer.stop();
  for (const replica of replicas.values()) await replica.stop();
  await cluster?.stop();
  if (values.data === undefined) removeDirectory(data);
}
process.exit();

async function soak(): Promise<void> {
  const first = await startReplica('a');
  await startReplica('b');
  await first.calls.send('PUT', '/admin/realms/es', {
    ssoSessionIdleTimeout: 60,
    ssoSessionMaxLifespan: 120,
    eventsEnabled: true,
    eventsExpiration: 60,
  });
  // The access token lives for a day, so the session of the administrator must not end before the run.
  await first.calls.send('PUT', '/admin/realms/master', { ssoSessionIdleTimeout: 86_400 });
  const token = first.calls.token;
  const { web, rare } = side.seeded.clients;
  const tokens = readFileSync(side.tokens, 'latin1').trimEnd().split('\n');
  // The tokens that the load uses are no longer in the file, so that the next run does not use them again.
  const used = tokens.splice(0, CHAINS);
  writeFileSync(side.tokens, `${tokens.join('\n')}\n`);
  const load = new TokenLoad(balancer, tally, used, plan.users);
  const admin = startAdminLoad(
    balancer,
    tally,
    token,
    [
      'users?search=*xqzvwk*',
      'users?max=100',
      'users?search=smith&max=50',
      `users?first=${Math.floor(plan.users * 0.9)}&max=100`,
      `users/${uuidOf('u7')}/sessions`,
      `clients/${rare}/session-count`,
      'client-session-stats',
      `clients/${web}/user-sessions?first=${Math.floor(sessions / 10)}&max=100`,
      'events?type=RESET_PASSWORD&max=100',
      `events?user=${uuidOf('u11')}&max=100`,
      'users/count',
      'users?q=department:none',
      `users?max=${Math.min(plan.users, 50_000)}`,
    ],
    { loops: 6, deleteEverySeconds: Math.min(60, minutes * 10) },
  );

  const began = performance.now();
  const end = began + minutes * 60_000;
  const at = (share: number) => pause(Math.max(0, began + share * minutes * 60_000 - performance.now()));
  load.start({ refreshes: 60, logins: 2, jobs: 10, doubles: 0.5 });
  let running = true;
  const expiry = addExpired(() => running);
  const restarts = (async () => {
    await at(0.2);
    tally.add('replica restarted');
    await replicas.get('a')!.stop();
    await startReplica('a');
    await at(0.6);
    tally.add('replica killed');
    const killed = replicas.get('b')!;
    await killed.kill();
    await startReplica('b');
  })();
  const backup = (async () => {
    await at(0.35);
    const { code, seconds, resident: most, output } = await backUp(side);
    tally.add('backups');
    console.log(`backup: ${seconds.toFixed(1)} s, ${Math.round(most)} MB resident, exit code ${code}`);
    if (code !== 0 && code !== 3) tally.fault(`the backup ended with ${code}: ${output}`);
  })();
  const others = Promise.all([expiry, restarts, backup]);
  const step = Math.min(60_000, (minutes * 60_000) / 8);
  while (performance.now() < end) {
    // The race ends the run at once when one of the three fails.
    await Promise.race([
      pause(Math.min(step, Math.max(0, end - performance.now()))),
      others.then(() => pause(step)),
    ]);
    await report((performance.now() - began) / 60_000);
  }
  running = false;
  await others;
  await admin.stop();
  await load.stop();
  await load.checkAll();
  await judge();
}

/** Returns the resident memory of a process in MB, or 0 while it restarts. */
function residentOrNone(pid: number): number {
  try {
    return Math.round(resident(pid));
  } catch {
    return 0;
  }
}

/** Prints the summary and sets the exit code. */
async function judge(): Promise<void> {
  const half = lines.slice(Math.floor(lines.length / 2));
  const grows = (pick: (line: Minute) => number): number => {
    const points = half.map((line) => [line.minute, pick(line)] as const);
    const span = (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0);
    return (slope(points) * span) / Math.max(1, points[0]?.[1] ?? 1);
  };
  const growth = {
    sessions: grows(({ sizes }) => sizes.sessionsMB),
    events: grows(({ sizes }) => sizes.eventsMB),
    // The killed replica has started again in this half, so only the other one counts.
    memory: grows(({ memory }) => memory['a'] ?? 0),
  };
  if (!values.quick) {
    if (growth.memory > LEVEL.memory) tally.fault(`the resident memory grew by ${percent(growth.memory)}`);
    if (growth.sessions > LEVEL.tables)
      tally.fault(`the tables of sessions grew by ${percent(growth.sessions)}`);
    if (growth.events > LEVEL.tables) tally.fault(`the tables of events grew by ${percent(growth.events)}`);
  }
  const putOff = tally.total('login put off') / Math.max(1, tally.total('logged in'));
  if (putOff > MOST_PUT_OFF) tally.fault(`${percent(putOff)} of the logins were put off`);
  const text = Object.entries(growth).map(([what, share]) => `${what} ${percent(share)}`);
  console.log(`\ngrowth in the second half: ${text.join(', ')}`);
  console.log(`totals: ${JSON.stringify(tally.totals(), null, 1)}`);
  for (const fault of tally.faults) console.log(`FAULT ${fault}`);
  console.log(tally.total('faults') === 0 ? 'no faults' : `${tally.total('faults')} faults`);
  if (values.json !== undefined)
    writeFileSync(
      values.json,
      JSON.stringify(
        { sessions, minutes, lines, growth, totals: tally.totals(), faults: tally.faults },
        null,
        1,
      ),
    );
  if (tally.total('faults') > 0) process.exitCode = 1;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
