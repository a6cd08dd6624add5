import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { type ArchiveKeys, deriveArchiveKeys } from '../../../../src/archive/index.ts';
import { parsePostgresUrl } from '../../../../src/config/index.ts';
import { Secret, systemClock, systemRandom } from '../../../../src/core/index.ts';
import {
  type ArchiverOptions,
  type ArchiverState,
  runArchiver,
} from '../../../../src/platform/postgres/archive/archiver.ts';
import {
  chooseBase,
  chooseChain,
  findChains,
  recoverChain,
} from '../../../../src/platform/postgres/archive/moments.ts';
import { openTarget, type Target } from '../../../../src/target/index.ts';
import { makeDirectory } from '../../../procedures/platform.ts';
import { masterKey, runSql } from '../../../store/databases.ts';
import type { PostgresServer } from '../../../store/postgres-server.ts';
import { waitUntil } from '../../../wait-until.ts';

/** A time after everything, in milliseconds. */
const NEWEST = Date.UTC(2200);

/** An archive in a directory. */
export interface Archive {
  location: string;
  target: Target;
  keys: ArchiveKeys;
}

export async function makeArchive(t: TestContext): Promise<Archive> {
  const location = await makeDirectory(t, 'archive');
  const target = await openTarget(location);
  t.after(() => target.close());
  return { location, target, keys: deriveArchiveKeys(masterKey) };
}

/** An archiver that a test runs. */
export interface RunningArchiver {
  state(): ArchiverState;
  /** All causes of new chains so far. */
  broken(): readonly string[];
  /** Waits until every write that a server, by default the first, confirmed before the call is in the archive. */
  caughtUp(newest?: PostgresServer): Promise<void>;
  stop(): Promise<void>;
}

/** Runs an archiver until it is stopped, or until the end of the test. */
export function startArchiver(
  t: TestContext,
  server: PostgresServer,
  archive: Archive,
  options: Partial<ArchiverOptions> = {},
): RunningArchiver {
  const states: ArchiverState[] = [{ doing: 'connecting' }];
  const ending = new AbortController();
  const ended = runArchiver({
    address: parsePostgresUrl(server.url),
    password: new Secret(server.password),
    ...archive,
    everySeconds: 0.2,
    spoolBytes: 1024 ** 3,
    keepMilliseconds: 7 * 86_400_000,
    clock: systemClock,
    random: systemRandom,
    onState: (state) => states.push(state),
    signal: ending.signal,
    ...options,
  });
  const state = () => states.at(-1)!;
  const stop = async () => {
    ending.abort();
    await ended;
  };
  t.after(stop);
  return {
    state,
    stop,
    broken: () => [...new Set(states.flatMap(({ broken }) => (broken === undefined ? [] : [broken])))],
    async caughtUp(newest = server) {
      const now = await serverTime(newest);
      await waitUntil(
        'the archive contains every confirmed write',
        () => state().doing === 'shipping' && (state().through ?? 0) >= now,
        { seen: () => ({ now, ...state(), fault: state().fault?.message }) },
      );
    },
  };
}

/** Returns the server's time in milliseconds, rounded up. */
export async function serverTime(server: PostgresServer): Promise<number> {
  const [row] = await runSql(
    server,
    'SELECT ceil(extract(epoch FROM clock_timestamp()) * 1000)::text AS now',
  );
  return Number(row!['now']);
}

/** Waits until the files of the archive alone show that a moment can be restored. */
export async function waitUntilProven({ target, keys }: Archive, time: number): Promise<void> {
  await waitUntil('the archive proves the moment', async () => {
    const last = (await findChains(target, keys)).at(-1)?.last;
    return last !== undefined && last >= time;
  });
}

/** Writes a number, and returns the server's time after the answer in milliseconds. */
export async function write(server: PostgresServer, n: number): Promise<number> {
  await runSql(server, `INSERT INTO written VALUES (${n})`);
  return serverTime(server);
}

/** Restores the archive to a time, or to the newest moment, and returns the numbers in the table. */
export async function numbersAt(t: TestContext, archive: Archive, time?: number): Promise<readonly number[]> {
  const chains = await findChains(archive.target, archive.keys);
  const chain = chooseChain(chains, time ?? NEWEST);
  const cluster = await recoverChain(chain, {
    ...archive,
    dir: await makeDirectory(t, 'recovered'),
    base: chooseBase(chain, time ?? NEWEST),
    to: time === undefined ? { kind: 'newest' } : { kind: 'time', time: time * 1000 },
  });
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
