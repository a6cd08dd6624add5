import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { login, readMetrics, refresh } from '../http/service.ts';
import { runIdkit, type Service } from '../journey/idkit.ts';
import { runSql } from '../store/databases.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';
import { openReplicas, type Replicas } from './replicas.ts';

const skip = missingPostgres();
const WORKERS = 3;

let server: PostgresServer;
let replicas: Replicas;
let place: string;
let service: Service;
const ends: (() => unknown)[] = [];

before(async () => {
  if (skip !== undefined) return;
  server = await startPostgres({ after: (end) => void ends.push(end) });
  replicas = await openReplicas({ after: (end: () => unknown) => void ends.push(end) } as never, server);
  place = replicas.makePlace();
  service = await replicas.start({ place, argv: ['--workers', String(WORKERS)] });
  await logged('all workers ready');
});
after(async () => {
  for (const end of ends.reverse()) await end();
});

/** Waits for a log line with this message after the first `from` lines, and returns it. */
const logged = (message: string, from = 0) => loggedBy(service, message, from);

async function loggedBy(by: Service, message: string, from = 0): Promise<Record<string, unknown>> {
  const find = () =>
    by
      .log()
      .slice(from)
      .find(({ msg }) => msg === message);
  return waitUntil(`the log says "${message}"`, find, { seconds: 120, seen: () => by.stderr() });
}

