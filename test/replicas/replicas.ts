import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { SECRETS } from '../http/service.ts';
import { type Service, startIdkit } from '../journey/idkit.ts';
import { makeDatabase } from '../store/databases.ts';
import type { PostgresServer } from '../store/postgres-server.ts';

/** The issuer does not depend on a replica's port, as behind a proxy. */
export const BASE_URL = 'http://login.example.test';

/** A test, or a test file, with which cleanup functions are registered. */
export type Ends = Pick<TestContext, 'after'>;

/** Starts the replicas of one service, which share a database. */
export interface Replicas {
  database: { name: string; url: string };
  /** Starts another `idkit serve`. Its platform directory is `idkit` in `place`. Default: a new directory. */
  start(options?: { place?: string; argv?: readonly string[]; env?: NodeJS.ProcessEnv }): Promise<Service>;
  /** Creates an empty directory, which is removed at the end. */
  makePlace(): string;
  /** The environment of every replica. */
  env: NodeJS.ProcessEnv;
}

/** Creates an empty database, and returns a function that starts a replica on it in a separate process. */
export async function openReplicas(
  t: Ends,
  server: PostgresServer,
  { drainSeconds }: { drainSeconds?: number } = {},
): Promise<Replicas> {
  const database = await makeDatabase(server);
  const env = {
    ...SECRETS,
    IDKIT_DATABASE_URL: database.url,
    IDKIT_DATABASE_PASSWORD: server.password,
    IDKIT_BASE_URL: BASE_URL,
  };
  const makePlace = () => {
    const place = mkdtempSync(join(tmpdir(), 'idkit-replica-'));
    if (drainSeconds !== undefined) {
      mkdirSync(join(place, 'idkit'));
      writeFileSync(join(place, 'idkit', 'idkit.yaml'), `listen:\n  drainSeconds: ${drainSeconds}\n`);
    }
    t.after(() => rmSync(place, { recursive: true, force: true, maxRetries: 10 }));
    return place;
  };
  return {
    database,
    env,
    makePlace,
    start: ({ place = makePlace(), argv = [], env: more = {} } = {}) =>
      startIdkit(t as TestContext, { cwd: place, env: { ...env, ...more }, argv }),
  };
}
