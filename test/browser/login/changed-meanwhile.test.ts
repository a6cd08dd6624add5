import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client, User } from '../../../src/model/index.ts';
import { clientAnswer, errorOf, messageOf } from '../browser.ts';
import { openLoginWorld } from '../login-world.ts';
import { oneTimePassword } from '../one-time-password.ts';

const { newBrowser, newClient, newRealm, newUser, realm, userWithOtp, world } = await openLoginWorld();

describe('records that change during a login', () => {
  it('a user who is disabled or deleted at any step cannot finish the login', async () => {
    const steps: [step: string, make: () => Promise<User>, client: string, form: Record<string, string>][] = [
      ['password', () => newUser(), 'web', {}],
      ['code', () => userWithOtp(), 'web', { otp: 'now' }],
      ['terms', () => newUser({ requiredActions: ['TERMS_AND_CONDITIONS'] }), 'web', { accept: 'Yes' }],
      ['profile', () => newUser({ requiredActions: ['UPDATE_PROFILE'] }), 'web', { firstName: 'A' }],
      [
        'new password',
        () => newUser({ requiredActions: ['UPDATE_PASSWORD'] }),
        'web',
        { 'password-new': 'Other-Horse-2', 'password-confirm': 'Other-Horse-2' },
      ],
      ['consent', () => newUser(), (await newClient({ consentRequired: true })).clientId, { accept: 'Yes' }],
    ];
    for (const [step, make, client_id, fields] of steps)
      for (const change of ['disabled', 'deleted'] as const) {
        const user = await make();
        const browser = newBrowser();
        let form = await browser.authorize({ client_id });
        if (step !== 'password') form = await browser.logIn(form, user.username);
        if (form.show === 'redirect') form = await browser.follow(form);
        const current = (await world.store.findUser(user.realmId, user.id))!;
        await realm.put(
          change === 'deleted'
            ? { do: 'remove', what: 'user', id: user.id }
            : { do: 'put', user: { ...current, enabled: false } },
        );
        const sent = 'otp' in fields ? { otp: oneTimePassword(world) } : fields;
        const answer =
          step === 'password' ? await browser.logIn(form, user.username) : await browser.submit(form, sent);
        assert.equal(answer.show, 'page', `${step}, ${change}`);
        assert.ok(!browser.cookies.has('KEYCLOAK_IDENTITY'), `${step}, ${change}`);
        assert.equal((await world.store.listUserSessions(user.id, false)).length, 0, `${step}, ${change}`);
      }
  });

  it('keeps both a required action that a user completes and roles that are assigned to the user in parallel', async () => {
    const realmId = realm.fixture.realm.id;
    const roleIds = ['given-0', 'given-1', 'given-2'];
    for (const id of roleIds)
      await realm.put({ do: 'create', role: { id, realmId, name: id, attributes: {}, compositeIds: [] } });
    const actions: Record<string, Record<string, string>> = {
      TERMS_AND_CONDITIONS: { accept: 'Yes' },
      UPDATE_PROFILE: { firstName: 'A' },
      UPDATE_PASSWORD: { 'password-new': 'Other-Horse-2', 'password-confirm': 'Other-Horse-2' },
    };
    for (const [action, fields] of Object.entries(actions)) {
      const user = await newUser({ requiredActions: [action] });
      const browser = newBrowser();
      const login = await browser.logIn(await browser.authorize({ client_id: 'web' }), user.username);
      const form = login.show === 'redirect' ? await browser.follow(login) : login;
      const give = async () => {
        for (const id of roleIds) await world.store.apply([{ do: 'assign', userId: user.id, roleIds: [id] }]);
      };
      await Promise.all([browser.submit(form, fields), give()]);
      const after = (await world.store.findUser(user.realmId, user.id))!;
      assert.deepEqual(after.requiredActions, [], action);
      assert.ok(
        roleIds.every((id) => after.roleIds.includes(id)),
        action,
      );
    }
  });

  it('a client that is disabled, or whose flow is disabled, gets neither a code nor tokens', async () => {
    const changes: [change: Partial<Client>, type: string, message: string][] = [
      [{ enabled: false }, 'code', 'clientDisabledMessage'],
      [{ standardFlowEnabled: false }, 'code', 'unauthorized_client'],
      [{ implicitFlowEnabled: false }, 'id_token token', 'unauthorized_client'],
      [{ standardFlowEnabled: false }, 'code id_token', 'unauthorized_client'],
    ];
    for (const [change, response_type, message] of changes) {
      const client = await newClient({ implicitFlowEnabled: true });
      const browser = newBrowser();
      const form = await browser.authorize({ client_id: client.clientId, response_type, nonce: 'n-1' });
      await realm.put({ do: 'put', client: { ...client, ...change } });
      const answer = await browser.logIn(form, 'alice');
      assert.equal(
        answer.show === 'redirect' ? clientAnswer(answer)['error'] : messageOf(answer),
        message,
        JSON.stringify(change),
      );
      assert.ok(!browser.cookies.has('KEYCLOAK_IDENTITY'));
    }
  });

  it('a login cannot continue if the realm is disabled', async () => {
    const { realm: own, user } = await newRealm();
    const browser = newBrowser(own);
    const form = await browser.authorize();
    const { realm: stored } = (await world.store.findRealm(own.name))!;
    await own.put({ do: 'put', realm: { ...stored, settings: { ...stored.settings, enabled: false } } });
    assert.equal(errorOf(await browser.logIn(form, user.username)), '400 realmNotEnabledMessage');
    assert.equal((await world.store.listUserSessions(user.id, false)).length, 0);
  });

  it('a login cannot continue if the realm now has a demand that idkit does not enforce (docs/keycloak/tokens.md#demands)', async () => {
    const { realm: own, user } = await newRealm();
    const browser = newBrowser(own);
    const form = await browser.authorize();
    const { realm: stored } = (await world.store.findRealm(own.name))!;
    const authenticationExecutions = [{ authenticator: 'x', requirement: 'REQUIRED' }];
    const flows = { authenticationFlows: [{ alias: 'mine', authenticationExecutions }], browserFlow: 'mine' };
    await own.settings({ kept: { ...stored.settings.kept, ...flows } });
    assert.equal(errorOf(await browser.logIn(form, user.username)), '400 loginRefusedMessage');
    assert.equal((await world.store.listUserSessions(user.id, false)).length, 0);
  });
});
