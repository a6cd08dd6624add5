import assert from 'node:assert/strict';
import { Secret } from '../../../src/core/index.ts';
import type { Change } from '../../../src/store/index.ts';
import { applyAsRead, unread } from '../../store/as-read.ts';
import {
  aClient,
  aClientScope,
  aComponent,
  aCredential,
  aFamily,
  aGroup,
  aRealm,
  aRole,
  aSession,
  aUser,
} from './records.ts';
import { begin, type Rule } from './suite.ts';

export function configurationRules(rule: Rule): void {
  rule('returns every record as it was stored', async (store) => {
    await begin(store);
    const client = aClient({ id: 'client-2', clientId: 'two', name: 'Zwei', attributes: { a: '1' } });
    const user = aUser({
      id: 'user-2',
      username: 'bob',
      email: 'bob@example.org',
      firstName: 'Bob',
      lastName: 'Öztürk',
      attributes: { team: ['a', 'b'] },
      roleIds: ['role-1'],
      groupIds: ['group-1'],
      kept: { federationLink: 'x' },
    });
    const otp = aCredential({ id: 'otp', type: 'otp', secrets: { '/secretData': new Secret('seed') } });
    const { secretData: _, ...withoutHash } = otp;
    await store.apply([
      { do: 'create', client },
      { do: 'create', user },
      { do: 'create', credential: { ...withoutHash, priority: 5 } },
      { do: 'create', credential: aCredential({}) },
    ]);
    assert.deepEqual(unread(await store.findClient('realm-1', 'two')), client);
    assert.equal((await store.findClient('realm-1', 'two'))!.secrets['/secret']!.reveal(), 's3cret-of-app');
    assert.deepEqual(unread(await store.findUserByEmail('realm-1', 'bob@example.org')), user);
    assert.deepEqual(unread(await store.findUserByUsername('realm-1', 'bob')), user);
    const credentials = await store.listCredentials('user-1');
    assert.deepEqual(credentials.map(unread), [{ ...withoutHash, priority: 5 }, aCredential({})]);
    assert.equal(credentials[0]!.secrets['/secretData']!.reveal(), 'seed');
    const acme = (await store.findRealm('acme'))!;
    assert.deepEqual(unread(acme.realm), aRealm({}));
    assert.deepEqual(unread(acme.roles.get('role-1')), aRole({}));
    assert.deepEqual(unread(acme.groups.get('group-1')), aGroup({}));
    assert.deepEqual(unread(acme.clientScopes.get('scope-1')), aClientScope({}));
    assert.deepEqual(acme.components.map(unread), [aComponent({})]);
    assert.deepEqual(await store.findFamily('session-1', 'family-1'), {
      family: aFamily({}),
      session: aSession({}),
    });
    assert.deepEqual(await store.findSession('session-1', false), aSession({}));
  });

  rule(
    'reads a realm with thousands of records in parts, as frozen as any other, and sees every change',
    async (store) => {
      await begin(store);
      const groups = Array.from({ length: 1_000 }, (_, i) => aGroup({ id: `many-${i}`, name: `many-${i}` }));
      const roles = Array.from({ length: 1_000 }, (_, i) => aRole({ id: `many-${i}`, name: `many-${i}` }));
      await store.apply([
        ...groups.map((group): Change => ({ do: 'create', group })),
        ...roles.map((role): Change => ({ do: 'create', role })),
      ]);
      const [one, other] = await Promise.all([store.findRealm('acme'), store.findRealmById('realm-1')]);
      assert.equal(one!.groups.size, 1_001);
      assert.equal(other!.roles.size, one!.roles.size);
      assert.deepEqual(unread(one!.groups.get('many-7')), groups[7]);
      assert.ok(Object.isFrozen(one!.groups.get('many-7')!.attributes));
      assert.ok(Object.isFrozen(one!.groups));
      const reading = store.findRealm('acme');
      await store.apply([{ do: 'remove', what: 'group', id: 'many-7' }]);
      await reading;
      assert.equal((await store.findRealm('acme'))!.groups.size, 1_000);
    },
  );

  rule('returns the same frozen realm and client until they change', async (store) => {
    await begin(store);
    const before = (await store.findRealm('acme'))!;
    const client = (await store.findClient('realm-1', 'app'))!;
    await applyAsRead(store, [{ do: 'put', user: aUser({ firstName: 'A' }) }]);
    assert.equal(await store.findRealm('acme'), before);
    assert.equal(await store.findRealmById('realm-1'), before);
    assert.equal(await store.findClientByUuid('realm-1', 'client-1'), client);
    assert.throws(() => {
      before.realm.settings.enabled = false;
    }, TypeError);
    await applyAsRead(store, [{ do: 'put', role: aRole({ description: 'x' }) }]);
    assert.equal((await store.findRealm('acme'))!.roles.get('role-1')!.description, 'x');
    assert.equal(await store.findClient('realm-1', 'app'), client);
    await applyAsRead(store, [{ do: 'put', client: aClient({ name: 'x' }) }]);
    assert.equal((await store.findClient('realm-1', 'app'))!.name, 'x');
    await applyAsRead(store, [{ do: 'put', realm: aRealm({ name: 'renamed' }) }]);
    assert.equal(await store.findRealm('acme'), undefined);
    assert.equal((await store.findRealm('renamed'))!.realm.id, 'realm-1');
    await applyAsRead(store, [{ do: 'put', client: aClient({ clientId: 'other' }) }]);
    assert.equal(await store.findClient('realm-1', 'app'), undefined);
    assert.equal((await store.findClient('realm-1', 'other'))!.id, 'client-1');
  });

  const conflicts: [string, Change, string][] = [
    ['realm.id', { do: 'create', realm: aRealm({ name: 'x' }) }, 'realm-1'],
    ['realm.name', { do: 'create', realm: aRealm({ id: 'x' }) }, 'acme'],
    ['client.id', { do: 'create', client: aClient({ clientId: 'x' }) }, 'client-1'],
    ['client.clientId', { do: 'create', client: aClient({ id: 'x' }) }, 'app'],
    ['clientScope.id', { do: 'create', clientScope: aClientScope({ name: 'x' }) }, 'scope-1'],
    ['clientScope.name', { do: 'create', clientScope: aClientScope({ id: 'x' }) }, 'profile'],
    ['role.id', { do: 'create', role: aRole({ name: 'x' }) }, 'role-1'],
    ['role.name', { do: 'create', role: aRole({ id: 'x' }) }, 'reader'],
    ['group.id', { do: 'create', group: aGroup({ name: 'x' }) }, 'group-1'],
    ['group.name', { do: 'create', group: aGroup({ id: 'x' }) }, 'staff'],
    ['component.id', { do: 'create', component: aComponent({}) }, 'component-1'],
    ['user.id', { do: 'create', user: aUser({ username: 'x' }) }, 'user-1'],
    ['user.username', { do: 'create', user: aUser({ id: 'x' }) }, 'alice'],
    [
      'user.email',
      { do: 'create', user: aUser({ id: 'x', username: 'x', email: 'carol@example.org' }) },
      'carol@example.org',
    ],
  ];

  rule('reports which value conflicts with another record', async (store) => {
    await begin(store);
    const carol = aUser({ id: 'user-3', username: 'carol', email: 'carol@example.org' });
    await store.apply([
      { do: 'create', user: carol },
      { do: 'create', credential: aCredential({}) },
    ]);
    for (const [on, change, value] of conflicts)
      assert.deepEqual(await store.apply([change]), { outcome: 'conflict', on, value }, on);
    const credential = await store.apply([{ do: 'create', credential: aCredential({}) }]);
    assert.deepEqual(credential, { outcome: 'conflict', on: 'credential.id', value: 'credential-1' });
    assert.equal((await applyAsRead(store, [{ do: 'put', user: carol }])).outcome, 'applied');
    const { settings } = aRealm({});
    await applyAsRead(store, [
      { do: 'put', realm: aRealm({ settings: { ...settings, duplicateEmailsAllowed: true } }) },
    ]);
    const twin = aUser({ id: 'user-4', username: 'twin', email: 'carol@example.org' });
    assert.equal((await store.apply([{ do: 'create', user: twin }])).outcome, 'applied');
    assert.equal((await store.findUserByEmail('realm-1', 'carol@example.org'))!.id, 'user-3');
  });

  rule('removes the records that belong to a removed record', async (store) => {
    await begin(store);
    const service = aUser({ id: 'service', username: 'service', serviceAccountClientUuid: 'client-1' });
    const changes: Change[] = [
      { do: 'create', role: aRole({ id: 'role-c', name: 'of-client', clientUuid: 'client-1' }) },
      { do: 'create', role: aRole({ id: 'role-2', name: 'all', compositeIds: ['role-1', 'role-c'] }) },
      {
        do: 'create',
        group: aGroup({ id: 'group-2', name: 'sub', parentId: 'group-1', roleIds: ['role-1'] }),
      },
      { do: 'create', user: service },
      {
        do: 'create',
        user: aUser({ id: 'user-2', username: 'bob', roleIds: ['role-1', 'role-c'], groupIds: ['group-2'] }),
      },
      { do: 'create', credential: aCredential({}) },
      {
        do: 'create',
        client: aClient({
          id: 'client-2',
          clientId: 'two',
          scopeRoleIds: ['role-1'],
          defaultClientScopeIds: ['scope-1'],
        }),
      },
    ];
    assert.equal((await store.apply(changes)).outcome, 'applied');
    const remove = (what: 'role' | 'group' | 'clientScope' | 'client' | 'user' | 'realm', id: string) =>
      store.apply([{ do: 'remove', what, id }]);

    await remove('role', 'role-1');
    assert.deepEqual((await store.findRealm('acme'))!.roles.get('role-2')!.compositeIds, ['role-c']);
    assert.deepEqual((await store.findRealm('acme'))!.groups.get('group-2')!.roleIds, []);
    assert.deepEqual((await store.findClient('realm-1', 'two'))!.scopeRoleIds, []);
    assert.deepEqual((await store.findUser('realm-1', 'user-2'))!.roleIds, ['role-c']);
    await remove('clientScope', 'scope-1');
    assert.deepEqual((await store.findClient('realm-1', 'two'))!.defaultClientScopeIds, []);
    await remove('group', 'group-1');
    assert.equal((await store.findRealm('acme'))!.groups.size, 0);
    assert.deepEqual((await store.findUser('realm-1', 'user-2'))!.groupIds, []);
    await remove('client', 'client-1');
    assert.equal(await store.findServiceAccount('client-1'), undefined);
    assert.deepEqual([...(await store.findRealm('acme'))!.roles.keys()], ['role-2']);
    assert.deepEqual((await store.findUser('realm-1', 'user-2'))!.roleIds, []);
    assert.equal(await store.findFamily('session-1', 'family-1'), undefined);
    assert.ok(await store.findSession('session-1', false));
    await remove('user', 'user-1');
    assert.equal(await store.findSession('session-1', false), undefined);
    assert.deepEqual(await store.listCredentials('user-1'), []);
    await remove('realm', 'realm-1');
    assert.deepEqual(await store.listRealmNames(), []);
    assert.equal(await store.findUser('realm-1', 'user-2'), undefined);
    assert.equal(await store.findClient('realm-1', 'two'), undefined);
    assert.deepEqual(await remove('realm', 'realm-1'), { outcome: 'missing', what: 'realm', id: 'realm-1' });
  });

  rule('adds and removes roles and groups one by one, and reports a missing record', async (store) => {
    await begin(store);
    const one: Change = { do: 'assign', userId: 'user-1', roleIds: ['role-1'] };
    assert.equal(
      (await store.apply([one, one, { do: 'join', userId: 'user-1', groupId: 'group-1' }])).outcome,
      'applied',
    );
    const user = (await store.findUser('realm-1', 'user-1'))!;
    assert.deepEqual([user.roleIds, user.groupIds], [['role-1'], ['group-1']]);
    assert.deepEqual(
      (await store.listUsersWithRole('role-1', 0, 10)).map(({ id }) => id),
      ['user-1'],
    );
    assert.deepEqual(
      (await store.listGroupMembers('group-1', 0, 10)).map(({ id }) => id),
      ['user-1'],
    );
    await store.apply([
      { do: 'unassign', userId: 'user-1', roleIds: ['role-1', 'never'] },
      { do: 'leave', userId: 'user-1', groupId: 'group-1' },
    ]);
    assert.deepEqual((await store.findUser('realm-1', 'user-1'))!.roleIds, []);
    assert.deepEqual((await store.findUser('realm-1', 'user-1'))!.groupIds, []);
    assert.deepEqual(await store.apply([{ do: 'assign', userId: 'user-1', roleIds: ['no'] }]), {
      outcome: 'missing',
      what: 'role',
      id: 'no',
    });
    assert.deepEqual(await store.apply([{ do: 'join', userId: 'no', groupId: 'group-1' }]), {
      outcome: 'missing',
      what: 'user',
      id: 'no',
    });
  });

  rule('counts enabled users by required action', async (store) => {
    await begin(store);
    const actions = [['VERIFY_EMAIL'], ['VERIFY_EMAIL', 'CONFIGURE_TOTP'], ['VERIFY_EMAIL'], []];
    await store.apply(
      actions.map(
        (requiredActions, i): Change => ({
          do: 'create',
          user: aUser({ id: `a-${i}`, username: `a-${i}`, requiredActions, enabled: i !== 2 }),
        }),
      ),
    );
    assert.deepEqual([...(await store.countRequiredActions('realm-1'))].sort(), [
      ['CONFIGURE_TOTP', 1],
      ['VERIFY_EMAIL', 2],
    ]);
    assert.equal((await store.countRequiredActions('no')).size, 0);
  });

  rule('counts enabled users with an unverified e-mail address', async (store) => {
    await begin(store);
    const before = await store.countUnverifiedUsers('realm-1');
    const made = [
      { emailVerified: false },
      { emailVerified: false, enabled: false },
      { emailVerified: true },
      { emailVerified: false, serviceAccountClientUuid: 'client-1' },
    ].map(
      (more, i): Change => ({ do: 'create', user: aUser({ id: `u-${i}`, username: `u-${i}`, ...more }) }),
    );
    await store.apply(made);
    assert.equal(await store.countUnverifiedUsers('realm-1'), before + 1);
    assert.equal(await store.countUnverifiedUsers('no'), 0);
  });

  rule(
    'finds users by words, fields and attributes, but no service accounts (docs/keycloak/users.md#search)',
    async (store) => {
      await begin(store);
      const people = ['bob', 'bobby', 'jacob', 'b_b', 'b%b'].map(
        (username, i): Change => ({
          do: 'create',
          user: aUser({
            id: `p-${i}`,
            username,
            email: `${username.replace('%', '')}@example.org`,
            firstName: 'Mia',
            lastName: i === 0 ? 'Builder' : 'Smith',
            enabled: i !== 1,
            emailVerified: i === 2,
            attributes: { 'te"am': [i === 3 ? 'red' : 'blue', 'x'] },
          }),
        }),
      );
      await store.apply([
        ...people,
        {
          do: 'create',
          user: aUser({ id: 's', username: 'bob-service', serviceAccountClientUuid: 'client-1' }),
        },
      ]);
      const names = async (query: object) => {
        const users = await store.listUsers({ realmId: 'realm-1', ...query });
        assert.equal(await store.countUsers({ realmId: 'realm-1', ...query }), users.length);
        return users.map(({ username }) => username);
      };
      assert.deepEqual(await names({}), ['alice', 'b%b', 'b_b', 'bob', 'bobby', 'jacob']);
      assert.deepEqual(await names({ search: 'BOB' }), ['bob', 'bobby']);
      assert.deepEqual(await names({ search: '*ob*' }), ['bob', 'bobby', 'jacob']);
      assert.deepEqual(await names({ search: '"bob"' }), ['bob']);
      assert.deepEqual(await names({ search: 'mia builder' }), ['bob']);
      assert.deepEqual(await names({ search: 'b_' }), ['b_b']);
      assert.deepEqual(await names({ search: 'b%' }), ['b%b']);
      assert.deepEqual(await names({ username: 'ob' }), ['bob', 'bobby', 'jacob']);
      assert.deepEqual(await names({ username: 'Bob', exact: true }), ['bob']);
      assert.deepEqual(await names({ lastName: 'smi', enabled: false }), ['bobby']);
      assert.deepEqual(await names({ emailVerified: true }), ['jacob']);
      assert.deepEqual(await names({ attributes: { 'te"am': 'red' } }), ['b_b']);
      const page = await store.listUsers({ realmId: 'realm-1', first: 1, max: 2 });
      assert.deepEqual(
        page.map(({ username }) => username),
        ['b%b', 'b_b'],
      );
      const rest = await store.listUsers({ realmId: 'realm-1', first: 4 });
      assert.deepEqual(
        rest.map(({ username }) => username),
        ['bobby', 'jacob'],
      );
    },
  );

  rule('lists clients by clientId, and finds them by an exact clientId or a part of it', async (store) => {
    await begin(store);
    await store.apply([{ do: 'create', client: aClient({ id: 'client-0', clientId: 'Zebra-app' }) }]);
    const list = async (query: object) =>
      (await store.listClients({ realmId: 'realm-1', ...query })).map(({ clientId }) => clientId);
    assert.deepEqual(await list({}), ['Zebra-app', 'app']);
    assert.deepEqual(await list({ clientId: 'app' }), ['app']);
    assert.deepEqual(await list({ search: 'zeb' }), ['Zebra-app']);
    assert.deepEqual(await list({ first: 1, max: 5 }), ['app']);
  });

  rule('replaces a password hash only if it is still the hash that was verified', async (store) => {
    await begin(store);
    const old = aCredential({});
    await store.apply([{ do: 'create', credential: old }]);
    const next = aCredential({ secretData: '{"value":"new"}', credentialData: '{"hashIterations":6}' });
    assert.equal(await store.rehashPassword(old, next), 'replaced');
    assert.equal(await store.rehashPassword(old, next), 'changed');
    assert.deepEqual((await store.listCredentials('user-1')).map(unread), [next]);
  });
}
