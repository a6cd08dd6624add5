import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { Client } from 'pg';
import { systemRandom } from '../../../src/core/index.ts';
import { openScratchCluster } from '../../../src/pgtools/scratch-cluster.ts';
import { openPlatform } from '../../../src/platform/open.ts';
import { openScratchBeside } from '../../../src/platform/postgres/scratch-database.ts';
import { checkApart } from '../../../src/procedures/drill/live.ts';
import { drill } from '../../../src/procedures/index.ts';
import { inPieces, never } from '../../platform/postgres/keycloak-server.ts';
import { runSql } from '../../store/databases.ts';
import { waitUntil } from '../../wait-until.ts';
import { makeDirectory, onSmallDisk, restoreOptions } from '../platform.ts';
import { describeOnPostgres } from '../postgres-platform.ts';
import { OLD } from '../restored-state.ts';
import { spawnProcedure } from '../spawn-procedure.ts';

// Drills of other tests run in parallel, so the drills of this file use a separate directory, which the user of the
// servers can enter.
const place = mkdtempSync(join(tmpdir(), 'idkit-drills-'));
chmodSync(place, 0o711);
process.env['TMPDIR'] = place;
after(() => rmSync(place, { recursive: true, force: true }));

const drills = () => readdirSync(place).filter((name) => name.startsWith('idkit-drill-'));

/** Returns the command lines of the Postgres servers that drills of this file have started. */
function servers(): readonly string[] {
  const mark = join(place, 'idkit-drill-');
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return args.includes(mark) && /postgres\0-D/.test(args) ? [args.replaceAll('\0', ' ')] : [];
    } catch {
      return [];
    }
  });
}

