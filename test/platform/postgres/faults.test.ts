import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { openSet, readDump } from '../../../src/backupset/index.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { identifier, literal } from '../../../src/pgtools/quote.ts';
import { missingPostgres } from '../../store/postgres-server.ts';
import {
  checkNobodyLeft,
  checkNothingLoaded,
  dumpOf,
  inPieces,
  inspect,
  KEYCLOAK_REALMS,
  KEYCLOAK_SQL,
  load,
  never,
  startKeycloakServer,
} from './keycloak-server.ts';

const skip = missingPostgres() ?? false;
const TEXT = KEYCLOAK_SQL.toString();

/** Creates a set that contains only a dump, because these tests read no other file. */
async function setOf(t: TestContext, gzip: Uint8Array) {
  const dir = await mkdtemp(join(tmpdir(), 'idkit-test-dump-'));
  t.after(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, 'set'));
  await writeFile(join(dir, 'set', 'keycloak-db.sql.gz'), gzip);
  return openSet(join(dir, 'set'));
}

test('a truncated dump creates no tables, wherever it ends', { skip }, async (t) => {
  const server = await startKeycloakServer(t);
  const database = server.open();
  const rows = TEXT.indexOf('COPY public.user_entity');
  const line = TEXT.indexOf('\n', rows + 20_000) + 1;
  const data = TEXT.indexOf('\n\\.\n', TEXT.lastIndexOf('COPY public.')) + 4;
  const marker = TEXT.indexOf('--\n-- PostgreSQL database dump complete');
  const cuts = { 'at a line end inside COPY': line, 'after the data': data, 'before the end line': marker };
  for (const [where, at] of Object.entries(cuts)) {
    assert.ok(at > 1000, where);
    const set = await setOf(t, gzipSync(TEXT.slice(0, at)));
    await assert.rejects(load(database, readDump(set)), { code: 'IDKIT_DAMAGED' }, where);
    await checkNothingLoaded(server, database);
  }
  const whole = gzipSync(KEYCLOAK_SQL);
  for (const end of [whole.length >> 1, whole.length - 1, whole.length - 9]) {
    const set = await setOf(t, whole.subarray(0, end));
    await assert.rejects(load(database, readDump(set)), { code: 'IDKIT_DAMAGED' }, `${end} bytes of gzip`);
    await checkNothingLoaded(server, database);
  }
});

test('rejects a dump that contains meta-commands of psql, and runs none of them', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  const database = server.open();
  const dir = await mkdtemp(join(tmpdir(), 'idkit-test-canary-'));
  t.after(() => rm(dir, { recursive: true }));
  const canary = join(dir, 'canary');
  const at = TEXT.indexOf('CREATE TABLE');
  const lines = [
    `\\! touch ${canary}`,
    `\\copy (SELECT 1) TO PROGRAM 'touch ${canary}'`,
    `\\o ${canary}`,
    '\\connect postgres',
    '\\unrestrict abc`touch canary`',
    `COPY public.realm FROM PROGRAM 'touch ${canary}';`,
    `COPY (SELECT 1) TO '${canary}';`,
    'DROP DATABASE keycloak;',
    'ALTER ROLE keycloak SUPERUSER;',
  ];
  for (const hostile of lines) {
    const set = await setOf(t, gzipSync(`${TEXT.slice(0, at)}${hostile}\n${TEXT.slice(at)}`));
    await assert.rejects(load(database, readDump(set)), { code: 'IDKIT_DAMAGED' }, hostile);
    assert.ok(!existsSync(canary), hostile);
    await checkNothingLoaded(server, database);
  }
  // Even if idkit overlooked the command, psql itself would reject it.
  const fooled = `${TEXT.slice(0, at)}\\! touch ${canary}\n${TEXT.slice(at)}`;
  await assert.rejects(load(database, inPieces(Buffer.from(fooled))), (error) => error instanceof IdkitError);
  assert.ok(!existsSync(canary));
  await checkNothingLoaded(server, database);
});