/** Returns the sum of the series of one metric. */
async function figure(name: string, labels = ''): Promise<number> {
  const text = await readMetrics(service);
  return text
    .split('\n')
    .filter((line) => line.startsWith(name) && line.includes(labels) && /[ {]/.test(line[name.length]!))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

test('serve rejects more than one worker on SQLite as a usage error', async () => {
  const ended = await runIdkit(['serve', '--workers', '2', '--port', '0'], { cwd: replicas.makePlace() });
  assert.equal(ended.code, 2);
  assert.match(ended.stderr, /error IDKIT_USAGE: --workers above 1 needs a postgres:\/\/ database/);
});

test('workers share the port, and every connection gets a response', { skip }, async () => {
  const ready = service.log().filter(({ msg }) => msg === 'ready');
  assert.equal(ready.length, WORKERS);
  assert.equal(new Set(ready.map(({ address }) => address)).size, 1);
  for (let round = 0; round < 12; round++) {
    const answer = await fetch(`${service.address}/health/ready`, { headers: { connection: 'close' } });
    assert.equal(answer.status, 200);
  }
});

test('the lock file names the process that started the workers, and status uses it to find the service', {
  skip,
}, async () => {
  const status = (await service.run(['status', '--json'])).result();
  assert.match(JSON.stringify(status), new RegExp(service.address));
});

test('metrics include the counts of all workers, even of a killed one, and report when the service started', {
  skip,
}, async () => {
  const before = await figure('keycloak_user_events_total', 'event="refresh_token"');
  for (let round = 0; round < 9; round++) {
    const { refresh_token: token } = await login(service);
    assert.equal((await refresh(service, token!)).status, 200);
  }
  assert.equal(await figure('keycloak_user_events_total', 'event="refresh_token"'), before + 9);
  assert.equal(await figure('idkit_renewals_recent', 'outcome="good"'), before + 9);
  assert.equal(await figure('idkit_realms'), 1, 'the store is the same');
  const start = await figure('process_start_time_seconds');
  assert.ok(Math.abs(start - Date.now() / 1000) < 600, `${start}`);

  const lines = service.log().length;
  const victim = (await pidsOfWorkers())[0]!;
  process.kill(victim, 'SIGKILL');
  const line = await logged('a worker ended and will be replaced', lines);
  assert.deepEqual([line['worker'], line['signal']], [victim, 'SIGKILL']);
  await logged('a worker was replaced', lines);
  // Wait, because the database server notices only a little later that the killed worker has ended.
  let pids: readonly number[] = [];
  const hasLeft = async () => {
    pids = await pidsOfWorkers();
    return !pids.includes(victim);
  };
  await waitUntil('the killed worker has ended', hasLeft, { seen: () => pids });
  assert.equal(pids.length, WORKERS);
  assert.equal(await figure('keycloak_user_events_total', 'event="refresh_token"'), before + 9);
  assert.equal(await figure('process_start_time_seconds'), start);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => fetch(`${service.address}/health/ready`)),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});

test('a worker that receives SIGTERM ends when its replacement is ready, and its counts are kept', {
  skip,
}, async () => {
  const counted = await figure('keycloak_user_events_total', 'event="refresh_token"');
  const { refresh_token: token } = await login(service);
  assert.equal((await refresh(service, token!)).status, 200);
  const lines = service.log().length;
  const old = await pidsOfWorkers();
  for (const pid of old) process.kill(pid, 'SIGTERM');
  let pids: readonly number[] = [];
  const replaced = async () => {
    // The service must stay ready while the worker is being replaced.
    assert.equal((await fetch(`${service.address}/health/ready`)).status, 200);
    pids = await pidsOfWorkers();
    return pids.length === WORKERS && !pids.some((pid) => old.includes(pid));
  };
  await waitUntil('all workers are replaced', replaced, { seen: () => pids });
  assert.equal(await figure('keycloak_user_events_total', 'event="refresh_token"'), counted + 1);
  const messages = service
    .log()
    .slice(lines)
    .map(({ msg }) => msg);
  assert.equal(messages.filter((msg) => msg === 'a worker was replaced').length, WORKERS);
  assert.ok(!messages.includes('a worker ended and will be replaced'), 'none of them failed');
});

test('an error that prevents workers from starting is reported only once, with its own code', {
  skip,
}, async () => {
  const other = Buffer.alloc(32, 8).toString('base64');
  const ended = await runIdkit(['serve', '--workers', '2', '--port', '0'], {
    cwd: replicas.makePlace(),
    env: { ...replicas.env, IDKIT_MASTER_KEY: other },
  });
  assert.equal(ended.code, 12, ended.stderr);
  assert.equal(ended.stderr.match(/^error /gm)?.length, 1, ended.stderr);
  assert.match(ended.stderr, /IDKIT_MASTER_KEY_WRONG/);
  const { port } = new URL(service.address);
  const taken = await runIdkit(['serve', '--workers', '2', '--port', port], {
    cwd: replicas.makePlace(),
    env: replicas.env,
  });
  assert.match(taken.stderr, /IDKIT_PORT_TAKEN/);
});

test('if the process that started the workers is killed, they end and free the port', { skip }, async () => {
  const quick = await openReplicas({ after: (end: () => unknown) => void ends.push(end) }, server, {
    drainSeconds: 0,
  });
  const other = await quick.start({ argv: ['--workers', '2'] });
  await loggedBy(other, 'all workers ready');
  const workers = await pidsOfWorkers(quick);
  assert.equal(workers.length, 2);
  process.kill(parentOf(workers[0]!), 'SIGKILL');
  for (const pid of workers) await waitUntil(`worker ${pid} ends`, () => !lives(pid));
});

test('without the database, workers still report their metrics, but the service is not ready', {
  skip,
}, async () => {
  const counted = await figure('keycloak_user_events_total', 'event="refresh_token"');
  assert.ok(counted > 0);
  await server.stop('immediate');
  assert.equal((await fetch(`${service.address}/health/ready`)).status, 503);
  assert.equal(await figure('keycloak_user_events_total', 'event="refresh_token"'), counted);
  await server.start();
  const isReady = async () => (await fetch(`${service.address}/health/ready`)).status === 200;
  await waitUntil('the service is ready again', isReady);
});

test('on SIGTERM the service first reports that it is not ready, then finishes running requests, and ends every worker', {
  skip,
}, async () => {
  const pids = await pidsOfWorkers();
  const { port } = new URL(service.address);
  const socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const body = 'grant_type=password&client_id=admin-cli&username=admin&password=Test-Admin-Password-1';
  const head = `POST /realms/master/protocol/openid-connect/token HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n`;
  socket.write(head + body.slice(0, 20));
  await sleep(100);
  const stopped = service.stop();
  for (let tries = 0; (await fetch(`${service.address}/health/ready`)).status !== 503; tries++) {
    // After the drain, requests are refused and `fetch` throws.
    assert.ok(tries < 3000, 'readiness goes down while the listener is open');
    await sleep(10);
  }
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.write(body.slice(20));
  await ended;
  assert.match(text, /^HTTP\/1.1 200 /);
  assert.match(text, /^connection: close\r$/im);
  assert.equal(await stopped, 0);
  for (const pid of pids) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

/** Returns the ids of the workers that are connected to the database, from their application names. */
async function pidsOfWorkers(of = replicas): Promise<readonly number[]> {
  const rows = await runSql(
    server,
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE datname = '${of.database.name}' AND application_name LIKE 'idkit serve %'`,
  );
  return rows.map(({ name }) => Number(String(name).split(' ').at(-1))).toSorted((one, other) => one - other);
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
