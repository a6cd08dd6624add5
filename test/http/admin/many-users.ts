import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { after, type TestContext } from 'node:test';
import { makeDatabase, runSql } from '../../store/databases.ts';
import { startPostgres } from '../../store/postgres-server.ts';
import { login, makePlatform, startTestService, type TestService } from '../service.ts';

/** A service for tests with very many users. `run` executes SQL in its database. */
export interface Place {
  service: TestService;
  run(sql: string): Promise<void>;
}

/** Functions that start the service on a database of each kind. */
export const openers: Readonly<Record<string, (t: TestContext) => Promise<Place>>> = {
  sqlite: async (t) => {
    const service = await startTestService();
    t.after(() => service.stop());
    const run = async (sql: string) => {
      const database = new DatabaseSync(join(service.platform.dir, 'data', 'idkit.db'), { timeout: 20_000 });
      database.exec(sql);
      database.close();
    };
    return { service, run };
  },
  postgres: async (t) => {
    const server = await startPostgres({ after });
    const { name, url } = await makeDatabase(server);
    const platform = makePlatform();
    appendFileSync(join(platform.dir, '.env'), `IDKIT_DATABASE_PASSWORD=${server.password}\n`);
    const service = await startTestService({ platform, flags: { database: url } });
    t.after(async () => {
      await service.stop();
      platform.remove();
    });
    return { service, run: async (sql) => void (await runSql(server, sql, name)) };
  },
};

/** Returns SQL that creates users with the default role of the master realm, and an event for each of the first 999. */
export const seedOf = (users: number): string => `
  WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${users})
  INSERT INTO account (id, realm_id, username, email, first_name, last_name, enabled, email_verified, doc)
  SELECT 'many-' || n, realm_id, 'user-' || n, 'user-' || n || '@example.test', 'given', 'family', 1, 0, doc
  FROM number, (SELECT realm_id, doc FROM account WHERE username = 'admin') AS one;
  INSERT INTO user_role (user_id, role_id, username)
  SELECT account.id, role.id, account.username FROM account JOIN role ON role.realm_id = account.realm_id
  WHERE account.id LIKE 'many-%' AND role.name = 'default-roles-master';
  INSERT INTO event (realm_id, time, type, doc)
  SELECT realm_id, 1000, 'LOGIN', '{"id":"' || id || '","time":1000,"type":"LOGIN","realmId":"x","details":{}}'
  FROM account WHERE id LIKE 'many-%' AND length(id) < 9;
  ANALYZE`;

/**
 * Reads a list. Returns how often the list contains `mark`, the last character of the list, the memory use and the
 * longest event loop delay.
 */
export async function readList({ service }: Place, path: string, mark: string) {
  const token = (await login(service))['access_token']!;
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const answer = await fetch(`${service.address}/admin/realms/master${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(answer.status, 200);
  let rest = '';
  let marks = 0;
  let most = 0;
  for await (const bytes of answer.body!) {
    const text = rest + Buffer.from(bytes).toString('latin1');
    const parts = text.split(mark);
    marks += parts.length - 1;
    rest = parts.at(-1)!.slice(-mark.length + 1);
    most = Math.max(most, process.memoryUsage().rss - before);
  }
  delay.disable();
  return { marks, end: rest.at(-1), megabytes: most / 2 ** 20, blocked: delay.max / 1e6 };
}