describeOnPostgres('a drill of a set of Postgres', (platforms) => {
  it('runs on a separate server, does not touch the live one, and leaves nothing behind', async (t) => {
    const platform = await platforms.fresh(t);
    const { databases } = platform;
    const settings = await platform.load();
    const result = await drill(settings, restoreOptions({ set: platform.set }));
    assert.deepEqual(result.findings, []);
    assert.equal(result.failure, undefined);
    assert.equal(result.outcome, 'passed');
    assert.deepEqual(await platform.readState(), OLD);
    assert.equal(await platform.password(), 'old');
    assert.deepEqual(await databases(), ['idkit']);
    assert.deepEqual(drills(), []);
    assert.deepEqual(servers(), []);
    assert.deepEqual([result.kind, result.place], ['postgres', 'a temporary Postgres server']);
    assert.equal(result.live.outcome, 'passed');
    assert.match(result.live.before?.['server'] ?? '', /^system \d+$/);
    const hashes = result.checks.find(({ id }) => id === 'credentials');
    assert.deepEqual(
      [hashes?.outcome, hashes?.detail],
      ['passed', '1 credential, chosen at random from the dump'],
    );
  });

  it('knows the live database behind an address, an alias and a socket, and no variable leads a drill to it', async (t) => {
    const platform = await platforms.fresh(t);
    const settings = await platform.load();
    const { dir, port } = platforms.server;
    const identify = async (url: string) => {
      const opened = await openPlatform({ ...settings, database: { kind: 'postgres', url } });
      const identity = await opened.database.identify();
      assert.ok(identity !== undefined);
      return identity;
    };
    const socket = encodeURIComponent(dir);
    const administrator = { user: 'a', password: settings.databasePassword! };
    const live = await identify(`postgres://idkit@127.0.0.1:${port}/idkit`);
    for (const url of [
      `postgres://idkit@localhost:${port}/idkit`,
      `postgres://idkit@127.1:${port}/idkit`,
      `postgres://idkit@/idkit?host=${socket}&port=${port}`,
    ])
      for (const scratch of [{}, { administrator }]) {
        const place = await identify(url);
        assert.throws(() => checkApart(live, place, scratch), { code: 'IDKIT_DRILL_LIVE' }, url);
      }
    const sibling = await identify(`postgres://idkit@localhost:${port}/idkit_drill_x`);
    checkApart(live, sibling, {});
    assert.throws(() => checkApart(live, sibling, { administrator }), {
      code: 'IDKIT_DRILL_LIVE',
    });
    const before = await platform.readState();
    const env = {
      PGHOST: '127.0.0.1',
      PGHOSTADDR: '127.0.0.1',
      PGPORT: String(port),
      PGDATABASE: 'idkit',
      IDKIT_DATABASE_URL: `postgres://idkit@localhost:${port}/idkit`,
    };
    Object.assign(process.env, env);
    t.after(() => {
      for (const name of Object.keys(env)) delete process.env[name];
    });
    const result = await drill(settings, { ...restoreOptions({ set: platform.set }), env: process.env });
    assert.deepEqual([result.outcome, result.failure], ['passed', undefined]);
    assert.deepEqual(await platform.readState(), before);
  });

  it('loads and serves the dump with a role that may only log in', async (t) => {
    const scratch = await openScratchCluster(await makeDirectory(t, 'drill'), 0, systemRandom);
    assert.ok(scratch !== undefined);
    const host = decodeURIComponent(scratch.url.split('?host=')[1]!);
    const client = new Client({
      host,
      user: 'idkit',
      password: scratch.password!.reveal(),
      database: 'postgres',
    });
    await client.connect();
    t.after(async () => {
      await client.end();
      await scratch.close();
    });
    const { rows } = await client.query(
      `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS strong,
        (SELECT count(*) FROM pg_auth_members WHERE member = r.oid)::int AS memberships
       FROM pg_roles r WHERE rolname = current_user`,
    );
    assert.deepEqual(rows, [{ strong: false, memberships: 0 }]);
    for (const forbidden of [
      'CREATE ROLE evil',
      'CREATE DATABASE evil',
      "CREATE TEMP TABLE t (a text); COPY t FROM PROGRAM 'id'",
      "CREATE TEMP TABLE t (a text); COPY t FROM '/etc/passwd'",
      "SELECT pg_read_file('/etc/passwd')",
      "SELECT lo_import('/etc/passwd')",
      "LOAD '/tmp/evil.so'",
      "ALTER SYSTEM SET work_mem = '1MB'",
      'SET ROLE idkit_administrator',
    ])
      await assert.rejects(
        client.query(forbidden),
        /permission denied|must be|only superuser|not allowed/,
        forbidden,
      );
  });

  it('exits with 19 on a disk without space for a server, and leaves nothing behind', async (t) => {
    const platform = await platforms.fresh(t);
    await onSmallDisk(t, '8m', async (dir) => {
      process.env['TMPDIR'] = dir;
      const options = restoreOptions({ set: platform.set });
      await assert.rejects(drill(await platform.load(), options), { exitCode: 19 });
      assert.deepEqual(readdirSync(dir), []);
    });
    process.env['TMPDIR'] = place;
  });

  it('the server of a killed drill also ends', async (t) => {
    const platform = await platforms.fresh(t);
    const ended = await spawnProcedure(['drill', platform.dir], (step, kill) => {
      if (step === 'restore') setTimeout(() => kill('SIGKILL'), 700);
    });
    assert.equal(ended.signal, 'SIGKILL', ended.stderr);
    await waitUntil('no server of a drill is left', () => servers().length === 0, {
      every: 100,
      seen: servers,
    });
  });

  it('uses a new database on the live server and drops it if the programs of a server are missing', async (t) => {
    const platform = await platforms.fresh(t);
    const settings = await platform.load();
    const scratch = await openScratchBeside(settings, systemRandom);
    const database = { kind: 'postgres' as const, url: scratch.url };
    const isolated = { ...settings, database, databasePassword: scratch.password };
    const runtime = await openPlatform(isolated);
    const live = await openPlatform(settings);
    const chunks: Buffer[] = [];
    await live.database.dump(async (chunk) => void chunks.push(Buffer.from(chunk)), { signal: never });
    const sql = inPieces(Buffer.concat(chunks));
    await runtime.database.load(sql, { id: 'd', masterKey: settings.masterKey, signal: never });
    await runtime.database.swap('d');
    const there = await platform.databases();
    assert.equal(there.length, 2);
    assert.match(there[1]!, /^idkit_drill_[0-9a-f]{8}_\d+_[0-9a-f]{8}$/);
    await scratch.close();
    await scratch.close();
    assert.deepEqual(await platform.databases(), ['idkit']);
    assert.deepEqual(await platform.readState(), OLD);
    assert.equal(await platform.password(), 'old');
    // The next drill drops the database that a killed drill on this machine left.
    await runSql(
      platforms.server,
      `CREATE DATABASE "${there[1]!.replace(/_\d+_/, '_999999999_')}" OWNER idkit`,
    );
    await (await openScratchBeside(settings, systemRandom)).close();
    assert.deepEqual(await platform.databases(), ['idkit']);
  });

  it('does not use server programs that are older than the dumped server', async (t) => {
    assert.equal(
      await openScratchCluster(join(await makeDirectory(t, 'drill')), 99, systemRandom),
      undefined,
    );
  });
});
