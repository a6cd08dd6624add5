import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parsePostgresUrl } from '../../../src/config/index.ts';
import { IdkitError, Secret } from '../../../src/core/index.ts';
import { openContext } from '../../../src/pgtools/context.ts';
import { explainEnd, mayRefusePassword } from '../../../src/pgtools/faults.ts';
import { openLocalPrograms } from '../../../src/pgtools/programs/local-programs.ts';
import { onSmallDisk } from '../../procedures/platform.ts';
import { missingPostgres, startPostgres } from '../../store/postgres-server.ts';
import { waitUntil } from '../../wait-until.ts';
import {
  checkNothingLoaded,
  dumpOf,
  inPieces,
  KEYCLOAK_REALMS,
  KEYCLOAK_SQL,
  load,
  startKeycloakServer,
} from './keycloak-server.ts';

const skip = missingPostgres() ?? false;

test('reports a wrong password with exit code 12, a missing database with 10 and a missing server with 15', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  const wrong = server.open({ password: new Secret('wrong') });
  await assert.rejects(dumpOf(wrong), (error: unknown) => {
    assert.ok(error instanceof IdkitError);
    assert.equal(error.exitCode, 12);
    assert.ok(!`${error.message}${error.hints}`.includes('wrong'));
    return true;
  });
  await assert.rejects(dumpOf(server.open({ url: server.url.replace(/keycloak$/, 'absent') })), {
    exitCode: 10,
  });
  await assert.rejects(dumpOf(server.open({ url: 'postgres://keycloak@127.0.0.1:1/keycloak' })), {
    exitCode: 15,
  });
  const other = server.open({
    password: new Secret('wrong'),
    otherPasswords: [new Secret('Keycloak-Role-1')],
  });
  assert.deepEqual((await dumpOf(other)).summary.realms, KEYCLOAK_REALMS);
});

test('reports that a server has no free connection (exit code 15), and works with a role that is read-only by default', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t, {
    settings: { max_connections: '6', superuser_reserved_connections: '3', max_wal_senders: '0' },
  });
  const { Client } = await import('pg');
  const clients = Array.from({ length: 3 }, () => {
    const client = new Client({
      connectionString: server.url.replace('keycloak@', 'keycloak:Keycloak-Role-1@'),
      ssl: false,
    });
    client.on('error', () => undefined);
    return client;
  });
  for (const client of clients) await client.connect();
  await assert.rejects(dumpOf(server.open()), { exitCode: 15, message: /connection/ });
  for (const client of clients) await client.end();
  server.sql('postgres', 'ALTER ROLE keycloak SET default_transaction_read_only = on');
  const database = server.open();
  const { sql } = await dumpOf(database);
  await load(database, inPieces(sql));
  await database.swap('x');
  await database.discard('x', { previous: true });
  assert.deepEqual(server.databases(), ['keycloak']);
});

test('dumps a standby, but rejects a restore into a standby before the load (exit code 15)', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  await server.stop();
  writeFileSync(join(server.dir, 'cluster', 'standby.signal'), '');
  await server.start();
  const database = server.open();
  const { summary, report } = await dumpOf(database);
  assert.deepEqual(summary.realms, KEYCLOAK_REALMS);
  await assert.rejects(database.checkDump(report), { code: 'IDKIT_UNREACHABLE', message: /is a standby/ });
});

test('reports an unreachable server if a statement takes too long (exit code 15)', { skip }, async (t) => {
  const server = await startPostgres(t);
  const { psql } = openContext({
    address: parsePostgresUrl(server.url),
    password: new Secret(server.password),
    programs: openLocalPrograms(),
    service: 'keycloak',
  });
  await assert.rejects(psql.query('postgres', 'SELECT pg_sleep(60);', { seconds: 1 }), { exitCode: 15 });
});

test('recognizes a rejected password in the server’s own language', () => {
  const reported = (text: string) =>
    explainEnd(
      'psql',
      { code: 2, stderr: `psql: error: connection to server at "127.0.0.1", port 5432 failed: ${text}\n` },
      { database: 'keycloak', location: '127.0.0.1:5432' },
    );
  for (const text of [
    'FATAL:  password authentication failed for user "keycloak"',
    'FATAL:  Passwort-Authentifizierung für Benutzer »keycloak« fehlgeschlagen',
    'ВАЖНО:  пользователь "keycloak" не прошёл проверку подлинности (по паролю)',
  ])
    assert.ok(mayRefusePassword(reported(text)), text);
  for (const text of [
    'Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?',
    'FATAL:  the database system is starting up',
    'FATAL:  database "keycloak" does not exist',
    'timeout expired',
  ])
    assert.ok(!mayRefusePassword(reported(text)), text);
});

test('reports an unreachable database if its container or the engine is missing (exit code 15)', () => {
  for (const stderr of [
    'psql was ended inside the container\n',
    'Error response from daemon: Container 5f1c is not running\n',
    'Error response from daemon: Container 5f1c is paused, unpause the container before exec\n',
    'Error: No such container: 5f1c\n',
    'Error: can only create exec sessions on running containers: container state improper\n',
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n',
    'error during connect: Post "http://%2Fd.sock/v1.41/exec/1/start": EOF\n',
  ]) {
    const at = { database: 'idkit', location: 'database:5432' };
    assert.equal(explainEnd('psql', { code: 1, stderr }, at).exitCode, 15, stderr);
  }
});

