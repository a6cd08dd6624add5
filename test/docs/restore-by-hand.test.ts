import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFile, chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { loadSettings } from '../../src/config/index.ts';
import { backup, smoke } from '../../src/procedures/index.ts';
import { startService } from '../../src/service/index.ts';
import { makeDirectory, PASSPHRASE, procedureOptions } from '../procedures/platform.ts';
import { describeOnPostgres } from '../procedures/postgres-platform.ts';
import { changedSinceBackup, NEW, readState } from '../procedures/restored-state.ts';
import { runSql } from '../store/databases.ts';
import { root } from './pages.ts';

const PAGE = 'docs/operate/restore-by-hand.md';
/** Every program that the page may use. gunzip is a script that needs gzip, as tar does. */
const PROGRAMS = ['sh', 'gunzip', 'gzip', 'tar', 'sha256sum', 'gpg', 'sqlite3', 'psql', 'mkdir'] as const;
const POSTGRES_PROGRAMS = '/usr/lib/postgresql/15/bin';

/** Creates a directory with links to the programs of the page, or skips the test if one is missing. */
async function searchPath(t: TestContext): Promise<string | undefined> {
  const dir = await makeDirectory(t, 'programs');
  for (const program of PROGRAMS) {
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
}

/** Runs the blocks of the page for one kind of set, as one script, with nothing but its programs. */
async function followPage(
  t: TestContext,
  programs: string,
  { kind, encrypted, variables, privateKey }: Case,
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
    .flatMap((section) => section.blocks.filter(({ only }) => only === '' || only === kind));
  const [first, ...rest] = blocks;
  assert.match(first!.text, /^ROOT=/);
  const assignments = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
  const importKey = privateKey === undefined ? [] : [`gpg --import '${privateKey}'`];
  const script = ['set -eu', first!.text, ...assignments, ...importKey, ...rest.map(({ text }) => text)].join(
    '\n',
  );
  const env = { PATH: programs, HOME: home, GNUPGHOME: home, PGPASSWORD: '', LC_ALL: 'C.UTF-8' };
  const done = spawnSync(join(programs, 'sh'), ['-c', script], { encoding: 'utf8', env, cwd: home });
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

describeOnPostgres(`${PAGE} on Postgres`, (platforms) => {
  for (const encrypted of [false, true])
    it(`restores the newest set of Postgres (${encrypted ? 'encrypted with the passphrase' : 'only .env encrypted'})`, async (t) => {
      const programs = await searchPath(t);
      if (programs === undefined) return;
      const platform = await platforms.fresh(t);
      if (encrypted) {
        await appendFile(join(platform.dir, 'idkit.yaml'), 'backup: { encrypt: all }\n');
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
