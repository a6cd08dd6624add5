import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { BIN, makePlace } from '../journey/idkit.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';
import { type KeycloakServer, missingKeycloak, runSql, startKeycloak } from './keycloak-server.ts';
import { makeOperatedPlatform, PASSPHRASE, postTo } from './operated-platform.ts';

const skip = missingPostgres() ?? missingKeycloak() ?? false;
const EXPORTS = join(import.meta.dirname, '../fixtures/keycloak/exports');
/** The host and port of the service that the set came from, as in the issuer of its tokens. */
const ISSUER = '127.0.0.1:8080';
/**
 * A user who was locked when the set was created. A dump does not contain the lockout, because Keycloak keeps it in
 * memory.
 */
const LOCKED = 'mallory-locked';

/** Requests to the Keycloak that the set came from, and its responses before the set was created. */
interface Expected {
  logins: {
    realm: string;
    client: string;
    username: string;
    password: string;
    scope: string;
    status: number;
  }[];
  clientCredentials: {
    realm: string;
    client: string;
    secret: string;
    status: number;
    rawAccessToken?: string;
  }[];
  offlineToken: { realm: string; client: string; refreshToken: string };
}

describe('the set that ordinary tools created from a real Keycloak 26.7.3', { skip }, () => {
  it('can be verified and restored on an empty host: logins, clients and tokens work as before', async (t) => {
    const postgres = await startPostgres(t);
    const keycloak = await startKeycloak(t, postgres, { started: false });
    const platform = makeOperatedPlatform(t, keycloak);
    const set = join(makePlace(t), '20261101_020000');
    cpSync(join(EXPORTS, '20261101_020000'), set, { recursive: true });
    const expected = JSON.parse(readFileSync(join(EXPORTS, 'expected.json'), 'utf8')) as Expected;
    const secrets = clientSecrets('acme');
    const ask = (realm: string, endpoint: string, form: Record<string, string>) =>
      postTo(keycloak, realm, endpoint, form, ISSUER);

    await t.test('verify exits with 0, with a note about the missing manifest', async () => {
      const verified = await platform.idkit(['verify', set]);
      assert.equal(verified.code, 0, verified.stdout + verified.stderr);
      assert.match(verified.stdout, /the set has no manifest\.json/);
    });

    await t.test('restore exits with 0, and every row of the checklist that applies is done', async () => {
      const restored = await platform.idkit(['restore', '--from', set, '--yes', '--trust-unsealed']);
      assert.equal(restored.code, 0, restored.stdout + restored.stderr);
      const { checklist } = restored.result() as { checklist: { id: string; outcome: string }[] };
      assert.deepEqual(Object.fromEntries(checklist.map(({ id, outcome }) => [id, outcome])), {
        containers: 'does not apply',
        readiness: 'done',
        proxy: 'does not apply',
        discovery: 'done',
        'console-login': 'done',
        // The .env of the set names no client for this check.
        'm2m-token': 'does not apply',
        'protected-apis': 'does not apply',
        'user-counts': 'done',
      });
    });

    await t.test(
      'if idkit cannot start anything, restore still puts the restored state in place, with findings (exit code 3)',
      async () => {
        await keycloak.stop();
        const byHand = makeOperatedPlatform(t, keycloak, { commands: false });
        const restored = await byHand.idkit(['restore', '--from', set, '--yes', '--trust-unsealed']);
        assert.equal(restored.code, 3, restored.stdout + restored.stderr);
        const { findings } = restored.result() as { findings: { code: string }[] };
        assert.equal(findings[0]?.code, 'SERVICE_NOT_STARTED');
        // An offline session expires after thirty days without use, so change the time of its last use to an hour ago.
        for (const [table, column] of [
          ['offline_user_session', 'last_session_refresh'],
          ['offline_client_session', '"timestamp"'],
        ]) {
          const used = `${column} = extract(epoch FROM now())::int - 3600`;
          await runSql(postgres, `UPDATE ${table} SET ${used} WHERE offline_flag = '1'`, 'keycloak');
        }
        await keycloak.start();
      },
    );

    await t.test('users with every kind of hash log in with their passwords', async () => {
      const logins = expected.logins.filter(({ username }) => username !== LOCKED);
      assert.ok(logins.length > 10);
      for (const { realm, client, username, password, scope, status } of logins) {
        const secret = realm === 'acme' ? secrets.get(client) : undefined;
        const answer = await ask(realm, 'token', {
          grant_type: 'password',
          client_id: client,
          ...(secret === undefined ? {} : { client_secret: secret }),
          username,
          password,
          scope,
        });
        assert.equal(answer.status, status, `${username}: ${JSON.stringify(answer.body)}`);
      }
    });

    await t.test('clients get tokens with their secrets', async () => {
      for (const { realm, client, secret, status } of expected.clientCredentials) {
        const form = { grant_type: 'client_credentials', client_id: client, client_secret: secret };
        assert.equal((await ask(realm, 'token', form)).status, status, `${realm} ${client}`);
      }
    });

    await t.test(
      'an earlier access token verifies against the published keys, and the offline token is refreshed',
      async () => {
        const issued = expected.clientCredentials.find(({ rawAccessToken }) => rawAccessToken !== undefined)!;
        const certs = `${keycloak.baseUrl}/realms/${issued.realm}/protocol/openid-connect/certs`;
        const token = issued.rawAccessToken!;
        // The token expired long ago, so the test checks it as of its time of issue.
        const currentDate = new Date(Number(decodeJwt(token).iat) * 1000);
        const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(certs)), { currentDate });
        assert.equal(payload['azp'], issued.client);
        const { realm, client, refreshToken } = expected.offlineToken;
        const form = { grant_type: 'refresh_token', client_id: client, refresh_token: refreshToken };
        const renewed = await ask(realm, 'token', form);
        assert.equal(renewed.status, 200, JSON.stringify(renewed.body));
      },
    );

    await t.test(
      'if a restore is killed while Keycloak starts, --resume stops that Keycloak and completes the restore',
      async () => {
        await endWhileStarting(keycloak, platform.dir, set, 'SIGKILL');
        const resumed = await platform.idkit(['restore', '--resume', '--yes']);
        assert.equal(resumed.code, 0, resumed.stdout + resumed.stderr);
        assert.equal(
          (await platform.idkit(['admin', 'user', 'count', '--realm', 'globex'])).result()['count'],
          1000,
        );
      },
    );

    await t.test(
      'after Ctrl-C while Keycloak starts, the previous database is restored and Keycloak uses it (exit code 130)',
      async () => {
        assert.equal((await platform.idkit(['admin', 'realm', 'create', 'old-state'])).code, 0);
        assert.equal(await endWhileStarting(keycloak, platform.dir, set, 'SIGINT'), 130);
        assert.equal((await platform.idkit(['admin', 'realm', 'get', 'old-state'])).code, 0);
      },
    );

    await t.test(
      'if a restore is killed while Keycloak starts, --abort restores the previous database and Keycloak uses it',
      async () => {
        await endWhileStarting(keycloak, platform.dir, set, 'SIGKILL');
        const aborted = await platform.idkit(['restore', '--abort', '--yes']);
        assert.equal(aborted.code, 0, aborted.stdout + aborted.stderr);
        assert.equal((await platform.idkit(['admin', 'realm', 'get', 'old-state'])).code, 0);
      },
    );
  });
});

