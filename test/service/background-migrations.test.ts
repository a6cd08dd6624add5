import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { startBackgroundMigrations } from '../../src/service/background-migrations.ts';
import type { Store } from '../../src/store/index.ts';
import { makePlatform, startTestService } from '../http/service.ts';
import { connectionOf, makeDatabase, openOn, runSql } from '../store/databases.ts';
import { onSqlite } from '../store/old-databases.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

interface Line {
  level: string;
  fields: Readonly<Record<string, unknown>>;
  message: string;
}

/** Runs the migrations without pauses, and returns the log. */
function start(t: TestContext, store: Store): Line[] {
  const lines: Line[] = [];
  const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
    void lines.push({ level, fields, message });
  const log = { info: at('info'), warn: at('warn'), error: at('error') } as never;
  const pauses = { first: 1, slices: 1, idle: 1, failed: 200, reports: 0 };
  const running = startBackgroundMigrations(store, log, pauses);
  t.after(() => running.stop());
  return lines;
}

const until = (lines: readonly Line[], message: RegExp) =>
  waitUntil(`the log contains ${message}`, () => lines.some((line) => message.test(line.message)), {
    seen: () => JSON.stringify(lines.map((line) => line.message)),
  });

test('logs how many records a migration has handled and has left, and its seconds at the end', async (t) => {
  const { open } = await onSqlite(t, 500);
  const store = await open();
  t.after(() => store.close());
  const lines = start(t, store);
  await until(lines, /^finished: build the search index of users$/);
  const of = lines.filter(({ fields }) => fields['migration'] === 'session rows');
  assert.deepEqual(of[0], {
    level: 'info',
    fields: { migration: 'session rows', handled: 200, left: 300 },
    message: 'move sessions to smaller rows: 200 of about 500 records',
  });
  const { fields, message } = of.at(-1)!;
  assert.equal(message, 'finished: move sessions to smaller rows');
  assert.equal(fields['handled'], 500);
  assert.ok(Number(fields['seconds']) >= 0);
});

test('logs each index that Postgres builds, and a build that failed as a warning that says what happens next', {
  skip: missingPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const { name, url } = await makeDatabase(server);
  await (await openOn(t, server, url)).close();
  // The name of the index is in use, so the build fails until the table is removed.
  await runSql(
    server,
    `DELETE FROM background_migration WHERE name = 'event-indexes'; DROP INDEX event_place, event_type;
     CREATE TABLE event_type (name text)`,
    name,
  );
  const lines = start(t, await openOn(t, server, url));
  await until(lines, /could not be built/);
  await runSql(server, 'DROP TABLE event_type', name);
  await until(lines, /^finished/);
  const messages = lines.map(({ level, message }) => `${level} ${message}`);
  assert.deepEqual(messages.slice(0, 4), [
    'info building the index event_place',
    'info built the index event_place',
    'info building the index event_type',
    'warn the index event_type could not be built; the service drops what exists of it and retries in a minute',
  ]);
  assert.deepEqual(messages.slice(-3), [
    'info building the index event_type',
    'info built the index event_type',
    'info finished: index the events for every filter',
  ]);
  for (const { message, fields } of lines)
    if (/built/.test(message)) {
      assert.match(String(fields['index']), /^event_(place|type)$/);
      assert.equal(typeof fields['seconds'], 'number');
    }
});

test('the service stops within seconds while the build of an index waits for an older transaction', {
  skip: missingPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const { name, url } = await makeDatabase(server);
  const platform = makePlatform();
  t.after(() => platform.remove());
  appendFileSync(`${platform.dir}/.env`, `IDKIT_DATABASE_PASSWORD=${server.password}\n`);
  appendFileSync(`${platform.dir}/idkit.yaml`, 'listen:\n  drainSeconds: 0\n');
  await (await startTestService({ platform, flags: { database: url } })).close();
  await runSql(
    server,
    `DELETE FROM background_migration WHERE name = 'event-indexes'; DROP INDEX event_type`,
    name,
  );
  const older = new Client({ ...connectionOf(server), database: name });
  older.on('error', () => {});
  await older.connect();
  await older.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM event');
  const builds = () =>
    runSql(
      server,
      `SELECT pid FROM pg_stat_activity
       WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event = 'virtualxid'`,
    );
  const service = await startTestService({ platform, flags: { database: url } });
  await waitUntil('the build waits', async () => (await builds()).length === 1);
  const began = performance.now();
  await service.close();
  const milliseconds = performance.now() - began;
  assert.ok(milliseconds < 5_000, `the service stops after ${milliseconds} ms`);
  await waitUntil('the server has ended the build', async () => (await builds()).length === 0);
  assert.deepEqual(
    service.log.filter(({ level }) => level !== 'info'),
    [],
  );

  await older.end();
  const next = await startTestService({ platform, flags: { database: url } });
  await waitUntil('the next start builds the index', () =>
    next.log.some(({ message }) => message === 'built the index event_type'),
  );
  await next.close();
  const [index] = await runSql(
    server,
    `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'event_type'::regclass`,
    name,
  );
  assert.deepEqual(index, { valid: true });
});
