import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { Secret, systemRandom, uuid } from '../../../src/core/index.ts';
import { openPasswords } from '../../../src/crypto/index.ts';
import { openKeyRing, type ProtocolContext } from '../../../src/protocol/index.ts';
import { openStore } from '../../../src/store/open.ts';
import { fixtureClient, fixtureRealm, fixtureUser } from '../../protocol/support/fixture-realm.ts';
import {
  BASE_URL,
  PASSWORD,
  type RealmInWorld,
  TestClock,
  type World,
} from '../../protocol/support/world.ts';
import { Browser, CALLBACK, clientAnswer, messageOf, pageOf } from '../browser.ts';

it('a login in progress survives a restart of the service, and a finished login remains valid', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'idkit-restart-'));
  const clock = new TestClock();
  const masterKey = new Secret(randomBytes(32).toString('base64'));
  const passwords = openPasswords({ threads: 1 });
  const open = async (): Promise<ProtocolContext> => ({
    store: await openStore({ file: join(directory, 'idkit.db'), masterKey, clock }),
    clock,
    random: systemRandom,
    keys: openKeyRing(),
    passwords,
    events: { emit: () => {} },
    baseUrl: BASE_URL,
  });
  const fixture = await fixtureRealm('acme', {}, { clock, random: systemRandom });
  const usual = { redirectUris: [CALLBACK], standardFlowEnabled: true };
  const client = fixtureClient(fixture, 'web', systemRandom, usual);
  const user = fixtureUser(fixture, 'alice', systemRandom, { requiredActions: ['TERMS_AND_CONDITIONS'] });
  const hash = await passwords.hash(PASSWORD, { algorithm: 'argon2' });
  const credential = { id: uuid(systemRandom), userId: user.id, type: 'password', priority: 1, ...hash };
  const world = { ctx: await open() };
  const restart = async () => {
    await world.ctx.store.close();
    world.ctx = await open();
  };
  const browser = new Browser(world as World, { name: 'acme' } as RealmInWorld);
  try {
    await world.ctx.store.apply([
      ...fixture.changes,
      { do: 'create', client },
      { do: 'create', user },
      { do: 'create', credential: { ...credential, createdDate: clock.now(), secrets: {} } },
    ]);
    let page = await browser.authorize();
    await restart();
    page = await browser.logIn(page, 'alice', { password: 'wrong' });
    assert.equal(messageOf(page), 'invalidUserMessage');
    await restart();
    page = await browser.follow(await browser.logIn(page, 'alice'));
    pageOf(page, 'terms');
    await restart();
    assert.ok(clientAnswer(await browser.submit(page, { accept: 'Yes' }))['code']);
    await restart();
    assert.ok(clientAnswer(await browser.authorize({ prompt: 'none' }))['code']);
  } finally {
    await world.ctx.store.close();
    await passwords.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