/** Reads the clients' secrets from the realm file of the same Keycloak, which contains them in plain text. */
function clientSecrets(realm: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(EXPORTS, `${realm}-realm.json`), 'utf8');
  const { clients } = JSON.parse(text) as { clients: { clientId: string; secret?: string }[] };
  return new Map(
    clients.flatMap(({ clientId, secret }) => (secret === undefined ? [] : [[clientId, secret]])),
  );
}

/**
 * Starts a restore, and sends it a signal when Keycloak is starting. Returns its exit code, or null if the signal ended
 * it.
 */
async function endWhileStarting(
  keycloak: KeycloakServer,
  dir: string,
  set: string,
  signal: NodeJS.Signals,
): Promise<number | null> {
  const argv = [BIN, 'restore', '--from', set, '--yes', '--trust-unsealed', '--dir', dir, '--json'];
  const child = spawn(process.execPath, argv, {
    env: { ...process.env, IDKIT_BACKUP_PASSPHRASE: PASSPHRASE },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await new Promise<void>((resolve) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (/"id":"start",.*"state":"started"/.test(output)) resolve();
    });
    child.once('exit', () => resolve());
  });
  await waitUntil(
    'Keycloak runs, or the restore has ended',
    () => keycloak.runs() || child.exitCode !== null,
  );
  // After this time the start command has returned, but Keycloak does not respond yet.
  await sleep(1000);
  assert.ok(child.kill(signal));
  return ended;
}