test('never runs the properties in a dump as commands, whichever characters they contain', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  server.sql('postgres', 'DROP DATABASE keycloak');
  const dir = await mkdtemp(join(tmpdir(), 'idkit-test-canary-'));
  t.after(() => rm(dir, { recursive: true }));
  const canary = join(dir, 'canary');
  const traits = {
    name: 'keycloak',
    owner: 'keycloak',
    encoding: 'UTF8',
    collate: 'C',
    ctype: 'C',
    provider: 'c',
    locale: null,
    icuRules: null,
    connectionLimit: -1,
    tablespace: 'pg_default',
    comment: null,
    grants: null,
    // psql ignores the rest of a line after a NUL, so the opening quote of the second text would close the first text.
    settings: ['work_mem=1MB\0', `work_mem= \\! touch ${canary}\n`].map((setting) => ({
      role: null,
      setting,
    })),
  };
  const sql = Buffer.from(`-- idkit database ${JSON.stringify(traits)}\n${TEXT}`);
  const database = server.open();
  const loaded = await database.load(inPieces(sql), {
    id: 'nul',
    masterKey: undefined,
    signal: never,
  });
  assert.ok(!existsSync(canary));
  assert.equal(loaded.notes, undefined, 'ignores a line that no server wrote');
  assert.throws(() => literal('a\0'), { code: 'IDKIT_BUG' });
  assert.throws(() => identifier('a\0'), { code: 'IDKIT_BUG' });
});

test('errors contain the position of a row, but not its values', { skip }, async (t) => {
  const server = await startKeycloakServer(t);
  const at = TEXT.indexOf('CREATE TABLE');
  const tables = {
    "a text, s text, CHECK (a <> 'x')": /Failing row contains …\nCONTEXT: {2}COPY rows, line 1$/m,
    'a text, s varchar(4)': /COPY rows, line 1, column s$/m,
    'a text, s integer': /invalid input syntax for type integer\nCONTEXT: {2}COPY rows, line 1, column s$/m,
  };
  for (const [columns, expected] of Object.entries(tables)) {
    const rows = `CREATE TABLE public.rows (${columns});\nCOPY public.rows (a, s) FROM stdin;\nx\tHidden"1\\nHidden-2\n\\.\n`;
    const sql = Buffer.from(TEXT.slice(0, at) + rows + TEXT.slice(at));
    await assert.rejects(load(server.open(), inPieces(sql)), (error: unknown) => {
      assert.ok(error instanceof IdkitError);
      assert.equal(error.code, 'IDKIT_DAMAGED');
      assert.match(error.message, expected);
      assert.ok(!error.message.includes('Hidden'), error.message);
      return true;
    });
  }
});

test('before the load, reports missing roles together with the missing right to create databases', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  const at = TEXT.indexOf('CREATE TABLE');
  const foreign = `GRANT SELECT ON TABLE public.realm TO "Old Reader";\nALTER TABLE public.realm OWNER TO nobody_here;\nALTER TABLE public.realm OWNER TO postgres;\n`;
  const report = inspect(Buffer.from(TEXT.slice(0, at) + foreign + TEXT.slice(at)));
  server.sql('postgres', 'ALTER ROLE keycloak NOCREATEDB; ALTER DATABASE keycloak OWNER TO postgres');
  await assert.rejects(server.open().checkDump(report), (error: unknown) => {
    assert.ok(error instanceof IdkitError);
    assert.equal(error.code, 'IDKIT_VERSION');
    for (const expected of [
      /Old Reader, nobody_here/,
      /may not create the database/,
      /keycloak does not own the database keycloak, which the restore must rename \(its owner is postgres\)/,
      /may not make postgres the owner of objects/,
    ])
      assert.match(error.message, expected);
    assert.match(error.hints.join('\n'), /CREATE ROLE "nobody_here" NOLOGIN/);
    assert.match(error.hints.join('\n'), /GRANT "postgres" TO "keycloak"/);
    return true;
  });
  const newer = inspect(
    Buffer.from(TEXT.replace('Dumped from database version 15.18', 'Dumped from database version 99.1')),
  );
  await assert.rejects(server.open().checkDump(newer), { code: 'IDKIT_VERSION', message: /99\.1/ });
  await assert.rejects(server.open({ service: 'idkit' }).checkDump(report), {
    code: 'IDKIT_VERSION',
    message: /Keycloak/,
  });
  assert.deepEqual(server.databases(), ['keycloak']);
});

