import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { makePlace, runIdkit } from '../journey/idkit.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import {
  checklistOf,
  type KeptTokens,
  logIn,
  logInSample,
  makeRealms,
  openSessions,
  REALMS,
  realmsOf,
  renewKept,
} from './cycle-steps.ts';
import { KEYCLOAK_ADMIN, missingKeycloak, runSql, startKeycloak } from './keycloak-server.ts';
import { makeOperatedPlatform, PASSPHRASE } from './operated-platform.ts';

const skip = missingPostgres() ?? missingKeycloak() ?? false;

describe('a platform with a Keycloak that its operator runs', { skip }, () => {
  it('is backed up, destroyed and restored: users log in, sessions and offline tokens continue', async (t) => {
    const postgres = await startPostgres(t);
    const keycloak = await startKeycloak(t, postgres);
    const env = [
      `IDKIT_ADMIN_USERNAME=${KEYCLOAK_ADMIN.username}`,
      `IDKIT_ADMIN_PASSWORD=${KEYCLOAK_ADMIN.password}`,
      `IDKIT_DATABASE_PASSWORD=${keycloak.databasePassword}`,
    ];
    const platform = makeOperatedPlatform(t, keycloak, { env });
    const succeed = async (argv: readonly string[]) => {
      const ended = await platform.idkit(argv);
      assert.equal(ended.code, 0, `${argv.join(' ')}: ${ended.stdout}${ended.stderr}`);
      return ended;
    };
    let kept: KeptTokens | undefined;
    let set = '';

    await t.test('creates three realms with 1,000 users, and sessions', async () => {
      const { secret } = (await succeed(['admin', 'client', 'create', 'idkit-smoke'])).result();
      writeFileSync(
        join(platform.dir, '.env'),
        `${[...env, `IDKIT_SMOKE_CLIENT_SECRET=${secret}`].join('\n')}\n`,
      );
      await makeRealms(succeed);
      kept = await openSessions(keycloak);
    });

    await t.test(
      'backup exits with 0, with a note about what Keycloak omits from its realm files',
      async () => {
        const made = await succeed(['backup']);
        const { dir } = made.result() as { dir: string };
        assert.match(made.stdout, /the realm files contain no users, clients, roles/);
        const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'));
        assert.deepEqual(manifest.service, { kind: 'keycloak', version: keycloak.version });
        assert.equal(manifest.realmSource, 'api');
        assert.deepEqual(realmsOf(manifest), REALMS);
        set = join(makePlace(t), basename(dir));
        cpSync(dir, set, { recursive: true });
      },
    );

    await t.test(
      'backup with an administrator that Keycloak rejects publishes a set without realm files, with a finding (exit code 3)',
      async () => {
        const wrong = env.map((line) => line.replace(/^(IDKIT_ADMIN_PASSWORD)=.*/, '$1=Not-This-One-1'));
        const file = join(platform.dir, '.env');
        const right = readFileSync(file, 'utf8');
        writeFileSync(file, `${wrong.join('\n')}\n`);
        const made = await platform.idkit(['backup']);
        const alone = await platform.idkit(['backup', '--only', 'realms']);
        writeFileSync(file, right);
        assert.equal(made.code, 3, made.stdout + made.stderr);
        const { parts, findings } = made.result() as { parts: string[]; findings: { code: string }[] };
        assert.deepEqual(parts, ['database', 'config', 'env']);
        assert.deepEqual(
          findings.map(({ code }) => code),
          ['ADMINISTRATOR_REFUSED'],
        );
        assert.equal((await succeed(['verify'])).code, 0);
        assert.equal(alone.code, 12, alone.stdout + alone.stderr);
      },
    );

    await t.test('status shows the running components', async () => {
      const status = (await platform.idkit(['status'])).result() as { service: Record<string, unknown> };
      assert.equal(status.service['kind'], 'keycloak');
      assert.equal(status.service['health'], 'UP');
      assert.equal(status.service['version'], keycloak.version);
    });

    await t.test('the process, the database and the platform directory are destroyed', async () => {
      await keycloak.kill();
      await runSql(postgres, 'DROP DATABASE keycloak');
      rmSync(platform.dir, { recursive: true });
    });

    await t.test(
      'restore rebuilds the platform on the empty host from the set alone, and every row of the checklist is done',
      async () => {
        const restored = await restoreInto(platform.dir, set);
        assert.equal(restored.code, 0, restored.stdout + restored.stderr);
        assert.deepEqual(checklistOf(restored), {
          containers: 'does not apply',
          readiness: 'done',
          proxy: 'does not apply',
          discovery: 'done',
          'console-login': 'done',
          'm2m-token': 'done',
          'protected-apis': 'does not apply',
          'user-counts': 'done',
        });
      },
    );

    await t.test('a sample of 50 users logs in', async () => {
      await logInSample(keycloak);
    });

    await t.test(
      'earlier sessions continue, because their refresh tokens and offline tokens are valid',
      async () => {
        await renewKept(keycloak, kept!);
      },
    );

    await t.test('a restore over a running Keycloak stops and starts it with its commands', async () => {
      await succeed(['admin', 'realm', 'create', 'made-later']);
      const restored = await restoreInto(platform.dir, set);
      assert.equal(restored.code, 0, restored.stdout + restored.stderr);
      assert.equal((await platform.idkit(['admin', 'realm', 'get', 'made-later'])).code, 10);
      await logIn(keycloak, 7);
    });

    await t.test(
      'after a failed start, the previous database is restored and Keycloak uses it (exit code 16)',
      async () => {
        await succeed(['admin', 'realm', 'create', 'old-state']);
        const flag = join(makePlace(t), 'failed-once');
        const failsOnce = `sh -c 'test -e "${flag}" || { touch "${flag}"; echo no start today; exit 7; }; exec "$@"' sh ${keycloak.startCommand}`;
        const yaml = join(platform.dir, 'idkit.yaml');
        const own = readFileSync(yaml, 'utf8');
        writeFileSync(
          yaml,
          own.replace(/^( +start: ).*$/m, (_, name) => name + JSON.stringify(failsOnce)),
        );
        const failed = await restoreInto(platform.dir, set);
        writeFileSync(yaml, own);
        assert.equal(failed.code, 16, failed.stdout + failed.stderr);
        assert.match(failed.stdout, /keycloak\.start ended with exit code 7/);
        await succeed(['admin', 'realm', 'get', 'old-state']);
        await logIn(keycloak, 7);
      },
    );

    await t.test(
      'without commands, a running Keycloak prevents a restore (exit code 11), and nothing changes',
      async () => {
        const other = makeOperatedPlatform(t, keycloak, { env, commands: false });
        const refused = await restoreInto(other.dir, set, ['--keep-env']);
        assert.equal(refused.code, 11, refused.stdout + refused.stderr);
        await succeed(['admin', 'realm', 'get', 'old-state']);
      },
    );

    await t.test(
      'backup of a stopped Keycloak exits with 15, but .env and config/ can be backed up without it',
      async () => {
        await keycloak.stop();
        const refused = await platform.idkit(['backup']);
        assert.equal(refused.code, 15, refused.stdout + refused.stderr);
        await succeed(['backup', '--only', 'config,env']);
      },
    );
  });
});

/** Restores a set into `dir`. The process runs in the parent directory, because `dir` may not exist. */
function restoreInto(dir: string, set: string, more: readonly string[] = []) {
  return runIdkit(['restore', '--from', set, '--yes', '--dir', dir, '--json', ...more], {
    cwd: join(dir, '..'),
    env: { IDKIT_BACKUP_PASSPHRASE: PASSPHRASE },
  });
}
