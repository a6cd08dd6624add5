import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { findChains } from '../../src/platform/postgres/archive/moments.ts';
import { type Archive, makeArchive, numbersAt, serverTime } from '../platform/postgres/archive/archived.ts';
import { connectionOf, masterKey, runSql } from '../store/databases.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

const skip = missingPostgres() ?? false;
/** The number of kills. Each one takes about 15 seconds. */
const KILLS = Number(process.env['IDKIT_TEST_KILLS'] ?? 3);
/** The number of random moments that are restored after each kill, in addition to the newest one. */
const MOMENTS = Number(process.env['IDKIT_TEST_MOMENTS'] ?? 1);

/** A write, with times of the server in milliseconds. */
interface Write {
  n: number;
  /** A time at which the transaction was not committed yet. */
  before: number;
  /** The time after the server had confirmed the commit. Undefined if it did not. */
  confirmed?: number;
}

/** Writes numbers one after the other, and reconnects whenever the server restarts. */
class Writer {
  readonly writes: Write[] = [];
  readonly #server: PostgresServer;
  #stopped = false;
  #ended: Promise<void>;

  constructor(server: PostgresServer) {
    this.#server = server;
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const client = new Client({ ...connectionOf(this.#server), database: 'postgres' });
      client.on('error', () => undefined);
      try {
        await client.connect();
        while (!this.#stopped) await this.#write(client);
      } catch {
        // The server was killed. It may have committed the last write without a confirmation.
        await sleep(50);
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  }

  async #write(client: Client): Promise<void> {
    const now = async () => {
      const { rows } = await client.query<{ now: string }>(
        'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now',
      );
      return Number(rows[0]!.now);
    };
    const write: Write = { n: this.writes.length, before: await now() };
    this.writes.push(write);
    await client.query('INSERT INTO written VALUES ($1)', [write.n]);
    write.confirmed = await now();
    await sleep(2);
  }
}

/** Starts the program that archives. Returns its process and its newest state. */
function startProgram(t: TestContext, server: PostgresServer, { location }: Archive) {
  const program = fileURLToPath(new URL('archiver-program.ts', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const { url, password } = server;
  child.stdin!.end(JSON.stringify({ url, password, location, masterKey: masterKey.reveal() }));
  let state: { doing: string; through?: number; fault?: string; broken?: string } = { doing: 'starting' };
  createInterface({ input: child.stdout! }).on('line', (line) => {
    state = JSON.parse(line) as typeof state;
  });
  return {
    state: () => state,
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** Restores a moment and compares it with the writes. */
async function checkMoment(t: TestContext, archive: Archive, writes: readonly Write[], time?: number) {
  const found = new Set(await numbersAt(t, archive, time));
  const at = time ?? Number.POSITIVE_INFINITY;
  const lost = writes.filter(
    ({ n, confirmed }) => confirmed !== undefined && confirmed <= at && !found.has(n),
  );
  assert.deepEqual(lost, [], `confirmed writes are missing at ${time ?? 'the newest moment'}`);
  const early = writes.filter(({ n, before }) => before > at && found.has(n));
  assert.deepEqual(early, [], `later writes are there at ${time}`);
  return found.size;
}

test('after each kill of the archiver or the server, every confirmed write up to a moment is restored, and none after it', {
  skip,
  timeout: 120_000 + KILLS * 60_000,
}, async (t) => {
  const server = await startPostgres(t);
  await runSql(server, 'CREATE TABLE written (n int)');
  const archive = await makeArchive(t);
  let program = startProgram(t, server, archive);
  await waitUntil('the archive has a base', () => program.state().through, { seen: () => program.state() });
  const writer = new Writer(server);
  t.after(() => writer.stop());
  const windows: number[] = [];
  const from = await serverTime(server);
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(Math.random() * 1500);
    const victim = ['archiver', 'sender', 'server'][kill % 3];
    if (victim === 'server') {
      await server.stop('immediate');
      await server.start();
    } else if (victim === 'sender') {
      const [sender] = await runSql(
        server,
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walsender' LIMIT 1",
      );
      // After the kill of one of its processes, the server ends all of them and recovers.
      if (sender !== undefined) process.kill(Number(sender['pid']), 'SIGKILL');
    } else {
      await program.kill();
      // What the archive would lose if the machine of the database were lost now as well.
      const [newest] = (await findChains(archive.target, archive.keys)).slice(-1);
      windows.push((await serverTime(server)) - newest!.last);
      program = startProgram(t, server, archive);
    }
    const until = await waitUntil('the server answers', () => serverTime(server).catch(() => undefined));
    await waitUntil(
      'the archive contains every confirmed write',
      () => program.state().doing === 'shipping' && (program.state().through ?? 0) >= until,
      { seen: () => program.state() },
    );
    const written = writer.writes.filter(({ confirmed }) => confirmed !== undefined && confirmed <= until);
    await checkMoment(t, archive, written);
    for (let moment = 0; moment < MOMENTS; moment++)
      await checkMoment(t, archive, writer.writes.slice(), Math.floor(from + Math.random() * (until - from)));
  }
  await writer.stop();
  assert.ok(writer.writes.length > 50, 'the writer wrote all the time');
  assert.equal((await findChains(archive.target, archive.keys)).length, 1, 'no kill breaks the chain');
  t.diagnostic(
    `${KILLS} kills, ${writer.writes.length} writes; milliseconds between the newest moment and the kill: ${windows.map(Math.round).join(', ')}`,
  );
});
