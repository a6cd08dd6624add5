import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFile, chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { generateMasterKey, loadSettings } from '../../../src/config/index.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { openPlatform } from '../../../src/platform/open.ts';
import { backup, restore, rotateMasterKey, verify } from '../../../src/procedures/index.ts';
import { startService } from '../../../src/service/index.ts';
import { runSql } from '../../store/databases.ts';
import { waitUntil } from '../../wait-until.ts';
import { PASSPHRASE, procedureOptions, restoreOptions } from '../platform.ts';
import { describeOnPostgres } from '../postgres-platform.ts';
import { NEW, OLD } from '../restored-state.ts';
import { listAnew, putContent } from '../tampered-set.ts';

describeOnPostgres('a platform on a postgres:// database', (platforms) => {
  it('is backed up with and without its service, verified, and restored with the password of its role', async (t) => {
    const platform = await platforms.fresh(t);
    const { dir, set } = platform;
    assert.deepEqual(await platform.readState(), OLD);
    const result = await restore(await platform.load(), restoreOptions({ from: set }));
    assert.deepEqual(result.findings, []);
    assert.deepEqual(
      result.checklist.filter(({ outcome }) => outcome === 'failed'),
      [],
    );
    assert.deepEqual(await platform.readState(), NEW);
    assert.equal(await platform.password(), 'new');
    assert.deepEqual(await platform.databases(), ['idkit']);
    // Wait, because the server notices a closed connection only a little later.
    await waitUntil(
      'no client is connected to the server',
      async () => (await platform.clients()).length === 0,
    );
    assert.deepEqual(
      (await readdir(dir, { recursive: true })).filter((path) => /\.pre-|restore-/.test(path)),
      [],
    );

    const service = await startService(await platform.load());
    try {
      const served = await backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });
      assert.deepEqual([served.findings, served.realmSource], [[], 'api']);
      await assert.rejects(restore(await platform.load(), restoreOptions({ from: set })), {
        code: 'IDKIT_SERVICE_RUNNING',
      });
    } finally {
      await service.close();
    }
    const stopped = await backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });
    assert.deepEqual([stopped.findings, stopped.realmSource], [[], 'snapshot']);
    const verified = await verify(await platform.load(), {
      ...procedureOptions(),
      passphrase: PASSPHRASE,
      all: true,
    });
    assert.deepEqual(verified.findings, []);
    const manifest = JSON.parse(await readFile(join(stopped.dir, 'manifest.json'), 'utf8'));
    assert.equal(manifest.database.kind, 'postgres');
    assert.deepEqual(
      manifest.realms.map(({ realm, users }: { realm: string; users: number }) => [realm, users]),
      [['master', 1]],
    );
  });

  it('is not restored while a replica on another machine holds its lock in the database (exit code 11)', async (t) => {
    const platform = await platforms.fresh(t);
    const elsewhere = await platforms.fresh(t);
    const service = await startService(await elsewhere.load());
    try {
      await assert.rejects(restore(await platform.load(), restoreOptions({ from: platform.set })), {
        code: 'IDKIT_SERVICE_RUNNING',
        exitCode: 11,
        message: /idkit serve/,
      });
      assert.deepEqual(await platform.databases(), ['idkit']);
    } finally {
      await service.close();
    }
  });

  it('a restore in place requires the name of the database, empties it, and keeps its settings', async (t) => {
    const platform = await platforms.fresh(t);
    const { set: from } = platform;
    await assert.rejects(restore(await platform.load(), restoreOptions({ from, inPlace: 'other' })), {
      code: 'IDKIT_USAGE',
      message: /idkit/,
    });
    assert.deepEqual(await platform.readState(), OLD);
    const own = restoreOptions({ from, inPlace: 'idkit' });
    const result = await restore(await platform.load(), own);
    assert.deepEqual(result.findings, []);
    assert.deepEqual(await platform.readState(), NEW);
    assert.equal(await platform.password(), 'new');
    assert.deepEqual(await platform.databases(), ['idkit']);
    assert.match(own.reported.notes.join('\n'), /is being emptied/);
  });

  it('a restore in place works for a role without CREATEDB', async (t) => {
    const platform = await platforms.fresh(t);
    const { set: from } = platform;
    await runSql(platforms.server, 'ALTER ROLE idkit NOCREATEDB');
    t.after(() => runSql(platforms.server, 'ALTER ROLE idkit CREATEDB'));
    await assert.rejects(restore(await platform.load(), restoreOptions({ from })), (error: unknown) => {
      const { code, hints } = error as { code: string; hints: string[] };
      assert.equal(code, 'IDKIT_VERSION');
      assert.match(hints.join('\n'), /ALTER ROLE "idkit" CREATEDB/);
      assert.match(hints.join('\n'), /--in-place --confirm NAME/);
      return true;
    });
    assert.deepEqual(await platform.readState(), OLD);
    await restore(await platform.load(), restoreOptions({ from, inPlace: 'idkit' }));
    assert.deepEqual(await platform.readState(), NEW);
  });

  it('a restore in place that fails after it emptied the database exits with 17, as --abort does, and --resume completes it', async (t) => {
    const platform = await platforms.fresh(t);
    const { set: from } = platform;
    // The load loses its connection when it creates its first tables.
    const falls = runSql(
      platforms.server,
      `DO $$ BEGIN FOR look IN 1..30000 LOOP
         PERFORM pg_stat_clear_snapshot();
         PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name LIKE 'idkit-restore-%' AND query ~ '^(CREATE|ALTER|COPY)';
         IF FOUND THEN RETURN; END IF;
         PERFORM pg_sleep(0.001);
       END LOOP; END $$`,
    );
    const broken = restoreOptions({ from, inPlace: 'idkit' });
    await assert.rejects(restore(await platform.load(), broken), (error: unknown) => {
      const { exitCode, hints } = error as { exitCode: number; hints: string[] };
      assert.equal(exitCode, 17, String(error));
      assert.match(hints.join('\n'), /--resume/);
      return true;
    });
    await falls;
    await assert.rejects(restore(await platform.load(), restoreOptions({ abort: true })), { exitCode: 17 });
    const resumed = await restore(await platform.load(), restoreOptions({ resume: true }));
    assert.equal(resumed.outcome, 'restored');
    assert.deepEqual(await platform.readState(), NEW);
  });

  it('backup reports a password outside .env: in the environment, a file or libpq’s password file', async (t) => {
    const { dir } = await platforms.fresh(t);
    const files = { env: join(dir, '.env'), yaml: join(dir, 'idkit.yaml'), pass: join(dir, 'data/db-pass') };
    const bare = (await readFile(files.env, 'utf8')).replace(/^IDKIT_DATABASE_PASSWORD=.*\n/m, '');
    const find = async (env: NodeJS.ProcessEnv = {}) => {
      const settings = await loadSettings({ dir, env });
      const { findings } = await backup(settings, { ...withPassphrase(), only: ['env'] });
      return findings.map(({ code, message }) => `${code} ${message.split(', so')[0]}`);
    };
    const withPassphrase = () => ({ ...procedureOptions(), passphrase: PASSPHRASE });
    assert.deepEqual(await find(), []);
    await writeFile(files.env, bare);
    assert.deepEqual(await find({ IDKIT_DATABASE_PASSWORD: 'Role-Before-1' }), [
      'SETTING_ELSEWHERE IDKIT_DATABASE_PASSWORD comes from the environment',
    ]);
    await writeFile(files.pass, 'Role-Before-1\n');
    await appendFile(files.env, 'IDKIT_DATABASE_PASSWORD_FILE=data/db-pass\n');
    assert.deepEqual(await find(), [
      'SETTING_ELSEWHERE IDKIT_DATABASE_PASSWORD comes from the file that IDKIT_DATABASE_PASSWORD_FILE names',
    ]);
    await writeFile(files.env, bare);
    await writeFile(files.pass, '*:*:*:idkit:Role-Before-1\n', { mode: 0o600 });
    await chmod(files.pass, 0o600);
    const address = (await readFile(files.yaml, 'utf8')).trimEnd();
    await writeFile(files.yaml, `${address}?passfile=${encodeURIComponent(files.pass)}\n`);
    assert.deepEqual(await find(), [
      'SETTING_ELSEWHERE the database’s password comes from libpq’s password file',
    ]);
  });

  it('backs up its .env with a note if the database is stopped, and with a finding if it rejects the password', async (t) => {
    const { dir } = await platforms.fresh(t);
    const findings = async () => {
      const options = { ...procedureOptions(), passphrase: PASSPHRASE, only: ['config', 'env'] as const };
      const made = await backup(await loadSettings({ dir, env: {} }), options);
      assert.deepEqual(made.parts, ['config', 'env']);
      return { codes: made.findings.map(({ code }) => code), notes: options.reported.notes.join() };
    };
    const env = await readFile(join(dir, '.env'), 'utf8');
    await writeFile(join(dir, '.env'), env.replace('Role-Before-1', 'Role-Of-Nobody-1'));
    assert.deepEqual((await findings()).codes, ['DATABASE_REFUSED']);
    await writeFile(join(dir, 'idkit.yaml'), `database: postgres://idkit@127.0.0.1:1/idkit\n`);
    const { codes, notes } = await findings();
    assert.deepEqual(codes, []);
    assert.match(notes, /could not check whether the master key decrypts the database/);
  });

  it('rotates its master key only if no service is running on any machine, and serves with the new key', async (t) => {
    const platform = await platforms.fresh(t);
    const elsewhere = await platforms.fresh(t);
    const service = await startService(await platform.load());
    await assert.rejects(rotateMasterKey(await platform.load(), procedureOptions()), { exitCode: 11 });
    await service.close();
    const before = await readFile(join(platform.dir, '.env'), 'utf8');
    const replica = await startService(await elsewhere.load());
    await assert.rejects(rotateMasterKey(await platform.load(), procedureOptions()), { exitCode: 11 });
    assert.equal(
      await readFile(join(platform.dir, '.env'), 'utf8'),
      before,
      'refused, it has changed nothing',
    );
    await replica.close();
    const rotated = await rotateMasterKey(await platform.load(), procedureOptions());
    assert.deepEqual(rotated.findings, []);
    assert.notEqual(await readFile(join(platform.dir, '.env'), 'utf8'), before);
    await (await startService(await platform.load())).close();
    await (await openPlatform(await platform.load())).database.checkMasterKey();
  });

  it('verify rejects a set whose dump lacks the realms, the users or the schema version, even with correct checksums (exit code 13)', async (t) => {
    const { set, load } = await platforms.fresh(t);
    const whole = gunzipSync(await readFile(join(set, 'keycloak-db.sql.gz'))).toString('latin1');
    const messages = {
      realm: /lacks the table of realms or the table of users, but manifest\.json contains user counts/,
      account: /lacks the table of realms or the table of users, but manifest\.json contains user counts/,
      idkit_schema: /has no schema version, but manifest\.json says \d+/,
    };
    for (const [table, message] of Object.entries(messages)) {
      const rows = new RegExp(`\\nCOPY public\\.${table} \\([\\s\\S]*?\\n\\\\\\.\\n`);
      const less = whole.replace(rows, '\n');
      assert.ok(less.length < whole.length);
      await putContent({ dir: set }, 'keycloak-db.sql.gz', gzipSync(Buffer.from(less, 'latin1')));
      const { failure } = await verify(await load(), { ...procedureOptions(), passphrase: PASSPHRASE, set });
      assert.equal(failure?.exitCode, 13, table);
      assert.match(failure.message, message);
    }
  });

  it('a set that ordinary tools created with INSERT statements can be restored, and its key is checked after the load', async (t) => {
    const platform = await platforms.fresh(t);
    const { server } = platforms;
    const env = { PATH: process.env['PATH'], PGPASSWORD: server.password };
    const whom = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'postgres', 'beginning'];
    const sql = execFileSync(join(server.programs, 'pg_dump'), ['--inserts', ...whom], { env });
    const changed = { 'keycloak-db.sql.gz': gzipSync(sql), 'manifest.json': undefined };
    await listAnew({ dir: platform.set }, changed);
    const wrong = restoreOptions({
      from: platform.set,
      env: { IDKIT_MASTER_KEY: generateMasterKey().reveal() },
    });
    await assert.rejects(restore(await platform.load(), wrong), { exitCode: 12 });
    assert.deepEqual(await platform.readState(), OLD);
    assert.deepEqual(await platform.databases(), ['idkit']);
    // A restore in place rejects a dump with INSERT statements, because it could check the key only after it emptied
    // the database.
    const inPlace = restoreOptions({ from: platform.set, inPlace: 'idkit' });
    await assert.rejects(restore(await platform.load(), inPlace), { exitCode: 14, message: /INSERT/ });
    assert.deepEqual(await platform.readState(), OLD);
    const { outcome, findings } = await restore(
      await platform.load(),
      restoreOptions({ from: platform.set }),
    );
    assert.deepEqual([outcome, findings], ['restored', []]);
    assert.equal(await platform.password(), 'new');
  });

  it('backup names the line of a foreign object in the live database, and publishes no set (exit code 13)', async (t) => {
    const platform = await platforms.fresh(t);
    await runSql(
      platforms.server,
      `CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
       CREATE TRIGGER planted BEFORE INSERT ON account FOR EACH ROW EXECUTE FUNCTION planted();`,
      'idkit',
    );
    const to = join(platform.dir, 'planted');
    const planned = backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE, to });
    await assert.rejects(planned, (error: unknown) => {
      assert.ok(error instanceof IdkitError && error.exitCode === 13);
      assert.match(error.message, /line \d+: .*CREATE FUNCTION public\.planted\(\)/);
      assert.match(error.hints.join(), /drop the foreign objects/);
      return true;
    });
    assert.deepEqual(
      (await readdir(to)).filter((name) => !name.startsWith('.')),
      [],
    );
  });

  it('on an empty server a restore creates the database from the set', async (t) => {
    const platform = await platforms.fresh(t);
    await runSql(platforms.server, 'DROP DATABASE idkit');
    // As on a new host, the role has the password of the set from the start.
    const env = await readFile(join(platform.dir, '.env'), 'utf8');
    await runSql(platforms.server, `ALTER ROLE idkit PASSWORD 'Role-Of-The-Set-1'`);
    await writeFile(join(platform.dir, '.env'), env.replace(/^IDKIT_DATABASE_PASSWORD=.*\n/m, ''));
    await restore(await platform.load(), restoreOptions({ from: platform.set }));
    assert.deepEqual(await platform.readState(), NEW);
    assert.equal(await platform.password(), 'new');
    assert.deepEqual(await platform.databases(), ['idkit']);
  });
});
