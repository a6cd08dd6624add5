import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnvFile } from '../../src/config/index.ts';
import { BIN } from '../journey/idkit.ts';
import { missingEngine, startEngine, type TestEngine } from './engines.ts';
import { type ContainerPlatform, makePlatform } from './platform.ts';

// What goes wrong with containers that an engine runs, on one Docker daemon.

const PASSPHRASE = { IDKIT_BACKUP_PASSPHRASE: 'correct horse battery staple' };
const missing = missingEngine('docker');

describe('containers that go wrong', { skip: missing ?? false }, () => {
  const ends: (() => unknown)[] = [];
  let engine: TestEngine;
  before(async () => {
    engine = await startEngine(
      { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext,
      'docker',
    );
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
  });
  const idOf = async (platform: ContainerPlatform, service: string): Promise<string> =>
    (await engine.call(['ps', '-aq', '--filter', `name=${platform.project}_${service}`])).trim();

  it('a port that is taken is named, and what had started goes on (exit 1)', async (t) => {
    const platform = await makePlatform(t, engine);
    const server = createServer().listen(platform.ports[1], '127.0.0.1');
    await once(server, 'listening');
    const ended = await platform.run(['up']);
    server.close();
    assert.equal(ended.code, 1, ended.stderr);
    assert.match(
      ended.stderr,
      new RegExp(`error IDKIT_PORT_TAKEN: idkit did not start.*${platform.ports[1]}`),
    );
    assert.equal((await platform.run(['up', '--quiet'])).code, 0, 'once it is free everything comes up');
    const status = await platform.run(['status', '--json']);
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

  it('a service that ends over and over is told with the last lines of its log (exit 1)', async (t) => {
    const platform = await makePlatform(t, engine);
    platform.edit('compose.yaml', '"--port", "8080"', '"--port", "none"');
    const ended = await platform.run(['up']);
    assert.equal(ended.code, 1, ended.stderr);
    assert.match(
      ended.stderr,
      /IDKIT_FAILED: idkit did not come up: it ends and is started again over and over/,
    );
    assert.match(ended.stderr, /hint: log: error IDKIT_USAGE: .*--port/);
  });

  it('an image that cannot be had is named (exit 14)', async (t) => {
    const platform = await makePlatform(t, engine);
    const ended = await platform.run(['up'], { DATABASE_IMAGE: 'localhost/idkit-test/none:1' });
    assert.equal(ended.code, 14, ended.stderr);
    assert.match(ended.stderr, /database did not start, its image cannot be had/);
    assert.match(ended.stderr, /compose\.yaml names \$\{DATABASE_IMAGE/);
  });

  it('behind nginx the platform comes up too, and the service knows the public address', async (t) => {
    const platform = await makePlatform(t, engine, 'nginx');
    const tls = join(platform.dir, 'tls');
    mkdirSync(tls);
    const self = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-days', '1'];
    const made = spawnSync('openssl', [
      'req',
      ...self,
      '-keyout',
      join(tls, 'key.pem'),
      '-out',
      join(tls, 'cert.pem'),
    ]);
    assert.equal(made.status, 0, made.stderr.toString());
    const [, image] = /^NGINX_IMAGE=(.*)$/m.exec(engine.images) ?? [];
    const ended = await platform.run(['up'], { PROXY_IMAGE: image! });
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stdout, /^nginx +running +UP$/m);
    const smoke = await platform.run(['smoke', '--quiet']);
    assert.equal(smoke.code, 0, smoke.stderr);
    assert.match(smoke.stdout, new RegExp(`https://localhost:${platform.ports[0]}/realms/master`));
  });

  describe('of a platform that runs', () => {
    let platform: ContainerPlatform;
    before(async () => {
      platform = await makePlatform(
        { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext,
        engine,
      );
      const ended = await platform.run(['up', '--quiet']);
      assert.equal(ended.code, 0, ended.stderr);
    });

    it('the service is not root, cannot write its root, gains no rights, and ends by SIGTERM with 0', async () => {
      const id = await idOf(platform, 'idkit');
      const inside = await engine.call([
        'exec',
        id,
        'sh',
        '-c',
        'id -u; touch /x 2>&1; grep -E "CapEff|NoNewPrivs" /proc/1/status',
      ]);
      assert.match(inside, /^10001\n.*Read-only file system\nCapEff:\t0+\nNoNewPrivs:\t1\n$/s);
      await engine.call(['update', '--restart', 'no', id]);
      await engine.call(['stop', '-t', '20', id]);
      assert.equal((await engine.call(['inspect', '-f', '{{.State.ExitCode}}', id])).trim(), '0');
      await engine.call(['start', id]);
      const up = await platform.run(['up', '--quiet']);
      assert.equal(up.code, 0, `it comes up a second time in the same container: ${up.stderr}`);
    });

    it('no port of the database is published, and no secret stands in an argument or in compose.yaml', async () => {
      const database = await idOf(platform, 'database');
      const ports = await engine.call(['inspect', '-f', '{{json .HostConfig.PortBindings}}', database]);
      assert.match(ports, /^(\{\}|null)\n$/);
      const secrets = [...readEnvFile(join(platform.dir, '.env'))].filter(([key]) =>
        /KEY|PASSWORD|SECRET/.test(key),
      );
      assert.equal(secrets.length, 4);
      const ids = (await engine.call(['ps', '-q'])).trim().split('\n');
      const shown = await engine.call([
        'inspect',
        '-f',
        '{{json .Args}} {{json .Config.Cmd}} {{json .Config.Labels}}',
        ...ids,
      ]);
      for (const [key, value] of secrets) {
        assert.ok(!shown.includes(value), `${key} in an argument or a label`);
        assert.ok(!readFileSync(join(platform.dir, 'compose.yaml'), 'utf8').includes(value), key);
      }
    });

    it('a compose project that has no containers is named, with those that have (exit 15)', async () => {
      platform.edit('idkit.yaml', platform.project, 'elsewhere');
      const ended = await platform.run(['backup'], PASSPHRASE);
      platform.edit('idkit.yaml', 'elsewhere', platform.project);
      assert.equal(ended.code, 15, ended.stderr);
      assert.match(ended.stderr, /there is no container of database in the compose project elsewhere/);
      assert.match(ended.stderr, new RegExp(`docker has ${platform.project}`));
    });

    it('with the service stopped a backup takes the realm files from the snapshot, and recover-admin works (contract §3)', async () => {
      const id = await idOf(platform, 'idkit');
      await engine.call(['stop', id]);
      const ended = await platform.run(['backup', '--json'], PASSPHRASE);
      assert.equal(ended.code, 0, ended.stderr);
      assert.equal(ended.result()['realmSource'], 'snapshot');
      const recovered = await platform.run(['recover-admin']);
      assert.equal(recovered.code, 0, recovered.stderr);
      assert.equal((await platform.run(['up', '--quiet'])).code, 0);
      assert.equal((await platform.run(['smoke', '--quiet'])).code, 0, 'the new password works');
      const refused = await platform.run(['recover-admin']);
      assert.equal(refused.code, 11, refused.stderr);
      const database = await idOf(platform, 'database');
      const log = await engine.call(['logs', database]);
      assert.doesNotMatch(log, /terminated by signal|recovery/, 'the database never takes it for a crash');
    });

    it('a backup that is ended while pg_dump waits leaves no pg_dump in the container (exit 143)', async () => {
      const database = await idOf(platform, 'database');
      const lock = 'BEGIN; LOCK TABLE admin_event; SELECT pg_sleep(60); COMMIT;';
      const held = engine.call(['exec', database, 'psql', '-U', 'idkit', '-c', lock]).catch(() => 'ended');
      const child = spawn(process.execPath, [BIN, 'backup', '--dir', platform.dir], {
        env: { ...process.env, ...engine.env, ...PASSPHRASE },
        stdio: 'ignore',
      });
      await until(async () => (await processes(database)).includes('pg_dump'));
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      assert.equal(code, 143);
      assert.doesNotMatch(await processes(database), /pg_dump/);
      const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%'";
      await engine.call(['exec', database, 'psql', '-U', 'idkit', '-c', end]);
      await held;
      assert.equal((await platform.run(['backup', '--quiet'], PASSPHRASE)).code, 0);
    });

    it('a service that never is ready is told with the last lines of its log, within the time (exit 15)', async () => {
      platform.edit(
        'compose.yaml',
        'command: ["serve", "--host", "0.0.0.0", "--port", "8080"]',
        'entrypoint: ["node", "-e", "console.log(\'idle\'); setInterval(() => {}, 1e9)"]',
      );
      const ended = await platform.run(['up', '--timeout', '30']);
      assert.equal(ended.code, 15, ended.stderr);
      assert.match(
        ended.stderr,
        /IDKIT_UNREACHABLE: idkit did not come up: it was not UP within \d+ s: .*health\/ready/,
      );
      assert.match(ended.stderr, /hint: log: idle/);
    });

    const processes = (id: string) =>
      engine.call([
        'exec',
        id,
        'sh',
        '-c',
        'for d in /proc/[0-9]*; do tr "\\0" " " < $d/cmdline; echo; done 2>/dev/null',
      ]);
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 150; tries++) {
    if (await holds()) return;
    await sleep(200);
  }
  assert.fail('it did not come about within 30 s');
}
