import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { appendFile, chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { connectAdmin } from '../../src/client/index.ts';
import { loadSettings } from '../../src/config/index.ts';
import { backup, smoke } from '../../src/procedures/index.ts';
import { startService } from '../../src/service/index.ts';
import { makeDirectory, PASSPHRASE, procedureOptions, type TestPlatform } from '../procedures/platform.ts';
import { describeOnPostgres } from '../procedures/postgres-platform.ts';
import { changedSinceBackup, NEW, readState } from '../procedures/restored-state.ts';
import { runSql } from '../store/databases.ts';
import { waitUntil } from '../wait-until.ts';
import { root } from './pages.ts';

const PAGE = 'docs/operate/restore-by-hand.md';
/** Every program that the page may use. gunzip is a script that needs gzip, as tar does. */
const PROGRAMS = ['sh', 'gunzip', 'gzip', 'tar', 'sha256sum', 'gpg', 'sqlite3', 'psql', 'mkdir'] as const;
const ARCHIVE_PROGRAMS = ['date', 'grep', 'head', 'tail', 'tr', 'cut', 'sed', 'truncate'] as const;
const POSTGRES_PROGRAMS = '/usr/lib/postgresql/15/bin';

/** Creates a directory with links to the programs of the page, or skips the test if one is missing. */
async function searchPath(t: TestContext, more: readonly string[] = []): Promise<string | undefined> {
  const dir = await makeDirectory(t, 'programs');
  for (const program of [...PROGRAMS, ...more]) {
    // On Debian, psql in the search path is a Perl script.
    const env = { ...process.env, PATH: `${POSTGRES_PROGRAMS}:${process.env['PATH']}` };
    const path = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8', env }).stdout.trim();
    if (path === '') {
      assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', `needs ${program}`);
      t.skip(`needs ${program}`);
      return undefined;
    }
    await symlink(path, join(dir, program));
  }
  return dir;
}

interface Section {
  title: string;
  /** The shell blocks, with the database that they are for. */
  blocks: readonly { only: string; text: string }[];
}

async function readSections(): Promise<readonly Section[]> {
  const [, ...sections] = (await readFile(join(root, PAGE), 'utf8'))
    .replace(/^# .*$/m, '## Variables')
    .split(/^## /m);
  return sections.map((section) => ({
    title: section.split('\n', 1)[0]!,
    blocks: [...section.matchAll(/^```sh ?(\w*)\n(.*?)^```$/gms)].map(([, only, text]) => ({
      only: only!,
      text: text!,
    })),
  }));
}

interface Case {
  kind: 'sqlite' | 'postgres';
  encrypted: boolean;
  variables: Readonly<Record<string, string>>;
  privateKey?: string;
  /** The variables of the section about a moment. If they are missing, it is skipped. */
  moment?: Readonly<Record<string, string>>;
}

/** Runs the blocks of the page for one kind of set, as one script, with nothing but its programs. */
async function followPage(
  t: TestContext,
  programs: string,
  { kind, encrypted, variables, privateKey, moment }: Case,
) {
  const home = await makeDirectory(t, 'gpg');
  await chmod(home, 0o700);
  await writeFile(join(home, 'passphrase'), PASSPHRASE.reveal(), { mode: 0o600 });
  // The only thing that a person does and the script cannot: type the passphrase.
  await writeFile(
    join(home, 'gpg.conf'),
    `batch\nno-tty\npinentry-mode loopback\npassphrase-file ${join(home, 'passphrase')}\n`,
  );
  t.after(() => spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']));
  const blocks = (await readSections())
    .filter(({ title }) => encrypted || title !== 'Decrypt an encrypted set')
    .flatMap((section) => section.blocks)
    .filter(({ only }) => only === '' || only === kind || (only === 'archive' && moment !== undefined))
    .map(({ text }) => text);
  assert.match(blocks[0]!, /^ROOT=/);
  const assign = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => `${name}='${value}'`);
  const script = ['set -eu'];
  for (const text of blocks) {
    script.push(text);
    if (text === blocks[0]) script.push(...assign(variables));
    if (text === blocks[0] && privateKey !== undefined) script.push(`gpg --import '${privateKey}'`);
    if (text.startsWith('CHAIN=')) script.push(...assign(moment!));
  }
  const env = { PATH: programs, HOME: home, GNUPGHOME: home, PGPASSWORD: '', LC_ALL: 'C.UTF-8' };
  const done = spawnSync(join(programs, 'sh'), ['-c', script.join('\n')], {
    encoding: 'utf8',
    env,
    cwd: home,
  });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

async function checkPlatform(t: TestContext, dir: string): Promise<void> {
  const settings = await loadSettings({ dir, env: {}, flags: { 'listen.port': '0' } });
  const service = await startService(settings);
  t.after(() => service.close());
  const { findings, checks } = await smoke(settings, { ...procedureOptions(), deep: true });
  assert.deepEqual(
    findings.filter(({ message }) => !message.includes('console')),
    [],
  );
  assert.ok(checks.some(({ outcome }) => outcome === 'passed'));
}

describe(PAGE, () => {
  for (const how of ['plain', 'all', 'keys'] as const)
    it(`restores the newest set of SQLite (${how === 'plain' ? 'only .env encrypted' : how === 'all' ? 'encrypted with the passphrase' : 'encrypted to a key'})`, async (t) => {
      const programs = await searchPath(t);
      if (programs === undefined) return;
      const { platform, set } = await changedSinceBackup(t, ['acme']);
      const TARGET = join(await makeDirectory(t, 'by-hand'), 'idkit');
      const ROOT = join(platform.dir, 'backups');
      const keyFile = join(await makeDirectory(t, 'key'), 'private.asc');
      if (how !== 'plain') {
        // The set of the template is the state "new", so this platform goes back to it first.
        const { publicKey, privateKey } = await (await import('openpgp')).generateKey({
          userIDs: [{ name: 'restore' }],
          format: 'armored',
        });
        await writeFile(keyFile, privateKey);
        await writeFile(join(platform.dir, 'public.asc'), publicKey);
        await appendFile(
          join(platform.dir, 'idkit.yaml'),
          how === 'all' ? 'backup: { encrypt: all }\n' : 'backup: { encryptTo: [public.asc] }\n',
        );
        await backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });
        await rm(set.dir, { recursive: true });
      }
      const output = await followPage(t, programs, {
        kind: 'sqlite',
        encrypted: how !== 'plain',
        variables: { ROOT, TARGET },
        ...(how === 'keys' ? { privateKey: keyFile } : {}),
      });
      assert.match(output, /^keycloak-db\.sql\.gz(\.gpg)?: OK$/m);
      assert.match(output, /^checksums\.sha256: OK$/m);
      assert.match(output, /^# set \d{8}_\d{6}$/m);
      assert.match(output, /^ok$/m);
      const state = how === 'plain' ? NEW : { database: 'old', env: 'old', config: 'old' };
      assert.deepEqual(await readState(TARGET), state);
      await checkPlatform(t, TARGET);
    });
});

/** Creates a key in a keyring of gpg that has only its public key, and a file with the private key. */
async function makeKeyring(t: TestContext): Promise<{ fingerprint: string; privateKey: string }> {
  const away = await makeDirectory(t, 'away');
  const keyring = await makeDirectory(t, 'keyring');
  const gpg = (home: string, ...args: readonly string[]): string => {
    const env = { ...process.env, GNUPGHOME: home };
    const done = spawnSync('gpg', ['--batch', '--pinentry-mode', 'loopback', '--passphrase', '', ...args], {
      encoding: 'utf8',
      env,
    });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout;
  };
  for (const home of [away, keyring]) {
    await chmod(home, 0o700);
    t.after(() => spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']));
  }
  const [publicKey, privateKey] = [join(away, 'public.gpg'), join(away, 'private.gpg')];
  gpg(away, '--quick-generate-key', 'restore', 'rsa3072', 'encr', 'never');
  gpg(away, '--output', publicKey, '--export', 'restore');
  gpg(away, '--output', privateKey, '--export-secret-keys', 'restore');
  gpg(keyring, '--import', publicKey);
  const fingerprint = /^fpr:+([0-9A-F]{40}):$/m.exec(gpg(keyring, '--with-colons', '--list-keys'))![1]!;
  const before = process.env['GNUPGHOME'];
  process.env['GNUPGHOME'] = keyring;
  t.after(() => {
    if (before === undefined) delete process.env['GNUPGHOME'];
    else process.env['GNUPGHOME'] = before;
  });
  return { fingerprint, privateKey };
}

/** Serves a platform with an archive, and creates a realm before and after a moment, once in each of two runs. */
async function serveWithArchive(t: TestContext, platform: TestPlatform): Promise<readonly Moment[]> {
  const archive = await makeDirectory(t, 'archive');
  await appendFile(join(platform.dir, 'idkit.yaml'), `backup: { archive: ${archive} }\n`);
  const moments: Moment[] = [];
  for (const run of [1, 2]) {
    const settings = await platform.load();
    const service = await startService(settings);
    t.after(() => service.close());
    await waitUntil('the base is complete', () =>
      readdirSync(archive, { recursive: true }).some((name) => String(name).endsWith('base-00000001-end')),
    );
    const admin = await connectAdmin({
      baseUrl: service.address,
      username: settings.administrator.username,
      password: settings.administrator.password!,
      timeoutMilliseconds: 60_000,
    });
    await admin.call('POST', '', { realm: `before-${run}`, enabled: true });
    const at = Date.now();
    await waitUntil('the clock has moved', () => Date.now() > at);
    await admin.call('POST', '', { realm: `after-${run}`, enabled: true });
    await service.close();
    const [chain] = readdirSync(archive).filter((name) => /^\d/.test(name));
    moments.push({ CHAIN: join(archive, chain!), MOMENT: new Date(at).toISOString() });
  }
  return moments;
}

interface Moment extends Readonly<Record<string, string>> {
  CHAIN: string;
  MOMENT: string;
}

describe(`${PAGE} with an archive`, () => {
  it('restores moments of SQLite, in each generation of the log', async (t) => {
    const programs = await searchPath(t, ARCHIVE_PROGRAMS);
    if (programs === undefined) return;
    const { platform } = await changedSinceBackup(t, ['acme']);
    const moments = await serveWithArchive(t, platform);
    const newest = { CHAIN: moments[0]!.CHAIN, MOMENT: '2099-01-01T00:00:00.000Z' };
    const expected = ['before-1', 'after-1', 'before-2', 'after-2'];
    for (const [index, moment] of [...moments, newest].entries()) {
      const TARGET = join(await makeDirectory(t, 'by-hand'), 'idkit');
      const variables = { ROOT: join(platform.dir, 'backups'), TARGET };
      const output = await followPage(t, programs, { kind: 'sqlite', encrypted: false, variables, moment });
      assert.match(output, /^restoring until byte \d+ of the log in log-/m);
      assert.equal(output.match(/^ok$/gm)?.length, 2);
      const database = new DatabaseSync(join(TARGET, 'data/idkit.db'), { readOnly: true });
      const rows = database.prepare(`SELECT name FROM realm WHERE name LIKE '%-_'`).all();
      database.close();
      assert.deepEqual(
        rows.map(({ name }) => String(name)).sort(),
        expected.slice(0, index < 2 ? 2 * index + 1 : 4).sort(),
        moment.MOMENT,
      );
      if (moment === newest) await checkPlatform(t, TARGET);
    }
  });
});

describeOnPostgres(`${PAGE} on Postgres`, (platforms) => {
  for (const how of ['plain', 'all', 'keys'] as const)
    it(`restores the newest set of Postgres (${how === 'plain' ? 'only .env encrypted' : how === 'all' ? 'encrypted with the passphrase' : 'encrypted to a key in the keyring of gpg'})`, async (t) => {
      const programs = await searchPath(t);
      if (programs === undefined) return;
      const platform = await platforms.fresh(t);
      const encrypted = how !== 'plain';
      let privateKey: string | undefined;
      if (encrypted) {
        const keyring = how === 'keys' ? await makeKeyring(t) : undefined;
        privateKey = keyring?.privateKey;
        await appendFile(
          join(platform.dir, 'idkit.yaml'),
          keyring === undefined
            ? 'backup: { encrypt: all }\n'
            : `backup: { encryptTo: [${keyring.fingerprint}] }\n`,
        );
        await backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });
        await rm(platform.set, { recursive: true });
      }
      const { server } = platforms;
      const TARGET = join(await makeDirectory(t, 'by-hand'), 'idkit');
      await mkdir(TARGET, { recursive: true });
      const user = `${server.user}${server.password === undefined ? '' : `:${server.password}`}`;
      const output = await followPage(t, programs, {
        kind: 'postgres',
        encrypted,
        ...(privateKey === undefined ? {} : { privateKey }),
        variables: {
          ROOT: join(platform.dir, 'backups'),
          TARGET,
          SERVER: `postgres://${user}@127.0.0.1:${server.port}`,
        },
      });
      assert.match(output, /^ master$/m);
      assert.match(output, /^# set \d{8}_\d{6}$/m);
      assert.deepEqual(
        (await platform.databases()).filter((name) => name !== 'beginning'),
        ['idkit', 'idkit_before'],
      );
      const [row] = await runSql(server, 'SELECT count(*)::int AS users FROM account', 'idkit');
      // The platform has one more administrator than the first set.
      assert.equal(row!['users'], encrypted ? 3 : 2);
      const env = await readFile(join(TARGET, '.env'), 'utf8');
      const password = /^IDKIT_DATABASE_PASSWORD=(.*)$/m.exec(env)![1]!;
      await runSql(server, `ALTER ROLE idkit PASSWORD '${password}'`);
      await checkPlatform(t, TARGET);
    });
});
