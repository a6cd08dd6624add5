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

/** A set whose other files are not read. */
async function setOf(t: TestContext, gzip: Uint8Array) {
  const dir = await mkdtemp(join(tmpdir(), 'idkit-test-dump-'));
  t.after(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, 'set'));
  await writeFile(join(dir, 'set', 'keycloak-db.sql.gz'), gzip);
  return openSet(join(dir, 'set'));
}

test('a truncated dump leaves no table, wherever it ends', { skip }, async (t) => {
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

test('rejects a dump with meta-commands of psql, and none of them runs', {
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
  // If the reader of the dump were fooled, psql itself would still reject the command.
  const fooled = `${TEXT.slice(0, at)}\\! touch ${canary}\n${TEXT.slice(at)}`;
  await assert.rejects(load(database, inPieces(Buffer.from(fooled))), (error) => error instanceof IdkitError);
  assert.ok(!existsSync(canary));
  await checkNothingLoaded(server, database);
});

test('the properties in a dump are never executed as commands, whatever characters they contain', {
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
    // psql ignores what follows the NUL, so the first quote of the second text would end the first.
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

test('an error never contains the values of a row, only its position', { skip }, async (t) => {
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

test('reports missing roles and the missing right to create databases together, before the load', {
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
      /keycloak does not own the database keycloak, which the restore renames; postgres does/,
      /give objects to postgres/,
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

test('a table that another session locks ends a dump in bounded time (15), and no session keeps waiting', {
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

test('a dump fails if pg_dump or its backend is killed', { skip }, async (t) => {
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
        // The first chunk is idkit's own head.
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

test('gives up on a server that stops sending (15), and its backend ends as soon as it can', {
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

test('a server that stops in the middle fails dump and load (15), and the previous state remains', {
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
  // idkit waits for a server that is starting.
  await stopped;
  await checkNothingLoaded(server, database);
});

test('an interrupt ends dump and load immediately, and leaves no session at the server', {
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
