import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { readEnvFile } from '../../src/config/index.ts';
import { makePlace } from '../journey/idkit.ts';
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
} from '../keycloak/cycle-steps.ts';
import { missingKeycloak } from '../keycloak/keycloak-server.ts';
import { findContainerId, leftovers, missingEngine, startEngine } from './engines.ts';
import { makePlatform } from './platform.ts';

const PASSPHRASE = { IDKIT_BACKUP_PASSPHRASE: 'correct horse battery staple' };

/** Timeout in seconds for the administrative API. Keycloak imports 1,000 users, which is slow on a busy machine. */
const PATIENT = ['--timeout', '120'];

test('a container platform with a real Keycloak can be restored from its backup set after everything else was destroyed', async (t) => {
  const missing = missingEngine('docker') ?? missingKeycloak();
  if (missing !== undefined) return t.skip(missing);
  const engine = await startEngine(t, 'docker', 'keycloak');
  const platform = await makePlatform(t, engine, 'caddy', 'keycloak');
  const { dir, project } = platform;
  /** The service as users reach it, through the proxy. */
  const service = { baseUrl: `https://localhost:${platform.ports[0]}` };
  const run = (argv: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    platform.run([...argv, '--json', ...(argv[0] === 'admin' ? PATIENT : [])], { ...PASSPHRASE, ...env });
  const succeed = async (argv: readonly string[]) => {
    const ended = await run(argv);
    assert.equal(ended.code, 0, `${argv.join(' ')}: ${ended.stdout}${ended.stderr}`);
    return ended;
  };
  const partsOf = (result: Record<string, unknown>) =>
    (result['parts'] as { name: string; health: string }[]).map(({ name, health }) => [name, health]);
  const UP = [
    ['database', 'UP'],
    ['keycloak', 'UP'],
    ['caddy', 'UP'],
    ['hello', 'UP'],
  ];
  let kept: KeptTokens | undefined;
  let set = '';

  await t.test(
    'init and up: every component is UP, and status shows Keycloak’s own version and health',
    async () => {
      assert.deepEqual(partsOf((await succeed(['up'])).result()), UP);
      // Log in once before status, because the first login takes longer and status has a short timeout.
      await succeed(['admin', 'realm', 'list']);
      const shown = await run(['status']);
      assert.equal(shown.code, 3, 'there is no backup yet');
      const status = shown.result();
      assert.deepEqual(partsOf(status), UP);
      const { baseUrl: _, ...reported } = status['service'] as Record<string, unknown>;
      assert.deepEqual(reported, { kind: 'keycloak', version: '26.7.3', health: 'UP' });
    },
  );

  await t.test('smoke explains how to create its client, which then uses the secret from .env', async () => {
    const before = await run(['smoke']);
    assert.equal(before.code, 3, before.stdout);
    assert.match(
      before.stdout,
      /if the client does not exist, create it with idkit admin client create idkit-smoke --realm master/,
    );
    const made = (await succeed(['admin', 'client', 'create', 'idkit-smoke'])).result();
    assert.equal(made['secret'], undefined, 'it is in .env already');
    const { checks } = (await succeed(['smoke'])).result() as { checks: { id: string; outcome: string }[] };
    const silent = checks.filter(({ outcome }) => outcome !== 'passed').map(({ id }) => id);
    assert.deepEqual(silent, ['user-count'], 'it expects no users of its own');
  });

  await t.test(
    'no secret is in an argument, a label, a file, or a component that does not need it',
    async () => {
      const secrets = [...readEnvFile(join(dir, '.env'))].filter(([key]) => /KEY|PASSWORD|SECRET/.test(key));
      assert.equal(secrets.length, 4);
      const needed: Record<string, readonly string[]> = {
        database: ['IDKIT_DATABASE_PASSWORD'],
        keycloak: ['IDKIT_ADMIN_PASSWORD', 'IDKIT_DATABASE_PASSWORD'],
        caddy: [],
        hello: [],
      };
      for (const [part, own] of Object.entries(needed)) {
        const inspected = await engine.call(['inspect', await findContainerId(engine, project, part)]);
        const [record] = JSON.parse(inspected) as { Config: { Env?: string[] } }[];
        const { Env = [], ...Config } = record!.Config;
        const shown = JSON.stringify({ ...record, Config });
        for (const [key, value] of secrets) {
          assert.ok(!shown.includes(value), `${key} in an argument or a label of ${part}`);
          assert.equal(
            Env.join('\n').includes(value),
            own.includes(key),
            `${key} in the environment of ${part}`,
          );
        }
      }
      const definition = readFileSync(join(dir, 'compose.yaml'), 'utf8');
      for (const [key, value] of secrets) assert.ok(!definition.includes(value), key);
    },
  );

  await t.test(
    'commands for idkit’s own store are rejected, and the hint names Keycloak’s equivalent (exit code 2)',
    async () => {
      const recovered = await run(['recover-admin']);
      assert.equal(recovered.code, 2, recovered.stdout);
      assert.match(recovered.stdout, /docker compose run --rm keycloak bootstrap-admin user/);
      const rotated = await run(['master-key', 'rotate']);
      assert.equal(rotated.code, 2, rotated.stdout);
      assert.match(rotated.stdout, /the service is Keycloak, which does not use a master key/);
    },
  );

  await t.test('creates three realms with 1,000 users, and sessions', async () => {
    await makeRealms(succeed);
    kept = await openSessions(service);
  });

  await t.test('backup and verify exit with 0', async () => {
    const made = (await succeed(['backup'])).result() as { dir: string };
    const manifest = JSON.parse(readFileSync(join(made.dir, 'manifest.json'), 'utf8'));
    assert.deepEqual(manifest.service, { kind: 'keycloak', version: '26.7.3' });
    assert.equal(manifest.realmSource, 'api');
    assert.deepEqual(realmsOf(manifest), REALMS);
    set = join(makePlace(t), basename(made.dir));
    cpSync(made.dir, set, { recursive: true });
    const verified = await succeed(['verify', set]);
    assert.doesNotMatch(verified.stdout, /newer/, 'Keycloak’s schema is not compared with idkit’s');
  });

  await t.test('a drill loads the set in a separate place and counts its users', async () => {
    const drilled = checklistOf(await succeed(['drill', set]));
    assert.equal(drilled['user-counts'], 'done');
    assert.equal(drilled['readiness'], 'does not apply');
  });

  await t.test('the containers, the volumes and the platform directory are destroyed', async () => {
    await succeed(['down']);
    await engine.call(['volume', 'rm', ...(await leftovers(engine, project))]);
    assert.deepEqual(await leftovers(engine, project), []);
    rmSync(dir, { recursive: true });
  });

  await t.test(
    'restore rebuilds the platform on the empty host from the set alone, and every row of the checklist is done (exit code 0)',
    async () => {
      const restored = await succeed(['restore', '--from', set, '--yes']);
      const rows = Object.entries(checklistOf(restored));
      assert.equal(rows.length, 8);
      for (const [row, outcome] of rows) assert.equal(outcome, 'done', row);
    },
  );

  await t.test(
    'a sample of 50 users logs in through the proxy, and tokens from before the backup can be refreshed',
    async () => {
      await logInSample(service);
      await renewKept(service, kept!);
    },
  );

  await t.test('a restore over a running platform stops and starts it', async () => {
    await succeed(['admin', 'realm', 'create', 'made-later']);
    await succeed(['restore', '--from', set, '--yes']);
    assert.equal((await run(['admin', 'realm', 'get', 'made-later'])).code, 10);
    await logIn(service, 7);
  });

  await t.test(
    'a failed start brings the previous database back (exit code 16), and the hint explains how to start Keycloak on it',
    async () => {
      await succeed(['admin', 'realm', 'create', 'old-state']);
      const absent = { SERVICE_IMAGE: 'localhost/idkit-test/none:1' };
      const failed = await run(['restore', '--from', set, '--yes'], absent);
      assert.equal(failed.code, 16, failed.stdout);
      assert.match(
        failed.stdout,
        /was rolled back to the old state: keycloak did not start, because its image is unavailable/,
      );
      assert.match(failed.stdout, /idkit up starts it/);
      const psql = ['psql', '-U', 'keycloak', '-Atc'];
      const ask = async (sql: string) =>
        engine.call(['exec', await findContainerId(engine, project, 'database'), ...psql, sql]);
      assert.equal(await ask("SELECT count(*) FROM realm WHERE name = 'old-state'"), '1\n');
      assert.equal(
        await ask('SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY 1'),
        'keycloak\npostgres\n',
      );
      for (const command of ['backup', 'smoke']) {
        const refused = await run([command]);
        assert.equal(refused.code, 15, refused.stdout);
        assert.match(refused.stdout, /no container of keycloak is running and reachable from this machine/);
      }
    },
  );

  await t.test(
    'if a component does not become UP, reports its log without the lines of the health checks (exit code 1)',
    async () => {
      const echo = 'echo Reason; for n in 1 2 3 4 5 6 7 8 9 10; do echo INFO SRHCK01001 down; done; exit 3';
      platform.edit('compose.yaml', 'command: ["start"]', `entrypoint: ["sh", "-c", "${echo}"]`);
      const ended = await run(['up']);
      assert.equal(ended.code, 1, ended.stdout);
      assert.match(ended.stderr, /keycloak did not come up: .*exit code 3/);
      assert.match(ended.stderr, /hint: log: Reason/);
      assert.doesNotMatch(ended.stderr, /SRHCK/);
    },
  );
});
