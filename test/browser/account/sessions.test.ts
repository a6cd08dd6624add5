import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { EndingSessions } from '../../../src/model/index.ts';
import { closePasswords, openWorld, START, type World } from '../../protocol/support/world.ts';
import { clientAnswer, messageOf, pageOf } from '../browser.ts';
import { AccountBrowser, accountOf, doneOf, realmWithAccount } from './account-realm.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0';

let world: World;

before(async () => {
  world = await openWorld();
});
after(async () => {
  await world.close();
  await closePasswords();
});

async function realmOf(name: string) {
  const made = await realmWithAccount(world, name);
  await made.realm.client('web', {
    name: 'The shop',
    redirectUris: ['https://web.example.test/cb'],
    standardFlowEnabled: true,
  });
  const user = await made.user('alice');
  const browser = new AccountBrowser(world, made.realm, { userAgent: FIREFOX });
  await browser.enter('alice');
  return { realm: made.realm, addUser: made.user, user, browser };
}

describe('the sessions page', () => {
  it('shows the start, last use, address, device and clients of each session, with this browser’s session first', async () => {
    const { realm, browser } = await realmOf('list');
    const began = Math.floor(world.clock.now() / 1000);
    world.clock.pass(60);
    await realm.login('alice', {});
    world.clock.pass(60);
    const second = new AccountBrowser(world, realm, {
      userAgent: 'curl/8.0',
      remoteAddress: '192.0.2.9',
      secure: true,
    });
    await second.logIn(await second.authorize(), 'alice');
    const { sessions, more } = pageOf(await browser.open('sessions'), 'account-sessions');
    assert.equal(more, 0);
    assert.deepEqual(
      sessions.map(({ id, ...shown }) => shown),
      [
        {
          current: true,
          startedAt: began,
          lastAccessAt: began,
          ipAddress: '127.0.0.1',
          clients: [],
          device: 'Firefox 133, Linux',
        },
        {
          current: false,
          startedAt: began + 120,
          lastAccessAt: began + 120,
          ipAddress: '192.0.2.9',
          clients: [],
        },
        {
          current: false,
          startedAt: began + 60,
          lastAccessAt: began + 60,
          ipAddress: '127.0.0.1',
          clients: ['The shop'],
        },
      ],
    );
    assert.ok(began >= START);
  });

  it('does not show expired sessions, offline sessions, or sessions of other users', async () => {
    const { realm, addUser, browser } = await realmOf('left-out');
    await addUser('bob');
    await realm.login('bob');
    await realm.login('alice', { scope: 'offline_access' });
    const shown = pageOf(await browser.open('sessions'), 'account-sessions').sessions;
    assert.equal(shown.filter(({ current }) => !current).length, 0);
  });

  it('shows at most a hundred sessions, and states how many more there are', async () => {
    const { user, browser } = await realmOf('many');
    const [own] = await world.store.listUserSessions(user.id, false);
    for (let one = 0; one < 101; one++)
      await world.store.finishLogin({
        session: { ...own!.session, id: `session-${one}` },
        sessionMustExist: false,
      });
    const page = pageOf(await browser.open('sessions'), 'account-sessions');
    assert.equal(page.sessions.length, 100);
    assert.equal(page.more, 2);
    assert.equal(page.sessions[0]?.current, true);
    await browser.change('sessions', { others: 'on' });
    assert.equal((await world.store.listUserSessions(user.id, false)).length, 1);
  });

  it('ends one session, revokes its tokens, notifies its clients and logs an event', async () => {
    const { realm, user, browser } = await realmOf('one');
    const tokens = await realm.login('alice');
    const { sessions } = pageOf(await browser.open('sessions'), 'account-sessions');
    const other = sessions.find(({ current }) => !current)!;
    const notified: EndingSessions[] = [];
    world.ctx.sessionEndings = {
      prepare: async (_realm, ending) => async () => {
        notified.push(ending);
      },
    };
    const done = await browser.change('sessions', { session: other.id });
    delete world.ctx.sessionEndings;
    assert.equal(doneOf(done), 'accountSessionEndedMessage');
    assert.equal(messageOf(await browser.follow(done)), 'accountSessionEndedMessage');
    const event = world.events.at(-1)!;
    assert.deepEqual(
      [event.type, event.userId, event.sessionId, event.clientId],
      ['LOGOUT', user.id, other.id, 'account'],
    );
    await assert.rejects(realm.refresh(tokens.refresh_token));
    const [ending] = notified;
    assert.ok(ending !== undefined && 'sessions' in ending && notified.length === 1);
    assert.deepEqual(
      ending.sessions.map(({ session }) => session.id),
      [other.id],
    );
    accountOf(await browser.open('sessions'));
  });

  it('never ends a session of another user or of another realm', async () => {
    const { realm, addUser, browser } = await realmOf('mine');
    const bob = await addUser('bob');
    await realm.login('bob');
    const far = await realmOf('far');
    const targets = [
      (await world.store.listUserSessions(bob.id, false))[0]!.session.id,
      (await world.store.listUserSessions(far.user.id, false))[0]!.session.id,
      'nothing',
      '',
    ];
    const events = world.events.length;
    for (const session of targets) await browser.change('sessions', { session });
    await browser.change('sessions', { others: 'on' });
    assert.equal((await world.store.listUserSessions(bob.id, false)).length, 1);
    assert.equal((await world.store.listUserSessions(far.user.id, false)).length, 1);
    assert.ok(world.events.slice(events).every(({ type }) => type !== 'LOGOUT'));
  });

  it('ends all other sessions, and keeps this browser’s session and offline access', async () => {
    const { realm, user, browser } = await realmOf('others');
    const tokens = await realm.login('alice');
    const offline = await realm.login('alice', { scope: 'offline_access' });
    const second = new AccountBrowser(world, realm);
    await second.enter('alice');
    const done = await browser.change('sessions', { others: 'on' });
    assert.equal(doneOf(done), 'accountSessionsEndedMessage');
    const left = await world.store.listUserSessions(user.id, false);
    assert.deepEqual(
      left.map(({ session }) => session.id),
      [accountOf(await browser.open('sessions')).sessionId],
    );
    await assert.rejects(realm.refresh(tokens.refresh_token));
    await realm.refresh(offline.refresh_token);
    assert.equal(clientAnswer(await second.authorize({ prompt: 'none' }))['error'], 'login_required');
  });

  it('ends the session of this browser, deletes its cookies and loads the clients’ logout frames', async () => {
    const { realm, user, browser } = await realmOf('self');
    const web = (await world.store.findClient(realm.fixture.realm.id, 'web'))!;
    const { sessionId, stateChecker } = accountOf(await browser.open('profile'));
    const attributes = { 'frontchannel.logout.url': 'https://web.example.test/out' };
    await realm.put({ do: 'put', client: { ...web, frontchannelLogout: true, attributes } });
    const { code } = clientAnswer(await browser.authorize());
    await realm.tokens({
      grant_type: 'authorization_code',
      client_id: 'web',
      code: code!,
      redirect_uri: 'https://web.example.test/cb',
    });
    const answer = await browser.send('POST', browser.url('sessions'), { stateChecker, session: sessionId });
    const page = pageOf(answer, 'frontchannel-logout');
    assert.match(page.frames[0]!.url, /^https:\/\/web\.example\.test\/out\?iss=.*&sid=/);
    assert.match(page.continueAt ?? '', /\/realms\/self\/account\/$/);
    assert.deepEqual(await world.store.listUserSessions(user.id, false), []);
    assert.ok(!browser.cookies.has('KEYCLOAK_IDENTITY') && !browser.cookies.has('KEYCLOAK_SESSION'));

    const again = new AccountBrowser(world, realm);
    const account = accountOf(await again.enter('alice'));
    const info = await again.send('POST', again.url('sessions'), {
      stateChecker: account.stateChecker,
      session: account.sessionId,
    });
    pageOf(info, 'info');
    assert.equal(messageOf(info), 'successLogout');
  });
});
