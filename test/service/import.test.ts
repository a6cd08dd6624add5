import assert from 'node:assert/strict';
import { appendFileSync, cpSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { reservePort } from '../../src/service/listener/listen.ts';
import { administrator } from '../http/administrator.ts';
import { form, makePlatform, startTestService, tokenUrl } from '../http/service.ts';

const exports_ = new URL('../fixtures/keycloak/exports/', import.meta.url);

const names = ['acme', 'globex', 'initech'];

function copyExports(dir: string): void {
  for (const name of names)
    cpSync(new URL(`${name}-realm.json`, exports_), join(dir, 'import', `${name}-realm.json`));
}

test('imports realm files once and moves them to import/done/, where only their owner can read them', async () => {
  const platform = makePlatform();
  const waiting = join(platform.dir, 'import');
  try {
    copyExports(platform.dir);
    const first = await startTestService({ platform });
    assert.deepEqual([...first.imported].sort(), names);
    for (const name of first.imported)
      assert.equal((await fetch(`${first.address}/realms/${name}`)).status, 200, name);
    const answer = await fetch(
      tokenUrl(first, 'acme'),
      form({ grant_type: 'password', client_id: 'x', username: 'x', password: 'x' }),
    );
    assert.equal(answer.status, 401);
    await first.stop();
    assert.deepEqual(readdirSync(waiting), ['done']);
    for (const name of readdirSync(join(waiting, 'done')))
      assert.equal(statSync(join(waiting, 'done', name)).mode & 0o777, 0o600, name);
    assert.equal(statSync(join(waiting, 'done')).mode & 0o777, 0o700);

    // An imported file can be in `import/` if the service was killed before it moved the file, or if another replica
    // imported a copy.
    copyExports(platform.dir);
    const second = await startTestService({ platform });
    assert.deepEqual(second.imported, []);
    await second.stop();
    assert.deepEqual(readdirSync(waiting), ['done']);
    assert.equal(readdirSync(join(waiting, 'done')).length, 6);
  } finally {
    platform.remove();
  }
});

test('removes imported files if realmFiles.remove is set', async () => {
  const platform = makePlatform();
  try {
    writeFileSync(join(platform.dir, 'import', 'x.json'), JSON.stringify({ realm: 'x', enabled: true }));
    appendFileSync(join(platform.dir, 'idkit.yaml'), 'realmFiles: { remove: true }\n');
    const service = await startTestService({ platform });
    assert.deepEqual(service.imported, ['x']);
    await service.stop();
    assert.deepEqual(readdirSync(join(platform.dir, 'import')), []);
  } finally {
    platform.remove();
  }
});

/** Writes a realm to one file and its users to others, as Keycloak's `kc export --dir` does. */
function writeRealmWithUsers(dir: string): void {
  const write = (name: string, value: unknown) =>
    writeFileSync(join(dir, 'import', name), JSON.stringify(value));
  const users = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({ username: `user-${from + index}`, enabled: true }));
  write('split-realm.json', { realm: 'split', enabled: true, users: users(0, 3) });
  write('split-users-0.json', { realm: 'split', users: users(3, 53) });
  write('split-users-1.json', { realm: 'split', users: users(53, 60) });
  write('two.json', [
    { realm: 'one', enabled: true },
    { realm: 'two', enabled: true },
  ]);
}

test('reads all files of a realm together, and splits a file of several realms', async () => {
  const platform = makePlatform();
  try {
    writeRealmWithUsers(platform.dir);
    const service = await startTestService({ platform });
    assert.deepEqual([...service.imported].sort(), ['one', 'split', 'two']);
    const admin = await administrator(service);
    assert.equal((await admin('GET', '/split/users/count')).json, 60);
    const bare = service.log.filter(({ message }) => message.includes('contains neither clients nor users'));
    assert.deepEqual(bare.map(({ fields }) => fields['realm']).sort(), ['one', 'two']);
    await service.stop();
    assert.equal(readdirSync(join(platform.dir, 'import', 'done')).length, 4);
  } finally {
    platform.remove();
  }
});

test('the error for a user names the file that contains the user', async () => {
  const platform = makePlatform();
  try {
    writeRealmWithUsers(platform.dir);
    const users = [{ username: 'fine' }, { username: 'user-1' }];
    writeFileSync(
      join(platform.dir, 'import', 'split-users-1.json'),
      JSON.stringify({ realm: 'split', users }),
    );
    await assert.rejects(startTestService({ platform }), /split-users-1\.json: \$\.users\[54\]\.username/);
  } finally {
    platform.remove();
  }
});

test('rejects a masked secret, but generates and reports a new one with --new-secrets', async () => {
  const platform = makePlatform();
  try {
    const clients = [{ clientId: 'web', secret: '**********' }];
    const file = join(platform.dir, 'import', 'x.json');
    writeFileSync(file, JSON.stringify({ realm: 'x', enabled: true, clients }));
    await assert.rejects(startTestService({ platform }), /x\.json: \$\.clients\[0\]\.secret: is the mask/);
    const service = await startTestService({ platform, serve: { newSecrets: true } });
    const reported = service.log.find(({ message }) => message.includes('new random secret'));
    assert.equal(reported?.fields['path'], '$.clients[0].secret');
    await service.stop();
  } finally {
    platform.remove();
  }
});

