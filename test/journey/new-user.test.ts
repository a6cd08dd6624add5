import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { makePlace, post, readSecrets, runIdkit, startIdkit } from './idkit.ts';

// The complete cycle of a new user. Each command is a separate process.

// The issuer must not contain the port, which differs from start to start. Tokens then stay valid after a restart.
const BASE = { IDKIT_BASE_URL: 'http://login.example.test' };
const env = { ...BASE, IDKIT_BACKUP_PASSPHRASE: 'correct horse battery staple' };

test('a new user goes from an empty directory to a restored platform: serve, tokens, backup, verify, restore, smoke', async (t) => {
  const cwd = makePlace(t);
  const first = await startIdkit(t, { cwd, env: BASE });
  const secrets = readSecrets(cwd);

  await t.test('serve creates the platform directory, and no secret reaches log or stderr', () => {
    assert.equal(statSync(join(cwd, 'idkit', '.env')).mode & 0o777, 0o600);
    const output = JSON.stringify(first.log()) + first.stderr();
    for (const name of ['IDKIT_MASTER_KEY', 'IDKIT_ADMIN_PASSWORD', 'IDKIT_SMOKE_CLIENT_SECRET']) {
      assert.ok(secrets[name]!.length > 10);
      assert.ok(!output.includes(secrets[name]!), `${name} is not printed`);
    }
  });

  const machine = await post(first.address, 'master', 'token', {
    grant_type: 'client_credentials',
    client_id: 'idkit-smoke',
    client_secret: secrets['IDKIT_SMOKE_CLIENT_SECRET']!,
  });
  const login = await post(first.address, 'master', 'token', {
    grant_type: 'password',
    client_id: 'admin-cli',
    username: 'admin',
    password: secrets['IDKIT_ADMIN_PASSWORD']!,
  });
  const renewed = await post(first.address, 'master', 'token', {
    grant_type: 'refresh_token',
    client_id: 'admin-cli',
    refresh_token: String(login.body['refresh_token']),
  });

  await t.test('the service issues tokens for client credentials, a password and a refresh token', () => {
    assert.equal(machine.status, 200);
    assert.equal('refresh_token' in machine.body, false);
    assert.equal(login.status, 200);
    assert.equal(renewed.status, 200);
    assert.notEqual(renewed.body['refresh_token'], login.body['refresh_token']);
  });

  await t.test('a second serve exits with 11 and names the first one', async () => {
    const second = await runIdkit(['serve', '--port', '0'], { cwd });
    assert.equal(second.code, 11, second.stderr);
    assert.match(second.stderr, /^error IDKIT_LOCKED: /m);
  });

  const backup = await first.run(['backup'], { env });
  const set = backup.stdout.trim().split('\n').at(-1)!;

  await t.test('backup ends with the path of the new set on stdout', () => {
    assert.equal(backup.code, 0, backup.stderr);
    assert.match(set, /\/idkit\/backups\/\d{8}_\d{6}$/);
    for (const file of [
      'keycloak-db.sql.gz',
      'realm-master.json',
      'config.tar.gz',
      'env.gpg',
      'manifest.json',
      'checksums.sha256',
      'seal.gpg',
    ]) {
      assert.ok(existsSync(join(set, file)), file);
    }
  });

  await t.test('no secret is readable in a set, a verdict, the database or the logs', () => {
    const hidden = [...Object.entries(secrets), ['the passphrase', env.IDKIT_BACKUP_PASSPHRASE] as const];
    const texts = readdirSync(join(cwd, 'idkit'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== '.env')
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => ({ file, bytes: readFileSync(file) }));
    assert.ok(texts.length > 8);
    const dump = join(set, 'keycloak-db.sql.gz');
    texts.push({ file: `${dump} unpacked`, bytes: gunzipSync(readFileSync(dump)) });
    const output = JSON.stringify(first.log()) + first.stderr() + backup.stderr;
    texts.push({ file: 'the log', bytes: Buffer.from(output) });
    for (const [name, secret] of hidden) {
      if (name === 'IDKIT_ADMIN_USERNAME') continue;
      for (const { file, bytes } of texts) assert.ok(!bytes.includes(secret), `${name} is not in ${file}`);
    }
  });

  await t.test(
    'backup without a passphrase does nothing and lists the three ways to provide it',
    async () => {
      const before = readdirSync(join(cwd, 'idkit', 'backups'));
      const refused = await first.run(['backup']);
      assert.equal(refused.code, 2);
      assert.equal(refused.stderr.match(/^hint: /gm)?.length, 3);
      assert.deepEqual(readdirSync(join(cwd, 'idkit', 'backups')), before);
    },
  );

  await t.test('verify, backups list, status and smoke report no fault', async () => {
    for (const argv of [
      ['verify', '--max-age', '1h'],
      ['verify', set],
      ['backups', 'list'],
      ['status'],
      ['smoke', '--deep'],
    ]) {
      const ended = await first.run([...argv, '--json'], { env });
      assert.equal(ended.code, 0, `${argv.join(' ')}: ${ended.stderr}`);
      const { ok, exitCode, type } = ended.result();
      assert.deepEqual({ ok, exitCode, type }, { ok: true, exitCode: 0, type: 'result' });
    }
    assert.match((await first.run(['smoke'])).stdout, /0 failed/);
  });

  await t.test('restore is rejected while serve is running (exit code 11), and changes nothing', async () => {
    const refused = await first.run(['restore', '--from', set, '--yes'], { env });
    assert.equal(refused.code, 11, refused.stderr);
    assert.equal((await fetch(`${first.address}/health/ready`)).status, 200);
  });

  await t.test('drill restores the set elsewhere while serve is running', async () => {
    const drilled = await first.run(['drill', '--json'], { env });
    assert.equal(drilled.code, 0, drilled.stderr);
    assert.equal(drilled.result()['outcome'], 'passed');
    assert.equal((await fetch(`${first.address}/health/ready`)).status, 200);
  });

  const userCreate = await first.run(['admin', 'realm', 'create', 'later']);
  assert.equal(userCreate.code, 0, userCreate.stderr);
  assert.equal(await first.stop(), 0, 'SIGTERM is the normal end of serve');

  await t.test('restore brings back the state of the set, with the checklist', async () => {
    const restored = await runIdkit(['restore', '--from', set, '--yes', '--json'], { cwd, env });
    assert.equal(restored.code, 0, restored.stderr);
    const { checklist, outcome } = restored.result() as {
      checklist: { outcome: string }[];
      outcome: string;
    };
    assert.equal(outcome, 'restored');
    assert.equal(checklist.length, 8);
    assert.ok(checklist.every((row) => row.outcome !== 'failed'));
  });

  await t.test(
    'after the restore, tokens from before the backup still work, and later changes are undone',
    async (inner) => {
      const again = await startIdkit(inner, { cwd, env: BASE });
      const realms = (await again.run(['admin', 'realm', 'list', '--json'])).result() as {
        realms: { realm: string }[];
      };
      assert.deepEqual(
        realms.realms.map(({ realm }) => realm),
        ['master'],
      );
      const late = await post(again.address, 'master', 'token', {
        grant_type: 'refresh_token',
        client_id: 'admin-cli',
        refresh_token: String(renewed.body['refresh_token']),
      });
      assert.equal(late.status, 200, JSON.stringify(late.body));
      const info = await post(again.address, 'master', 'token/introspect', {
        token: String(machine.body['access_token']),
        client_id: 'idkit-smoke',
        client_secret: secrets['IDKIT_SMOKE_CLIENT_SECRET']!,
      });
      assert.equal(info.status, 200);
      assert.equal(await again.stop(), 0);
    },
  );

  await t.test('a second start changes nothing', () => {
    assert.deepEqual(readSecrets(cwd), secrets);
  });

  await t.test(
    'with a stopped service, the master key can be rotated and the administrator recovered',
    async (inner) => {
      const rotated = await runIdkit(['master-key', 'rotate', '--json'], { cwd });
      assert.equal(rotated.code, 0, rotated.stderr);
      assert.notEqual(readSecrets(cwd)['IDKIT_MASTER_KEY'], secrets['IDKIT_MASTER_KEY']);
      assert.equal('IDKIT_MASTER_KEY_OLD' in readSecrets(cwd), false);
      const recovered = await runIdkit(['recover-admin', '--json'], { cwd });
      assert.equal(recovered.code, 0, recovered.stderr);
      const { password } = recovered.result() as { password: string };
      assert.equal(readSecrets(cwd)['IDKIT_ADMIN_PASSWORD'], password);
      const again = await startIdkit(inner, { cwd, env: BASE });
      assert.equal((await again.run(['smoke'])).code, 0);
      assert.ok(!readFileSync(join(cwd, 'idkit', 'idkit.yaml'), 'utf8').includes(password));
    },
  );
});