test('a dump fails with exit code 15 if another session keeps a table locked, and leaves no waiting session behind', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  const { Client } = await import('pg');
  const locker = new Client({
    connectionString: `${server.url.replace('keycloak@', `postgres:${server.password}@`)}`,
    application_name: 'locker',
  });
  await locker.connect();
  await locker.query('BEGIN; LOCK TABLE realm IN ACCESS EXCLUSIVE MODE');
  await assert.rejects(dumpOf(server.open({ lockWaitSeconds: 1 })), {
    code: 'IDKIT_UNREACHABLE',
    message: /lock timeout/,
  });
  await checkNobodyLeft(server, { but: 'locker' });
  await locker.end();
});

test('a dump fails if pg_dump or its server process is killed', { skip }, async (t) => {
  const server = await startKeycloakServer(t);
  const kills = {
    'its backend': () =>
      server.sql(
        'postgres',
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'idkit-backup-%'`,
      ),
    'the program': () => {
      const pids = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(process.pid)], {
        encoding: 'utf8',
      });
      for (const [, pid] of pids.matchAll(/(\d+) pg_dump/g)) process.kill(Number(pid), 'SIGKILL');
    },
  };
  for (const [what, kill] of Object.entries(kills)) {
    let chunks = 0;
    const dump = server.open().dump(
      async () => {
        // Kill at the second chunk, because the first one contains only idkit's own comments.
        if (++chunks === 2) {
          kill();
          await sleep(300);
        }
      },
      { signal: never },
    );
    await assert.rejects(dump, (error) => error instanceof IdkitError && error.exitCode !== 70, what);
    await checkNobodyLeft(server, { what });
  }
});

test('a dump fails with exit code 15 if the server stops sending, and its session ends when the server continues', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  let stopped: number[] = [];
  let chunks = 0;
  const dump = server.open({ stallSeconds: 2 }).dump(
    async () => {
      if (++chunks !== 2) return;
      const pids = server.sql(
        'postgres',
        `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'idkit-backup-%'`,
      );
      stopped = pids.split('\n').map(Number);
      for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    },
    { signal: never },
  );
  await assert
    .rejects(dump, { code: 'IDKIT_UNREACHABLE', message: /sent nothing for 2 s|idkit-backup/ })
    .finally(() => {
      for (const pid of stopped) process.kill(pid, 'SIGCONT');
    });
  await checkNobodyLeft(server);
});

test('dump and load fail with exit code 15 if the server stops while they run, and the previous state remains', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  const database = server.open();
  let chunks = 0;
  const dump = database.dump(
    async () => {
      if (++chunks === 2) await server.stop('immediate');
    },
    { signal: never },
  );
  await assert.rejects(dump, { code: 'IDKIT_UNREACHABLE' });
  await server.start();
  assert.deepEqual((await dumpOf(database)).summary.realms, KEYCLOAK_REALMS);

  async function* stopping() {
    for await (const chunk of inPieces(KEYCLOAK_SQL, 64 * 1024)) {
      yield chunk;
      if (++chunks === 10) await server.stop('immediate');
    }
  }
  chunks = 0;
  await assert.rejects(load(database, stopping()), { code: 'IDKIT_UNREACHABLE' });
  const stopped = database.swapBack('x');
  await sleep(200);
  await server.start();
  // `swapBack` was called while the server was down, and waits until the server has started.
  await stopped;
  await checkNothingLoaded(server, database);
});

test('an interrupt ends dump and load immediately, and leaves no session on the server', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  const database = server.open();
  const reason = new IdkitError('IDKIT_INTERRUPTED', 'interrupted');
  const interrupt = new AbortController();
  let chunks = 0;
  const dump = database.dump(
    async () => {
      if (++chunks === 2) interrupt.abort(reason);
    },
    { signal: interrupt.signal },
  );
  await assert.rejects(dump, reason);
  await checkNobodyLeft(server);

  const other = new AbortController();
  async function* interrupted() {
    for await (const chunk of inPieces(KEYCLOAK_SQL, 64 * 1024)) {
      yield chunk;
      if (++chunks === 20) other.abort(reason);
    }
  }
  await assert.rejects(load(database, interrupted(), other.signal), reason);
  await checkNothingLoaded(server, database);
});