test('neither an argument nor the server’s log contains a password, even if the swap sets one', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t, { settings: { log_statement: 'all' } });
  const [before, next] = ['Keycloak-Role-1', 'A-quite-new-one-2'];
  const { sql } = await dumpOf(server.open());
  const database = server.open({ password: new Secret(next), otherPasswords: [new Secret(before)] });
  const seen: string[] = [];
  async function* watched() {
    for await (const chunk of inPieces(sql)) {
      seen.push(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }));
      yield chunk;
    }
  }
  await load(database, watched());
  await database.swap('x');
  assert.ok(seen.some((list) => list.includes('idkit-restore') || list.includes('psql')));
  for (const secret of [before, next]) {
    assert.ok(!seen.join('\n').includes(secret));
    if (secret === next) assert.ok(!server.log().includes(secret));
  }
  await assert.rejects(dumpOf(server.open()), { exitCode: 12 });
  assert.deepEqual(
    (await dumpOf(server.open({ password: new Secret(next) }))).summary.realms,
    KEYCLOAK_REALMS,
  );
  await database.swapBack('x', { password: new Secret(before) });
  await database.discard('x', { previous: false });
  assert.deepEqual((await dumpOf(server.open())).summary.realms, KEYCLOAK_REALMS);
});

test('sets the restored password even if the server requests none, as Postgres in a container does', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  const [before, next] = ['Keycloak-Role-1', 'A-quite-new-one-2'];
  const { sql } = await dumpOf(server.open());
  const rules = join(server.dir, 'cluster', 'pg_hba.conf');
  const asking = readFileSync(rules, 'utf8');
  const loadedAt = () => server.sql('postgres', 'SELECT pg_conf_load_time()');
  const setRules = async (text: string) => {
    const before = loadedAt();
    writeFileSync(rules, text);
    server.sql('postgres', 'SELECT pg_reload_conf()');
    // A new session inherits the load time from the server's main process, so the time changes only after that process
    // has loaded the rules.
    await waitUntil('the server has read its rules', () => loadedAt() !== before);
  };
  const open = (password: string, other: string) =>
    server.open({
      password: new Secret(password),
      otherPasswords: [new Secret(other)],
      asksNoPassword: true,
    });
  await setRules(`host all keycloak 127.0.0.1/32 trust\n${asking}`);
  const database = open(next, before);
  await load(database, inPieces(sql));
  await database.swap('x');
  await setRules(asking);
  await assert.rejects(dumpOf(server.open()), { exitCode: 12 });
  await dumpOf(server.open({ password: new Secret(next) }));
  await setRules(`host all keycloak 127.0.0.1/32 trust\n${asking}`);
  // Undoes the swap as another process would: it tries the previous password first.
  await open(before, next).swapBack('x', { password: new Secret(before) });
  await setRules(asking);
  await dumpOf(server.open());
});

test('reports that the server’s disk is full (exit code 19), and keeps the live database', {
  skip,
}, async (t) => {
  await onSmallDisk(t, '48m', async (disk) => {
    const server = await startKeycloakServer(t);
    const owner = execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' }).trim();
    execFileSync('chown', [owner, disk]);
    server.sql('postgres', `CREATE TABLESPACE tiny LOCATION '${disk}'`);
    server.sql('postgres', 'GRANT CREATE ON TABLESPACE tiny TO keycloak');
    server.sql('postgres', 'ALTER DATABASE keycloak SET TABLESPACE tiny');
    const database = server.open();
    const { sql } = await dumpOf(database);
    const { bavail, bsize } = await statfs(disk);
    await writeFile(join(disk, 'filler'), Buffer.alloc(bavail * bsize - 8_500_000));
    await assert.rejects(load(database, inPieces(sql)), { code: 'IDKIT_NO_SPACE', exitCode: 19 });
    await checkNothingLoaded(server, database);
    const room = await database.findSpace();
    assert.equal(room.here, false);
  });
});

test('reports the free space on the server’s disk if the role may read it and the server is on this machine', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  assert.equal((await server.open().findSpace()).freeBytes, undefined);
  const superuser = server.open({
    url: `postgres://postgres@127.0.0.1:${server.port}/keycloak`,
    password: new Secret(server.password),
  });
  const readable = process.getuid?.() === 0;
  assert.equal(typeof (await superuser.findSpace()).freeBytes, readable ? 'number' : 'undefined');
});

test('works on a server that has no database “postgres”', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  const database = server.open();
  server.sql('template1', 'DROP DATABASE postgres');
  await load(database, inPieces(KEYCLOAK_SQL));
  await database.swap('x');
  await database.discard('x', { previous: true });
  assert.equal(
    server.sql('template1', `SELECT string_agg(datname, ',') FROM pg_database WHERE NOT datistemplate`),
    'keycloak',
  );
  assert.ok(readFileSync(join(server.dir, 'log'), 'utf8').length > 0);
});
