import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { readEnvFile } from '../../src/config/index.ts';
import { BIN } from '../journey/idkit.ts';
import { waitUntil } from '../wait-until.ts';
import { type EngineKind, findContainerId } from './engines.ts';
import { programsOf } from './killed-restore.ts';
import type { Place } from './place.ts';
import { makePlatform } from './platform.ts';

const PASSPHRASE = { IDKIT_BACKUP_PASSPHRASE: 'correct horse battery staple' };
/** Timeout for a change in a container. */
const PATIENCE = { seconds: 180, every: 200 };

/**
 * Tests faults of a platform's containers, one after another. Without `every`, tests only the faults whose results may
 * differ between engines.
 */
export function partFaults(kind: EngineKind, place: Place, every: boolean): void {
  const idOf = (service: string): Promise<string> =>
    findContainerId(place.engine, place.platform.project, service);
  const ok = async (argv: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const ended = await place.platform.run(argv, env);
    assert.equal(ended.code, 0, ended.stderr);
    return ended;
  };

  it('up exits with 14 and names an image that is unavailable', async () => {
    const [line = ''] = /^DATABASE_IMAGE=.*$/m.exec(place.engine.images) ?? [];
    const none = 'DATABASE_IMAGE=localhost/idkit-test/none:1';
    place.platform.edit('.env', line, none);
    const ended = await place.platform.run(['up']);
    place.platform.edit('.env', none, line);
    assert.equal(ended.code, 14, ended.stderr);
    assert.match(ended.stderr, /database did not start, because its image is unavailable/);
    assert.match(ended.stderr, /compose\.yaml names \$\{DATABASE_IMAGE/);
  });

  it('up uses the image that an environment variable names, or exits with 2 if podman-compose would ignore the variable', async () => {
    const ended = await place.platform.run(['up'], { DATABASE_IMAGE: 'localhost/idkit-test/none:1' });
    if (kind === 'docker') return assert.equal(ended.code, 14, ended.stderr);
    assert.equal(ended.code, 2, ended.stderr);
    assert.match(ended.stderr, /podman-compose \S+ uses DATABASE_IMAGE from \.env/);
  });

  it('up exits with 1 and names a port in use, and the components that have started keep running', async () => {
    const server = createServer().listen(place.platform.ports[1], '127.0.0.1');
    await once(server, 'listening');
    const ended = await place.platform.run(['up']);
    server.close();
    assert.equal(ended.code, 1, ended.stderr);
    assert.match(
      ended.stderr,
      new RegExp(`error IDKIT_PORT_TAKEN: idkit did not start.*${place.platform.ports[1]}`),
    );
    await ok(['up', '--quiet']);
    const status = await place.platform.run(['status', '--json']);
    const parts = status.result()['parts'] as {
      name: string;
      health: string;
      restarts: number;
      image: string;
    }[];
    assert.deepEqual(
      parts.map(({ name, health, restarts }) => [name, health, restarts]),
      [
        ['database', 'UP', 0],
        ['idkit', 'UP', 0],
        ['caddy', 'UP', 0],
        ['hello', 'UP', 0],
      ],
    );
    assert.equal(parts[0]!.image, 'localhost/idkit-test/database:1');
  });

  it('up keeps a component that matches its definition', async () => {
    const before = await place.engine.call(['ps', '-q']);
    await ok(['up', '--quiet']);
    assert.equal(await place.engine.call(['ps', '-q']), before);
  });

  if (kind === 'docker')
    it('up exits with 14 and reports what is wrong with a new definition, even if the previous container is still running', async () => {
      await ok(['up', '--quiet']);
      const before = await idOf('hello');
      const ended = await place.platform.run(['up'], { APPLICATION_IMAGE: 'localhost/idkit-test/none:1' });
      assert.equal(ended.code, 14, ended.stderr);
      assert.match(
        ended.stderr,
        /error IDKIT_VERSION: hello is still running with its previous definition, because its image is unavailable/,
      );
      assert.equal(await idOf('hello'), before);
      await ok(['up', '--quiet']);
    });

  it('after a restart of the machine, up starts everything again', async () => {
    await ok(['admin', 'realm', 'create', 'kept']);
    await place.engine.call(['kill', ...(await place.engine.call(['ps', '-q'])).trim().split('\n')]);
    await ok(['up', '--quiet']);
  });

  if (every)
    it('the service runs without root, privileges or a writable root file system, and exits with 0 on SIGTERM', async () => {
      const id = await idOf('idkit');
      const inside = await place.engine.call([
        'exec',
        id,
        'sh',
        '-c',
        'id -u; touch /x 2>&1; grep -E "CapEff|NoNewPrivs" /proc/1/status',
      ]);
      assert.match(inside, /^10001\n.*Read-only file system\nCapEff:\t0+\nNoNewPrivs:\t1\n$/s);
      await place.engine.call(['stop', '-t', '20', id]);
      assert.equal((await place.engine.call(['inspect', '-f', '{{.State.ExitCode}}', id])).trim(), '0');
      await place.engine.call(['start', id]);
      await ok(['up', '--quiet']);
      assert.equal(await idOf('idkit'), id, 'it starts again in the same container');
    });

  it('up publishes no database port, and no argument and no line of compose.yaml contains a secret', async () => {
    const ports = await place.engine.call([
      'inspect',
      '-f',
      '{{json .HostConfig.PortBindings}}',
      await idOf('database'),
    ]);
    assert.match(ports, /^(\{\}|null|\{"5432\/tcp":null\})\n$/);
    const secrets = [...readEnvFile(join(place.platform.dir, '.env'))].filter(([key]) =>
      /KEY|PASSWORD|SECRET/.test(key),
    );
    assert.equal(secrets.length, 4);
    const ids = (await place.engine.call(['ps', '-q'])).trim().split('\n');
    const shown = await place.engine.call([
      'inspect',
      '-f',
      '{{json .Args}} {{json .Config.Cmd}} {{json .Config.Labels}}',
      ...ids,
    ]);
    for (const [key, value] of secrets) {
      assert.ok(!shown.includes(value), `${key} in an argument or a label`);
      assert.ok(!readFileSync(join(place.platform.dir, 'compose.yaml'), 'utf8').includes(value), key);
    }
  });

  it('idkit exits with 15 if the compose project has no containers, and lists the projects that have some', async () => {
    place.platform.edit('idkit.yaml', place.platform.project, 'elsewhere');
    const ended = await place.platform.run(['backup'], PASSPHRASE);
    place.platform.edit('idkit.yaml', 'elsewhere', place.platform.project);
    assert.equal(ended.code, 15, ended.stderr);
    assert.match(ended.stderr, /the compose project elsewhere has no container of database/);
    assert.match(ended.stderr, new RegExp(`${kind} has ${place.platform.project}`));
  });

  if (every)
    it('while the service is stopped, backup takes the realm files from the snapshot, and recover-admin and master-key rotate work', async () => {
      // Check the log only from now on. Its earlier lines contain the recovery after the restart above.
      const began = new Date().toISOString();
      await place.engine.call(['stop', await idOf('idkit')]);
      const ended = await ok(['backup', '--json'], PASSPHRASE);
      assert.equal(ended.result()['realmSource'], 'snapshot');
      await ok(['recover-admin']);
      const env = join(place.platform.dir, '.env');
      const before = readEnvFile(env).get('IDKIT_MASTER_KEY');
      await ok(['master-key', 'rotate']);
      assert.notEqual(readEnvFile(env).get('IDKIT_MASTER_KEY'), before);
      await ok(['up', '--quiet']);
      // smoke requests tokens, so the new master key must decrypt the keys that sign them.
      await ok(['smoke', '--quiet']);
      const refused = await place.platform.run(['recover-admin']);
      assert.equal(refused.code, 11, refused.stderr);
      const kept = await place.platform.run(['master-key', 'rotate']);
      assert.equal(kept.code, 11, kept.stderr);
      const log = spawnSync(kind, ['logs', '--since', began, await idOf('database')], {
        env: { ...process.env, ...place.engine.env },
      });
      assert.equal(log.status, 0, log.stderr.toString());
      // Check stderr too, because Postgres in the container writes its log there.
      assert.doesNotMatch(
        `${log.stdout}${log.stderr}`,
        /terminated by signal|recovery/,
        'the database never reports a crash',
      );
    });

  if (every)
    it('a backup that is interrupted or killed while pg_dump waits leaves no pg_dump in the container', async () => {
      const database = await idOf('database');
      const lock = 'BEGIN; LOCK TABLE admin_event; SELECT pg_sleep(300); COMMIT;';
      const held = place.engine
        .call(['exec', database, 'psql', '-U', 'idkit', '-c', lock])
        .catch(() => 'ended');
      const locks =
        "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'admin_event'::regclass AND granted";
      const ask = ['exec', database, 'psql', '-U', 'idkit', '-Atc', locks];
      await waitUntil(
        'the process exists',
        async () => (await place.engine.call(ask)).trim() === '1',
        PATIENCE,
      );
      for (const [signal, expected] of [
        ['SIGTERM', 143],
        ['SIGINT', 130],
        ['SIGKILL', null],
      ] as const) {
        const child = spawn(process.execPath, [BIN, 'backup', '--dir', place.platform.dir], {
          env: { ...process.env, ...place.engine.env, ...PASSPHRASE },
          stdio: 'ignore',
        });
        const exit = once(child, 'exit');
        await waitUntil(
          'pg_dump runs',
          async () => (await programsOf(place.engine, database)).includes('pg_dump'),
          PATIENCE,
        );
        child.kill(signal);
        const [code] = await exit;
        assert.equal(code, expected);
        // A killed idkit cannot end pg_dump itself. pg_dump ends because its connection to idkit closes.
        await waitUntil(
          `pg_dump has ended after ${signal}`,
          async () => !(await programsOf(place.engine, database)).includes('pg_dump'),
          PATIENCE,
        );
      }
      const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%'";
      await place.engine.call(['exec', database, 'psql', '-U', 'idkit', '-c', end]);
      await held;
      await ok(['backup', '--quiet'], PASSPHRASE);
    });

  it('idkit exits with 15 if a container is paused, and explains how to resume it', async () => {
    for (const service of ['database', 'idkit']) {
      const id = await idOf(service);
      await place.engine.call(['pause', id]);
      const paused = new RegExp(
        `the container of ${service} is paused[\\s\\S]*${kind} unpause ${id.slice(0, 12)}`,
      );
      const refused: [string, ...string[]][] = [['up']];
      if (service === 'database') refused.push(['backup'], ['recover-admin']);
      for (const argv of refused) {
        const ended = await place.platform.run(argv, PASSPHRASE);
        assert.equal(ended.code, 15, `${argv[0]}: ${ended.stderr}`);
        assert.match(ended.stderr, paused, argv[0]);
      }
      const status = await place.platform.run(['status']);
      assert.match(`${status.stdout}${status.stderr}`, /it is paused; \w+ unpause /);
      await place.engine.call(['unpause', id]);
    }
    await ok(['up', '--quiet']);
  });

  it('up exits with 1 if the service keeps crashing, and shows the last lines of its log', async () => {
    place.platform.edit('compose.yaml', '"--port", "8080"', '"--port", "none"');
    const ended = await place.platform.run(['up']);
    place.platform.edit('compose.yaml', '"--port", "none"', '"--port", "8080"');
    assert.equal(ended.code, 1, ended.stderr);
    assert.match(ended.stderr, /IDKIT_FAILED: idkit did not come up: it ends and restarts repeatedly/);
    assert.match(ended.stderr, /hint: log: error IDKIT_USAGE: .*--port/);
    await ok(['up', '--quiet']);
  });

  if (kind === 'docker')
    it('the platform also works behind nginx, and the service uses the public address', async (t) => {
      const nginx = await makePlatform(t, place.engine, 'nginx');
      const tls = join(nginx.dir, 'tls');
      mkdirSync(tls);
      const signed = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-days', '1'];
      const files = ['-keyout', join(tls, 'key.pem'), '-out', join(tls, 'cert.pem')];
      const made = spawnSync('openssl', ['req', ...signed, ...files]);
      assert.equal(made.status, 0, made.stderr.toString());
      const [, image] = /^NGINX_IMAGE=(.*)$/m.exec(place.engine.images) ?? [];
      const ended = await nginx.run(['up'], { PROXY_IMAGE: image! });
      assert.equal(ended.code, 0, ended.stderr);
      assert.match(ended.stdout, /^nginx +running +UP$/m);
      const smoke = await nginx.run(['smoke', '--quiet']);
      assert.equal(smoke.code, 0, smoke.stderr);
      assert.match(smoke.stdout, new RegExp(`https://localhost:${nginx.ports[0]}/realms/master`));
      const filter = [
        '--filter',
        `label=com.docker.compose.project=${nginx.project}`,
        '--filter',
        'expose=9000',
      ];
      const [id = ''] = (await place.engine.call(['ps', '-q', ...filter])).split('\n');
      const [management] = (await place.engine.call(['port', id, '9000/tcp'])).split('\n');
      assert.match(management!, /^127\.0\.0\.1:\d+$/, 'metrics are only for this machine');
      assert.match(
        await (await fetch(`http://${management}/metrics`)).text(),
        /^process_start_time_seconds/m,
      );
      const base = `http://127.0.0.1:${nginx.ports[1]}`;
      assert.equal((await fetch(`${base}/metrics`)).status, 404);
      assert.deepEqual(await (await fetch(`${base}/health/ready`)).json(), { status: 'UP' });
    });

  if (kind === 'docker')
    it('if the volume of the database is full, restore exits with 19, and the service keeps its state', async (t) => {
      const small = await makePlatform(t, place.engine);
      const options = '    driver_opts: { type: tmpfs, device: tmpfs, o: "size=200m" }';
      small.edit('compose.yaml', '\nvolumes:\n  database:\n', `\nvolumes:\n  database:\n${options}\n`);
      const up = await small.run(['up', '--quiet']);
      assert.equal(up.code, 0, up.stderr);
      const made = await small.run(['backup', '--quiet'], PASSPHRASE);
      assert.equal(made.code, 0, made.stderr);
      const later = await small.run(['admin', 'user', 'create', 'later', '--realm', 'master']);
      assert.equal(later.code, 0, later.stderr);
      const database = await findContainerId(place.engine, small.project, 'database');
      // Leaves room for the log of the live database, but not for a second one.
      const fill =
        'cd /var/lib/postgresql/data && head -c 1000000000 /dev/zero >filler; truncate -s -3000000 filler';
      await place.engine.call(['exec', database, 'sh', '-c', `${fill} && df .`]);
      const ended = await small.run(['restore', '--yes', '--from', made.stdout.trim()], PASSPHRASE);
      assert.equal(ended.code, 19, ended.stderr);
      const users = await small.run(['admin', 'user', 'list', '--realm', 'master']);
      assert.match(users.stdout, /later/, users.stderr);
      const list =
        "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE datname ~ 'idkit'";
      const left = await place.engine.call(['exec', database, 'psql', '-U', 'postgres', '-Atc', list]);
      assert.equal(left.trim(), 'idkit', 'no staged database is left');
    });

  it('up exits with 130 on Ctrl-C during a start, and with 15 after the timeout if the service does not become ready', async () => {
    const serves = 'command: ["serve", "--host", "0.0.0.0", "--port", "8080"]';
    const idles =
      'entrypoint: ["node", "-e", "console.log(\'idle\'); setInterval(() => {}, 1e9); process.on(\'SIGTERM\', () => process.exit())"]';
    place.platform.edit('compose.yaml', serves, idles);
    const child = spawn(process.execPath, [BIN, 'up', '--dir', place.platform.dir], {
      env: { ...process.env, ...place.engine.env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const stderr = text(child.stderr);
    const exit = once(child, 'exit');
    await waitUntil('the log says idle', async () => /idle/.test(await logOf('idkit')), PATIENCE);
    child.kill('SIGINT');
    const [code] = await exit;
    assert.equal(code, 130, await stderr);
    // The timeout must also be long enough for the components that start before the service.
    const ended = await place.platform.run(['up', '--timeout', '60']);
    assert.equal(ended.code, 15, ended.stderr);
    assert.match(
      ended.stderr,
      /IDKIT_UNREACHABLE: idkit did not come up: it was not UP within \d+ s: .*health\/ready/,
    );
    assert.match(ended.stderr, /hint: log: idle/);
    place.platform.edit('compose.yaml', idles, serves);
  });

  it('down removes every container but keeps the data for the next up, and a second down does nothing', async () => {
    const label = ['--filter', `label=com.docker.compose.project=${place.platform.project}`];
    await ok(['down']);
    assert.equal((await place.engine.call(['ps', '-aq', ...label])).trim(), '');
    const again = await ok(['down']);
    assert.equal(again.stderr.match(/: none$/gm)?.length, 4, again.stderr);
    await ok(['up', '--quiet']);
    const realms = await ok(['admin', 'realm', 'list']);
    assert.match(realms.stdout, /kept/);
  });

  const logOf = async (service: string) => {
    const id = await idOf(service);
    return id === '' ? '' : place.engine.call(['logs', id]).catch(() => '');
  };
}
