import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makePlace, post, runIdkit } from '../journey/idkit.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { KEYCLOAK_ADMIN, type KeycloakServer, missingKeycloak, startKeycloak } from './keycloak-server.ts';

const skip = missingPostgres() ?? missingKeycloak() ?? false;

interface Check {
  id: string;
  subject?: string;
  outcome: string;
  detail: string;
}

describe('smoke and the administrative commands on a real Keycloak 26', { skip }, () => {
  it('work as they do on idkit', async (t) => {
    const keycloak = await startKeycloak(t, await startPostgres(t));
    const cwd = makePlace(t);
    const env: NodeJS.ProcessEnv = {
      IDKIT_ADMIN_USERNAME: KEYCLOAK_ADMIN.username,
      IDKIT_ADMIN_PASSWORD: KEYCLOAK_ADMIN.password,
    };
    const flags = ['--base-url', keycloak.baseUrl, '--json', '--timeout', '120'];
    const idkit = (argv: readonly string[], more: { stdin?: string; env?: NodeJS.ProcessEnv } = {}) =>
      runIdkit([...argv.slice(0, 3), ...flags, ...argv.slice(3)], {
        cwd,
        ...more,
        env: { ...env, ...more.env },
      });
    const succeed = async (
      argv: readonly string[],
      more: { stdin?: string; env?: NodeJS.ProcessEnv } = {},
    ) => {
      const ended = await idkit(argv, more);
      assert.equal(ended.code, 0, `${argv.join(' ')}: ${ended.stdout}${ended.stderr}`);
      return ended.result();
    };

    await t.test('creates a machine-to-machine client, and smoke passes with it', async () => {
      const { secret } = await succeed(['admin', 'client', 'create', 'idkit-smoke']);
      env['IDKIT_SMOKE_CLIENT_SECRET'] = String(secret);
      writeFileSync(
        join(cwd, 'idkit.yaml'),
        `service: keycloak\nkeycloak: { managementUrl: '${keycloak.managementUrl}' }\n`,
      );
      const { checks } = (await succeed(['smoke'])) as unknown as { checks: Check[] };
      const outcomes = Object.fromEntries(checks.map((check) => [check.id, check.outcome]));
      assert.deepEqual(outcomes, {
        discovery: 'passed',
        'client-credentials': 'passed',
        'token-signature': 'passed',
        'token-issuer': 'passed',
        'token-audience': 'passed',
        'token-expiry': 'passed',
        readiness: 'passed',
        'administrator-login': 'passed',
        rotation: 'passed',
        'console-login': 'passed',
        'user-count': 'not-applicable',
        'application-health': 'not-applicable',
        'application-protected': 'not-applicable',
      });
    });

    await t.test('the readiness check does not apply if no management address is set', async () => {
      writeFileSync(join(cwd, 'idkit.yaml'), 'service: keycloak\n');
      const { checks } = (await succeed(['smoke', '--deep'])) as unknown as { checks: Check[] };
      const readiness = checks.find(({ id }) => id === 'readiness');
      assert.equal(readiness?.outcome, 'not-applicable');
      assert.match(readiness?.detail ?? '', /keycloak\.managementUrl is not set/);
      const reuse = checks.find(({ id }) => id === 'reuse');
      assert.equal(reuse?.detail, 'the realm does not rotate refresh tokens');
    });

    await t.test('if the realm rotates, --deep checks that a used refresh token is rejected', async () => {
      await putMaster(keycloak, { revokeRefreshToken: true });
      const { checks } = (await succeed(['smoke', '--deep'])) as unknown as { checks: Check[] };
      assert.equal(checks.find(({ id }) => id === 'rotation')?.detail, 'replaced by a new one');
      const reuse = checks.find(({ id }) => id === 'reuse');
      assert.equal(reuse?.outcome, 'passed', JSON.stringify(reuse));
      await putMaster(keycloak, { revokeRefreshToken: false });
    });

    await t.test('backup rejects a Keycloak platform that names no database (exit code 2)', async () => {
      const env = { IDKIT_BACKUP_PASSPHRASE: 'a passphrase' };
      const refused = await idkit(['backup'], { env });
      assert.equal(refused.code, 2, refused.stdout);
      assert.match(refused.stdout, /set database in idkit\.yaml/);
    });

    await t.test('a wrong administrator password is a finding and does not stop smoke', async () => {
      const ended = await idkit(['smoke'], { env: { IDKIT_ADMIN_PASSWORD: 'wrong' } });
      assert.equal(ended.code, 3);
      const { checks } = ended.result() as unknown as { checks: Check[] };
      const failed = checks.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
      assert.deepEqual(failed, ['administrator-login', 'console-login']);
    });

    await t.test('creates, lists, reads and exports realms', async () => {
      await succeed(['admin', 'realm', 'create', 'acme']);
      const { realms } = await succeed(['admin', 'realm', 'list']);
      assert.deepEqual(
        realms,
        [
          { realm: 'acme', enabled: true },
          { realm: 'master', enabled: true },
        ].toSorted(byOrderOf(realms)),
      );
      const { realm } = (await succeed(['admin', 'realm', 'get', 'acme'])) as { realm: { realm: string } };
      assert.equal(realm.realm, 'acme');
      assert.equal((await idkit(['admin', 'realm', 'export', 'nobody'])).code, 10);
    });

    await t.test('creates, counts and lists users', async () => {
      const person = ['--email', 'bob@example.org', '--first-name', 'Bob', '--last-name', 'Baker'];
      await succeed(['admin', 'user', 'create', 'bob', '--realm', 'acme', ...person, '--password'], {
        env: { IDKIT_USER_PASSWORD: 'Bob-Password-1' },
      });
      assert.equal((await succeed(['admin', 'user', 'count', '--realm', 'acme']))['count'], 1);
      const { users } = (await succeed(['admin', 'user', 'list', '--realm', 'acme', '--search', 'bo'])) as {
        users: { username: string }[];
      };
      assert.deepEqual(
        users.map(({ username }) => username),
        ['bob'],
      );
    });

    await t.test('creates clients and lists them without their secrets', async () => {
      const made = ['--public', '--redirect-uri', 'https://app.example.org/back', '--direct-grants'];
      await succeed(['admin', 'client', 'create', 'web', '--realm', 'acme', ...made]);
      await succeed(['admin', 'client', 'create', 'job', '--realm', 'acme']);
      const { clients } = (await succeed(['admin', 'client', 'list', '--realm', 'acme'])) as {
        clients: { clientId: string; secret?: string }[];
      };
      const own = clients.filter(({ clientId }) => clientId === 'web' || clientId === 'job');
      assert.equal(own.length, 2);
      assert.ok(own.every(({ secret }) => secret === undefined));
    });

    await t.test(
      'a new password ends the sessions of its user, which Keycloak does not do by itself',
      async () => {
        assert.equal((await logIn(keycloak, 'Bob-Password-1')).status, 200);
        assert.equal((await listSessions()).length, 1);
        await succeed(['admin', 'user', 'set-password', 'bob', '--realm', 'acme'], {
          stdin: 'Bob-Password-2\n',
        });
        assert.deepEqual(await listSessions(), []);
        assert.equal((await logIn(keycloak, 'Bob-Password-1')).status, 400);
      },
    );

    await t.test('ends one session, then all sessions of a user', async () => {
      await logIn(keycloak, 'Bob-Password-2');
      await logIn(keycloak, 'Bob-Password-2');
      const [one] = await listSessions();
      // Keycloak makes ids that may start with a dash.
      await succeed(['admin', 'session', 'revoke', '--realm', 'acme', '--', one!.id]);
      assert.equal((await listSessions()).length, 1);
      await succeed(['admin', 'session', 'revoke', '--username', 'bob', '--realm', 'acme']);
      assert.deepEqual(await listSessions(), []);
      assert.equal((await idkit(['admin', 'session', 'revoke', '--realm', 'acme', '--', one!.id])).code, 10);
    });

    await t.test('revokes a refresh token with the credentials of its own client', async () => {
      const { body } = await logIn(keycloak, 'Bob-Password-2');
      const token = String(body['refresh_token']);
      await succeed(['admin', 'token', 'revoke'], { stdin: `${token}\n` });
      const form = { grant_type: 'refresh_token', client_id: 'web', refresh_token: token };
      const again = await post(keycloak.baseUrl, 'acme', 'token', form);
      assert.equal(again.body['error'], 'invalid_grant');
    });

    async function listSessions(): Promise<{ id: string }[]> {
      const argv = ['admin', 'session', 'list', '--realm', 'acme', '--username', 'bob'];
      return (await succeed(argv))['sessions'] as { id: string }[];
    }
  });
});

/** Changes settings of realm master as its administrator. */
async function putMaster(keycloak: KeycloakServer, change: object): Promise<void> {
  const form = { grant_type: 'password', client_id: 'admin-cli', ...KEYCLOAK_ADMIN };
  const { body } = await post(keycloak.baseUrl, 'master', 'token', form);
  const answer = await fetch(`${keycloak.baseUrl}/admin/realms/master`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${body['access_token']}`, 'content-type': 'application/json' },
    body: JSON.stringify(change),
  });
  assert.equal(answer.status, 204);
}

function logIn(keycloak: KeycloakServer, password: string) {
  const form = { grant_type: 'password', client_id: 'web', username: 'bob', password };
  return post(keycloak.baseUrl, 'acme', 'token', form);
}

/**
 * Returns a comparison function for the order of `listed`, because Keycloak does not guarantee the order of its realms.
 */
function byOrderOf(listed: unknown): (one: { realm: string }, other: { realm: string }) => number {
  const names = (listed as { realm: string }[]).map(({ realm }) => realm);
  return (one, other) => names.indexOf(one.realm) - names.indexOf(other.realm);
}
