import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDumpInspector } from '../../src/backupset/index.ts';
import { Secret } from '../../src/core/index.ts';
import { openPlatform, type Platform } from '../../src/platform/open.ts';
import {
  form,
  login,
  makePlatform,
  refresh,
  SECRETS,
  startTestService,
  type TestPlatform,
  tokenUrl,
} from '../http/service.ts';
import { waitUntil } from '../wait-until.ts';

const masterKey = new Secret(SECRETS.IDKIT_MASTER_KEY);
const signal = new AbortController().signal;

/** Dumps the database into memory. Calls `atChunk` after each chunk and waits for its promise. */
async function dump(
  opened: Platform,
  atChunk = async () => {},
): Promise<{ chunks: Uint8Array[]; summary: Awaited<ReturnType<Platform['database']['dump']>> }> {
  const chunks: Uint8Array[] = [];
  const summary = await opened.database.dump(
    async (chunk) => {
      chunks.push(Buffer.from(chunk));
      await atChunk();
    },
    { signal },
  );
  return { chunks, summary };
}

async function* feed(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** Creates a platform whose service has run once and is stopped. */
async function servedPlatform(): Promise<{
  platform: TestPlatform;
  opened: Platform;
  refreshToken: string;
}> {
  const platform = makePlatform();
  const service = await startTestService({ platform, flags: { baseUrl: 'http://idkit.test' } });
  const { refresh_token: refreshToken } = await login(service);
  await service.stop();
  const opened = await openPlatform(await platform.settings({ baseUrl: 'http://idkit.test' }));
  return { platform, opened, refreshToken: refreshToken! };
}

test('info() returns the kind, the versions and the location of an embedded platform', async () => {
  const { platform, opened } = await servedPlatform();
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.deepEqual(opened.info(), {
    runtime: 'embedded',
    service: 'idkit',
    serviceVersion: version,
    database: 'sqlite',
    databaseLocation: join(platform.dir, 'data', 'idkit.db'),
  });
  platform.remove();
});

test('dumps one consistent snapshot while the service is running', async () => {
  const platform = makePlatform();
  const opened = await openPlatform(await platform.settings());
  const service = await startTestService({ platform });
  try {
    let busy = true;
    let rotations = 0;
    const writers = Array.from({ length: 4 }, async () => {
      let token = (await login(service))['refresh_token']!;
      while (busy) {
        const answer = await refresh(service, token);
        assert.equal(answer.status, 200);
        token = answer.body['refresh_token']!;
        rotations++;
      }
    });
    const working = Promise.all(writers);
    const rotated = async () => {
      const before = rotations;
      await Promise.race([working, waitUntil('a token is rotated', () => rotations > before, { every: 5 })]);
    };
    try {
      for (const id of ['round-1', 'round-2']) {
        const { chunks, summary } = await dump(opened, rotated);
        assert.match(Buffer.concat(chunks).toString().slice(-40), /-- idkit dump complete\n$/);
        await opened.database.load(feed(chunks), { id, masterKey, signal });
        const side = await opened.database.checkLoaded(id, masterKey);
        assert.deepEqual(side.realms, summary.realms);
        assert.deepEqual(side.realms, [{ realm: 'master', users: 1 }]);
        await opened.database.discard(id, { previous: true });
      }
    } finally {
      busy = false;
      await working;
    }
  } finally {
    await service.stop();
    platform.remove();
  }
});

test('while the service is stopped, reads the same realm representations as GET /admin/realms/{realm}', async () => {
  const { platform, opened } = await servedPlatform();
  const before = readdirSync(join(platform.dir, 'data')).sort();
  const realms = await opened.database.readSnapshot();
  assert.deepEqual(
    realms.map(({ realm }) => realm),
    ['master'],
  );
  const representation = realms[0]!.representation as Record<string, unknown>;
  assert.equal(representation['realm'], 'master');
  assert.equal(representation['accessTokenLifespan'], 300);
  assert.ok(!('users' in representation) && !('clients' in representation));
  assert.deepEqual(readdirSync(join(platform.dir, 'data')).sort(), before, 'reading leaves no files behind');
  platform.remove();
});

test('serves the contents of a dump after load, check and swap, and the swap can be undone', async () => {
  const { platform, opened, refreshToken } = await servedPlatform();
  try {
    const { chunks } = await dump(opened);

    // Changes that were made after the dump disappear with the swap and return when it is undone.
    await opened.service.start();
    await opened.service.waitUntilReady(60);
    const address = (await opened.service.baseUrl())!;
    const answer = await fetch(`${address}/admin/realms`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${(await login({ address }))['access_token']}`,
        'content-type': 'application/json',
      },
      body: '{"realm":"later","enabled":true}',
    });
    assert.equal(answer.status, 201, await answer.text());
    await opened.service.stop();

    await opened.database.load(feed(chunks), { id: 'r1', masterKey, signal });
    await opened.database.checkLoaded('r1', masterKey);
    await opened.database.swap('r1');
    await opened.database.swap('r1');
    await opened.service.start();
    await opened.service.waitUntilReady(60);
    const restored = { address: (await opened.service.baseUrl())! };
    assert.equal((await fetch(`${restored.address}/realms/later`)).status, 404);
    assert.equal(
      (await refresh(restored, refreshToken)).status,
      200,
      'a refresh token unused since the dump works',
    );
    await opened.service.stop();
    await opened.service.stop();

    await opened.database.swapBack('r1');
    await opened.database.swapBack('r1');
    await opened.service.start();
    assert.equal((await fetch(`${await opened.service.baseUrl()}/realms/later`)).status, 200);
    await opened.service.stop();
    await opened.database.discard('r1', { previous: true });
    const left = readdirSync(join(platform.dir, 'data')).filter((name) => /restore-|pre-/.test(name));
    assert.deepEqual(left, []);
  } finally {
    await opened.service.stop();
    platform.remove();
  }
});

test('rejects a swap, a recovery and a new master key while the service is running (IDKIT_SERVICE_RUNNING)', async () => {
  const { platform, opened } = await servedPlatform();
  const { chunks } = await dump(opened);
  await opened.database.load(feed(chunks), { id: 'r1', masterKey, signal });
  const service = await startTestService({ platform });
  try {
    const refused = { code: 'IDKIT_SERVICE_RUNNING', exitCode: 11 };
    await assert.rejects(opened.database.swap('r1'), refused);
    await assert.rejects(opened.database.recoverAdministrator('admin'), refused);
    await assert.rejects(
      opened.database.changeMasterKey(masterKey, new Secret(Buffer.alloc(32, 1).toString('base64'))),
      refused,
    );
    await login(service);
  } finally {
    await service.stop();
    platform.remove();
  }
});

test('rejects a truncated dump or one with an unexpected statement as IDKIT_DAMAGED, and leaves nothing behind', async () => {
  const { platform, opened } = await servedPlatform();
  const { chunks } = await dump(opened);
  const text = Buffer.concat(chunks).toString();
  for (const sql of [`${text.slice(0, -60)}`, `ATTACH DATABASE '/tmp/x' AS x;\n${text}`]) {
    await assert.rejects(opened.database.load(feed([Buffer.from(sql)]), { id: 'bad', masterKey, signal }), {
      code: 'IDKIT_DAMAGED',
    });
    assert.ok(!readdirSync(join(platform.dir, 'data')).some((name) => name.includes('bad')));
  }
  platform.remove();
});

test('rejects a loaded database that was encrypted with another master key as IDKIT_MASTER_KEY_WRONG', async () => {
  const { platform, opened } = await servedPlatform();
  const { chunks } = await dump(opened);
  await opened.database.load(feed(chunks), { id: 'r1', masterKey, signal });
  const other = new Secret(Buffer.alloc(32, 1).toString('base64'));
  await assert.rejects(opened.database.checkLoaded('r1', other), { code: 'IDKIT_MASTER_KEY_WRONG' });
  platform.remove();
});

test('checks before the load that a dump fits the platform: its kind, its schema, the server and the master key', async () => {
  const { platform, opened } = await servedPlatform();
  const settings = await platform.settings();
  const { chunks } = await dump(opened);
  const inspector = createDumpInspector();
  for (const chunk of chunks) inspector.write(chunk);
  const report = inspector.end();
  const before = readdirSync(join(platform.dir, 'data')).sort();
  await opened.database.checkDump(report);
  const refuses = async (change: Partial<typeof settings>, dumped: typeof report, code: string) => {
    const other = await openPlatform({ ...settings, ...change });
    await assert.rejects(other.database.checkDump(dumped), { code });
  };
  await refuses({}, { ...report, kind: 'postgres' }, 'IDKIT_VERSION');
  await refuses({ service: 'keycloak' }, report, 'IDKIT_VERSION');
  await refuses({}, { ...report, schemaVersion: 999 }, 'IDKIT_VERSION');
  await refuses({ masterKey: undefined }, report, 'IDKIT_MASTER_KEY_MISSING');
  await refuses({ masterKey: new Secret('c2hvcnQ=') }, report, 'IDKIT_MASTER_KEY_INVALID');
  const other = new Secret(Buffer.alloc(32, 1).toString('base64'));
  await refuses({ masterKey: other }, report, 'IDKIT_MASTER_KEY_WRONG');
  const { meta: _, ...without } = report;
  await refuses({}, without, 'IDKIT_DAMAGED');
  await (await openPlatform({ ...settings, masterKey: other, masterKeyOld: masterKey })).database.checkDump(
    report,
  );
  assert.deepEqual(readdirSync(join(platform.dir, 'data')).sort(), before);
  platform.remove();
});

test('recovers an administrator who is locked out, and creates one who does not exist', async () => {
  const { platform, opened } = await servedPlatform();
  const reset = await opened.database.recoverAdministrator('admin');
  const made = await opened.database.recoverAdministrator('Rescue');
  const service = await startTestService({ platform });
  try {
    for (const [username, password] of [
      ['admin', reset.password],
      ['rescue', made.password],
    ] as const) {
      const fields = {
        grant_type: 'password',
        client_id: 'admin-cli',
        username,
        password: password.reveal(),
      };
      const answer = await fetch(tokenUrl(service), form(fields));
      assert.equal(answer.status, 200, username);
      const token = ((await answer.json()) as { access_token: string }).access_token;
      const list = await fetch(`${service.address}/admin/realms`, {
        headers: { authorization: `Bearer ${token}` },
      });
      assert.equal(list.status, 200, `${username} administers`);
    }
    await assert.rejects(login(service), /400/, 'the previous password no longer works');
  } finally {
    await service.stop();
    platform.remove();
  }
});

test('encrypts every secret with another master key, and then only that key opens the database', async () => {
  const { platform, opened } = await servedPlatform();
  const next = new Secret(Buffer.alloc(32, 1).toString('base64'));
  const { records } = await opened.database.changeMasterKey(masterKey, next);
  assert.ok(records > 0);
  await assert.rejects(startTestService({ platform }), { code: 'IDKIT_MASTER_KEY_WRONG' });
  const settings = await platform.settings();
  const renewed = await openPlatform({ ...settings, masterKey: next });
  await renewed.service.start();
  await login({ address: (await renewed.service.baseUrl())! });
  await renewed.service.stop();
  platform.remove();
});

test('changes the master key of a platform that has never served, which has no secrets to encrypt', async () => {
  const platform = makePlatform();
  const opened = await openPlatform(await platform.settings());
  const next = new Secret(Buffer.alloc(32, 1).toString('base64'));
  assert.deepEqual(await opened.database.changeMasterKey(masterKey, next), { records: 0 });
  assert.ok(!existsSync(join(platform.dir, 'data', 'idkit.db')));
  platform.remove();
});

test('fails with IDKIT_UNREACHABLE if the service does not become ready', async () => {
  const platform = makePlatform();
  const opened = await openPlatform(await platform.settings());
  await assert.rejects(opened.service.waitUntilReady(0.2), { code: 'IDKIT_UNREACHABLE', exitCode: 15 });
  platform.remove();
});