test('responds with 503 while realm files are being imported, and health reports the reason', async () => {
  const platform = makePlatform();
  try {
    const users = Array.from({ length: 6000 }, (_, index) => ({ username: `user-${index}`, enabled: true }));
    writeFileSync(
      join(platform.dir, 'import', 'many.json'),
      JSON.stringify({ realm: 'many', enabled: true, users }),
    );
    const { port, release } = await reservePort('127.0.0.1', 0, 'public');
    release();
    const states: string[] = [];
    const starting = startTestService({
      platform,
      flags: { 'listen.port': String(port) },
      serve: {
        progress: ({ realm, phase, done, total }) => states.push(`${realm} ${phase} ${done} of ${total}`),
      },
    });
    let ready = false;
    const started = starting.then((service) => {
      ready = true;
      return service;
    });
    const statuses = new Map<string, Set<number>>();
    const note = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
      if (answer === undefined || ready) return;
      await answer.arrayBuffer();
      statuses.set(path, (statuses.get(path) ?? new Set()).add(answer.status));
      if (answer.status === 503 && path === '/realms/master')
        assert.equal(answer.headers.get('retry-after'), '5');
    };
    while (!ready) {
      for (const path of ['/realms/master', '/health/live', '/health/ready']) await note(path);
      await Promise.race([started, pause(5)]);
    }
    const service = await started;
    assert.deepEqual([...statuses.get('/realms/master')!], [503]);
    assert.deepEqual([...statuses.get('/health/live')!], [200]);
    assert.deepEqual([...statuses.get('/health/ready')!], [503]);
    assert.deepEqual(states[0], 'many checked 500 of 6000');
    assert.ok(states.includes('many prepared 5500 of 6000'), states.join('\n'));
    assert.deepEqual(states.slice(-2), ['many stored 0 of 6000', 'many imported 6000 of 6000']);
    assert.equal((await fetch(`${service.address}/realms/many`)).status, 200);
    await service.stop();
  } finally {
    platform.remove();
  }
});

test('logs the demands of an imported realm that the service does not enforce', async () => {
  const platform = makePlatform();
  try {
    writeFileSync(
      join(platform.dir, 'import', 'x.json'),
      JSON.stringify({
        realm: 'x',
        enabled: true,
        identityProviders: [{ alias: 'corp', providerId: 'oidc', enabled: true, config: {} }],
      }),
    );
    const service = await startTestService({ platform });
    assert.ok(
      service.unenforced.some((entry) => entry.realm === 'x' && entry.path.startsWith('$.identityProviders')),
    );
    assert.ok(
      service.log.some(
        (line) => line.level === 'warn' && JSON.stringify(line.fields).includes('identityProviders'),
      ),
    );
    await service.stop();
  } finally {
    platform.remove();
  }
});

const unused: readonly { what: string; files: Record<string, unknown>; named: RegExp }[] = [
  {
    what: 'users without their realm',
    files: { 'x-users-0.json': { realm: 'x', users: [] } },
    named: /x-users-0\.json is not used: it contains users of realm x/,
  },
  {
    what: 'a second file of a realm',
    files: { 'x.json': { realm: 'x' }, 'y.json': { realm: 'x' } },
    named: /y\.json is not used: realm x is in x\.json already/,
  },
  {
    what: 'users of a federation',
    files: { 'x.json': { realm: 'x' }, 'x-federated-users-0.json': { realm: 'x', federatedUsers: [] } },
    named: /x-federated-users-0\.json is not used/,
  },
  { what: 'another kind of file', files: { 'x.txt': 'text' }, named: /x\.txt is not used/ },
  {
    what: 'a realm that exists already',
    files: { 'master.json': { realm: 'master', enabled: true } },
    named: /master\.json is not used: realm master exists already/,
  },
];
for (const { what, files, named } of unused)
  test(`serve exits with IDKIT_IMPORT for ${what}, names the file and imports nothing`, async () => {
    const platform = makePlatform();
    try {
      for (const [name, value] of Object.entries(files))
        writeFileSync(join(platform.dir, 'import', name), JSON.stringify(value));
      await assert.rejects(
        startTestService({ platform }),
        (error: Error & { code: string; hints: string[] }) => {
          assert.equal(error.code, 'IDKIT_IMPORT');
          assert.match(error.message, named);
          assert.match(error.hints.join(), /remove/);
          return true;
        },
      );
      assert.deepEqual(readdirSync(join(platform.dir, 'import')).sort(), Object.keys(files).sort());
    } finally {
      platform.remove();
    }
  });

const faults: readonly { what: string; text: string; named: RegExp }[] = [
  { what: 'broken JSON', text: '{"realm": "x",', named: /x\.json/ },
  { what: 'a list instead of a realm', text: '[1]', named: /x\.json.*\$/s },
  { what: 'a wrong type', text: '{"realm":"x","enabled":"maybe"}', named: /x\.json.*\$\.enabled/s },
  { what: 'an unknown field', text: '{"realm":"x","enabeld":true}', named: /x\.json.*enabeld.*enabled/s },
  { what: 'a realm name that is a path', text: '{"realm":"../x"}', named: /x\.json.*\$\.realm/s },
];
for (const { what, text, named } of faults)
  test(`serve exits with IDKIT_IMPORT for a realm file with ${what}, names the file and imports nothing`, async () => {
    const platform = makePlatform();
    try {
      writeFileSync(join(platform.dir, 'import', 'x.json'), text);
      await assert.rejects(
        startTestService({ platform }),
        (error: Error & { code: string; exitCode: number }) => {
          assert.equal(error.code, 'IDKIT_IMPORT');
          assert.equal(error.exitCode, 2);
          assert.match(error.message, named);
          return true;
        },
      );
    } finally {
      platform.remove();
    }
  });
