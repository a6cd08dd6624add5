import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { User } from '../../../src/model/index.ts';
import { putUserProfile } from '../../protocol/support/user-profile.ts';
import { closePasswords, openWorld, type World } from '../../protocol/support/world.ts';
import { messageOf, pageOf } from '../browser.ts';
import { AccountBrowser, type AccountRealm, accountOf, doneOf, realmWithAccount } from './account-realm.ts';

let world: World;
let acme: AccountRealm;
let names = 0;

before(async () => {
  world = await openWorld();
  acme = await realmWithAccount(world, 'acme');
});
after(async () => {
  await world.close();
  await closePasswords();
});

const current = async (user: User) => (await world.store.findUser(user.realmId, user.id))!;

async function enter(where = acme): Promise<{ user: User; browser: AccountBrowser }> {
  const user = await where.user(`user-${++names}`);
  const browser = new AccountBrowser(world, where.realm);
  await browser.enter(user.username);
  return { user, browser };
}

describe('the profile page', () => {
  it('shows and changes the user’s data, and marks a new e-mail address as unverified', async () => {
    const { user, browser } = await enter();
    const fields = pageOf(await browser.open('profile'), 'account-profile').fields;
    assert.deepEqual(
      fields.map(({ name, value, readOnly }) => [name, value, readOnly]),
      [
        ['username', user.username, true],
        ['email', user.email, false],
        ['firstName', 'First', false],
        ['lastName', 'Last', false],
      ],
    );
    await browser.change('profile', { email: user.email!, firstName: 'Ann', lastName: 'Last' });
    assert.equal((await current(user)).emailVerified, true);
    const done = await browser.change('profile', { email: 'New@Example.test', firstName: 'Ann' });
    assert.equal(doneOf(done), 'accountUpdatedMessage');
    const now = await current(user);
    assert.deepEqual(
      [now.email, now.firstName, now.lastName, now.emailVerified],
      ['new@example.test', 'Ann', 'Last', false],
    );
    const { type, clientId, userId, sessionId, details } = world.events.at(-1)!;
    assert.deepEqual([type, clientId, userId], ['UPDATE_PROFILE', 'account', user.id]);
    assert.equal(sessionId, accountOf(await browser.open('profile')).sessionId);
    assert.equal(details['previous_email'], user.email);
    assert.equal(details['updated_email'], 'new@example.test');
  });

  it('reports the invalid field and the reason, keeps the typed values and does not change the user', async () => {
    const { user, browser } = await enter();
    const before = await current(user);
    const answer = await browser.change('profile', { email: 'no address', firstName: '', lastName: '<b>' });
    assert.equal(messageOf(answer), 'accountNotUpdatedMessage');
    assert.deepEqual(
      pageOf(answer, 'account-profile').fields.map(({ value, fault }) => [value, fault?.key]),
      [
        [user.username, undefined],
        ['no address', 'error-invalid-email'],
        ['', 'error-user-attribute-required'],
        ['<b>', 'error-person-name-invalid-character'],
      ],
    );
    assert.deepEqual(await current(user), before);
    assert.equal(world.events.at(-1)!.type, 'UPDATE_PROFILE_ERROR');
  });

  it('rejects an e-mail address that another user has', async () => {
    const other = await acme.user('other');
    const { browser } = await enter();
    const answer = await browser.change('profile', { email: other.email! });
    const email = pageOf(answer, 'account-profile').fields.find(({ name }) => name === 'email');
    assert.equal(email?.fault?.key, 'emailExistsMessage');
  });

  it('changes the username only if the realm allows it (editUsernameAllowed)', async () => {
    const { user, browser } = await enter();
    await browser.change('profile', { username: 'stolen' });
    assert.equal((await current(user)).username, user.username);
    const free = await realmWithAccount(world, 'free', { editUsernameAllowed: true });
    const { user: renamed, browser: own } = await enter(free);
    assert.equal(doneOf(await own.change('profile', { username: 'Chosen' })), 'accountUpdatedMessage');
    assert.equal((await current(renamed)).username, 'chosen');
    assert.equal(accountOf(await own.open('profile')).username, 'chosen');
  });

  it('the default profile rejects a username with letters that look like Latin ones', async () => {
    const free = await realmWithAccount(world, 'lookalike', { editUsernameAllowed: true });
    const { user, browser } = await enter(free);
    // The first username contains Cyrillic letters. The second one contains the ring of an å as a separate character.
    for (const username of ['\u0440\u0430\u0443\u0440\u0430l', 'a\u030angstrom'])
      await browser.change('profile', { username });
    assert.equal((await current(user)).username, user.username);
    assert.equal(
      doneOf(await browser.change('profile', { username: '\u00e5ngstr\u00f6m' })),
      'accountUpdatedMessage',
    );
  });

  it('changes only what the realm’s profile allows users to change', async () => {
    const own = await realmWithAccount(world, 'profile');
    const both = { view: ['admin', 'user'], edit: ['admin', 'user'] };
    const attributes = [
      { name: 'username', permissions: both },
      { name: 'email', permissions: both },
      { name: 'department', permissions: both, validations: { options: { options: ['sales'] } } },
      { name: 'badge', permissions: { view: ['user'], edit: ['admin'] } },
      { name: 'salary', permissions: { view: ['admin'], edit: ['admin'] } },
    ];
    await putUserProfile(own.realm, attributes);
    const user = await own.user('ann', { attributes: { badge: ['7'], salary: ['1'] } });
    const browser = new AccountBrowser(world, own.realm);
    const page = pageOf(await browser.enter('ann'), 'account-profile');
    assert.deepEqual(
      page.fields.map(({ name, readOnly }) => [name, readOnly]),
      [
        ['username', true],
        ['email', false],
        ['department', false],
        ['badge', true],
      ],
    );
    const form = { department: 'sales', badge: '8', salary: '2', firstName: 'X', enabled: 'false', id: 'x' };
    await browser.change('profile', form);
    const now = await current(user);
    assert.deepEqual(now.attributes, { badge: ['7'], salary: ['1'], department: ['sales'] });
    assert.deepEqual([now.firstName, now.enabled], ['First', true]);
    await own.realm.put({
      do: 'put',
      user: { ...now, attributes: { ...now.attributes, department: ['sales', 'research'] } },
    });
    await browser.change('profile', { department: 'sales', email: 'ann@new.example.test' });
    assert.deepEqual((await current(user)).attributes['department'], ['sales', 'research']);
    const wrong = await browser.change('profile', { department: 'kitchen' });
    const fault = pageOf(wrong, 'account-profile').fields.find(({ name }) => name === 'department')?.fault;
    assert.ok(fault, 'the realm’s validators count');
  });
});
