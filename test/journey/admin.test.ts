import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../free-port.ts';
import { makePlace, post, readSecrets, runIdkit, startIdkit } from './idkit.ts';

test('idkit admin manages realms, clients, users and sessions through the administrative API', async (t) => {
  const cwd = makePlace(t);
  const service = await startIdkit(t, { cwd });
  const ok = async (argv: string[], more: { stdin?: string; env?: NodeJS.ProcessEnv } = {}) => {
    const ended = await service.run(['admin', ...argv, '--json'], more);
    assert.equal(ended.code, 0, `${argv.join(' ')}: ${ended.stderr}`);
    return ended.result();
  };

  await t.test('creates, lists, reads and exports realms', async () => {
    await ok(['realm', 'create', 'acme']);
    assert.deepEqual((await ok(['realm', 'list']))['realms'], [
      { realm: 'acme', enabled: true },
      { realm: 'master', enabled: true },
    ]);
    assert.equal(
      ((await ok(['realm', 'get', 'acme']))['realm'] as { revokeRefreshToken: boolean }).revokeRefreshToken,
      true,
    );
    const text = (await service.run(['admin', 'realm', 'export', 'acme'])).stdout;
    assert.equal((JSON.parse(text) as { realm: string }).realm, 'acme');
    assert.match((await service.run(['admin', 'realm', 'list'])).stdout, /^REALM +ENABLED +NAME\nacme +yes/);
  });

  await t.test('creates a realm from a file, and rejects one that exists already', async () => {
    writeFileSync(
      join(cwd, 'realm.json'),
      JSON.stringify({ realm: 'filed', enabled: true, displayName: 'Filed' }),
    );
    assert.equal((await ok(['realm', 'create', '--file', 'realm.json']))['realm'], 'filed');
    const again = await service.run(['admin', 'realm', 'create', 'acme']);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /already exists.* \(POST .* returned 409\)/);
    const absent = await service.run(['admin', 'realm', 'get', 'nothing']);
    assert.equal(absent.code, 10);
  });

  const clients = await ok(['client', 'create', 'web', '--realm', 'acme', '--public', '--direct-grants']);
  const orders = await ok(['client', 'create', 'orders', '--realm', 'acme']);

  await t.test(
    'creates a public client without a secret, and a machine’s client whose secret works immediately',
    async () => {
      assert.equal('secret' in clients, false);
      const token = await post(service.address, 'acme', 'token', {
        grant_type: 'client_credentials',
        client_id: 'orders',
        client_secret: String(orders['secret']),
      });
      assert.equal(token.status, 200, JSON.stringify(token.body));
      const listed = await ok(['client', 'list', '--realm', 'acme']);
      assert.ok(!JSON.stringify(listed).includes(String(orders['secret'])), 'a list shows no secret');
    },
  );

  await t.test('reads user passwords from the environment or stdin, never from an argument', async () => {
    // Set a name, because a user without a name must complete the profile before the first login, as in Keycloak 26.
    const alice = ['--email', 'alice@example.org', '--first-name', 'Alice', '--last-name', 'Example'];
    await ok(['user', 'create', 'alice', '--realm', 'acme', ...alice, '--password'], {
      env: { IDKIT_USER_PASSWORD: 'first-of-alice' },
    });
    await ok(['user', 'create', 'bob', '--realm', 'acme']);
    assert.equal((await ok(['user', 'count', '--realm', 'acme']))['count'], 2);
    await ok(['user', 'set-password', 'alice', '--realm', 'acme'], { stdin: 'second-of-alice\n' });
    const login = (password: string) =>
      post(service.address, 'acme', 'token', {
        grant_type: 'password',
        client_id: 'web',
        username: 'alice',
        password,
      });
    assert.equal((await login('first-of-alice')).body['error'], 'invalid_grant');
    assert.equal((await login('second-of-alice')).status, 200);
    const users = (await ok(['user', 'list', '--realm', 'acme', '--search', 'ali']))['users'] as {
      username: string;
    }[];
    assert.deepEqual(
      users.map((user) => user.username),
      ['alice'],
    );
    const absent = await service.run(['admin', 'user', 'set-password', 'eve', '--realm', 'acme'], {
      stdin: 'x\n',
    });
    assert.equal(absent.code, 10);
    const empty = await service.run(['admin', 'user', 'set-password', 'alice', '--realm', 'acme'], {
      stdin: '\n',
    });
    assert.equal(empty.code, 2);
  });

  const login = await post(service.address, 'acme', 'token', {
    grant_type: 'password',
    client_id: 'web',
    username: 'alice',
    password: 'second-of-alice',
  });
  const refresh = () =>
    post(service.address, 'acme', 'token', {
      grant_type: 'refresh_token',
      client_id: 'web',
      refresh_token: String(login.body['refresh_token']),
    });

  await t.test(
    'token revoke reads a token from stdin and revokes it with its own client’s credentials',
    async () => {
      const revoked = await ok(['token', 'revoke'], { stdin: `${login.body['refresh_token']}\n` });
      assert.deepEqual(
        { realm: revoked['realm'], clientId: revoked['clientId'] },
        { realm: 'acme', clientId: 'web' },
      );
      assert.equal((await refresh()).status, 400);
      const foreign = await service.run(['admin', 'token', 'revoke'], { stdin: 'not-a-token\n' });
      assert.equal(foreign.code, 2);
    },
  );

  await t.test('lists and revokes sessions', async () => {
    const again = await post(service.address, 'acme', 'token', {
      grant_type: 'password',
      client_id: 'web',
      username: 'alice',
      password: 'second-of-alice',
    });
    const sessions = (await ok(['session', 'list', '--realm', 'acme', '--username', 'alice']))[
      'sessions'
    ] as { id: string }[];
    assert.ok(sessions.length >= 1);
    for (const { id } of sessions) await ok(['session', 'revoke', id, '--realm', 'acme']);
    assert.deepEqual((await ok(['session', 'list', '--realm', 'acme']))['sessions'], []);
    const late = await post(service.address, 'acme', 'token', {
      grant_type: 'refresh_token',
      client_id: 'web',
      refresh_token: String(again.body['refresh_token']),
    });
    assert.equal(late.status, 400);
    const gone = await service.run(['admin', 'session', 'revoke', 'nothing', '--realm', 'acme']);
    assert.equal(gone.code, 10);
  });

  await t.test('one login serves every command, and only its owner can read it', async () => {
    const tokens = join(cwd, 'idkit', 'data', 'tokens');
    assert.equal(statSync(tokens).mode & 0o777, 0o700);
    // The lock file next to it is empty.
    const [file, ...rest] = readdirSync(tokens).filter((name) => !name.endsWith('.lock'));
    assert.deepEqual(rest, []);
    assert.equal(statSync(join(tokens, file!)).mode & 0o777, 0o600);
    const before = readFileSync(join(tokens, file!), 'utf8');
    await ok(['realm', 'list']);
    assert.equal(readFileSync(join(tokens, file!), 'utf8'), before);
  });

  await t.test(
    '--base-url needs no platform directory, because the credentials come from the environment',
    async () => {
      const elsewhere = makePlace(t);
      const secrets = readSecrets(cwd);
      const argv = ['admin', 'realm', 'list', '--base-url', service.address];
      const right = await runIdkit(argv, {
        cwd: elsewhere,
        env: { IDKIT_ADMIN_PASSWORD: secrets['IDKIT_ADMIN_PASSWORD'] },
      });
      assert.equal(right.code, 0, right.stderr);
      assert.deepEqual(readdirSync(elsewhere), []);
      const wrong = await runIdkit(argv, { cwd: elsewhere, env: { IDKIT_ADMIN_PASSWORD: 'wrong' } });
      assert.equal(wrong.code, 12);
      const none = await runIdkit(argv, { cwd: elsewhere });
      assert.equal(none.code, 2);
      const nobody = await runIdkit(['admin', 'realm', 'list', '--base-url', 'http://127.0.0.1:1'], {
        cwd: elsewhere,
        env: { IDKIT_ADMIN_PASSWORD: 'x' },
      });
      assert.equal(nobody.code, 15);
    },
  );

  await t.test('every command exits with 15 if the service is stopped', async () => {
    assert.equal(await service.stop(), 0);
    // Set a free port, because another program may be using the default port.
    const port = await freePort();
    appendFileSync(join(cwd, 'idkit', 'idkit.yaml'), `listen:\n  port: ${port}\n`);
    const ended = await runIdkit(['admin', 'realm', 'list'], { cwd });
    assert.equal(ended.code, 15, ended.stderr);
    const message = `^error IDKIT_UNREACHABLE: http://127\\.0\\.0\\.1:${port} cannot be reached: `;
    assert.match(ended.stderr, new RegExp(message, 'm'));
  });
});
