import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Secret } from '../../src/core/index.ts';
import type { AdminEvent, UserEvent } from '../../src/model/index.ts';
import type { Change, Rotation, Store } from '../../src/store/index.ts';
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
  hash,
  START,
} from './records.ts';

/** How a backend takes part: it only opens stores. Everything a test opens is closed with it. */
export interface ConformanceBackend {
  /** A new, empty store; the clock stands at `START` and is moved by `setSeconds`. */
  open(t: TestContext): Promise<{ store: Store; setSeconds(now: number): void }>;
}

const rotation = (more: Partial<Rotation>): Rotation => ({
  familyId: 'family-1',
  presentedHash: hash('first'),
  nextHash: hash('second'),
  now: START + 10,
  singleUse: true,
  maxReuse: 0,
  ...more,
});

/** The guarantees of the contract, quoted, and each of its verbs. */
export function storeConformance(name: string, backend: ConformanceBackend): void {
  const rule = (
    title: string,
    run: (store: Store, setSeconds: (now: number) => void) => Promise<void>,
  ): void => {
    test(`${name}: ${title}`, async (t) => {
      const { store, setSeconds } = await backend.open(t);
      await run(store, setSeconds);
    });
  };

  rule('"apply is atomic: all of the list is done, or nothing"', async (store) => {
    await begin(store);
    const refused = await store.apply([
      { do: 'create', user: aUser({ id: 'user-9', username: 'new' }) },
      { do: 'remove', what: 'client', id: 'client-1' },
      { do: 'create', user: aUser({ id: 'user-10', username: 'alice' }) },
    ]);
    assert.deepEqual(refused, { outcome: 'conflict', on: 'user.username', value: 'alice' });
    assert.equal(await store.findUser('realm-1', 'user-9'), undefined);
    assert.ok(await store.findClientByUuid('realm-1', 'client-1'));
    const missing = await store.apply([
      { do: 'create', role: aRole({ id: 'role-9', name: 'new' }) },
      { do: 'put', user: aUser({ id: 'nobody', username: 'nobody' }) },
    ]);
    assert.deepEqual(missing, { outcome: 'missing', what: 'user', id: 'nobody' });
    assert.equal((await store.findRealm('acme'))!.roles.has('role-9'), false);
  });

  rule(
    '"Of any number of parallel rotateRefreshToken calls that present the same token with maxReuse 0, exactly one is answered rotated"',
    async (store) => {
      await begin(store);
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          store.rotateRefreshToken(rotation({ nextHash: hash(`next ${i}`) })),
        ),
      );
      const outcomes = answers.map(({ outcome }) => outcome);
      assert.equal(outcomes.filter((outcome) => outcome === 'rotated').length, 1);
      assert.equal(outcomes.filter((outcome) => outcome === 'reused').length, 1);
      assert.equal(outcomes.filter((outcome) => outcome === 'gone').length, 198);
    },
  );

  rule(
    '"A refused rotation that finds reuse has ended the user session before it is answered"',
    async (store) => {
      await begin(store);
      await store.startSession(aSession({}), aFamily({ id: 'family-2' }));
      assert.deepEqual(await store.rotateRefreshToken(rotation({})), { outcome: 'rotated' });
      const again = await store.rotateRefreshToken(rotation({ nextHash: hash('third') }));
      assert.deepEqual(again, { outcome: 'reused', reason: 'exceeded' });
      assert.equal(await store.findSession('session-1', false), undefined);
      assert.equal(await store.findFamily('family-1'), undefined);
      assert.equal(await store.findFamily('family-2'), undefined);
      assert.deepEqual(await store.rotateRefreshToken(rotation({})), { outcome: 'gone' });
    },
  );

  rule('tells the reuse of an older token as stale', async (store) => {
    await begin(store);
    await store.rotateRefreshToken(rotation({}));
    await store.rotateRefreshToken(rotation({ presentedHash: hash('second'), nextHash: hash('third') }));
    const stale = await store.rotateRefreshToken(rotation({}));
    assert.deepEqual(stale, { outcome: 'reused', reason: 'stale' });
  });

  rule('lets a token be used maxReuse times more, and not once more than that', async (store) => {
    await begin(store);
    for (let use = 0; use < 3; use++) {
      const answer = await store.rotateRefreshToken(rotation({ nextHash: hash(`use ${use}`), maxReuse: 2 }));
      assert.equal(answer.outcome, 'rotated');
    }
    const fourth = await store.rotateRefreshToken(rotation({ nextHash: hash('use 3'), maxReuse: 2 }));
    assert.deepEqual(fourth, { outcome: 'reused', reason: 'exceeded' });
  });

  rule('takes any token of a living family while rotation is off', async (store) => {
    await begin(store);
    for (const presented of ['first', 'first', 'anything'])
      assert.deepEqual(
        await store.rotateRefreshToken(
          rotation({ presentedHash: hash(presented), nextHash: hash('next'), singleUse: false }),
        ),
        { outcome: 'rotated' },
      );
    assert.deepEqual((await store.findFamily('family-1'))!.family.currentHash, hash('next'));
    const gone = await store.rotateRefreshToken(rotation({ familyId: 'nowhere', singleUse: false }));
    assert.deepEqual(gone, { outcome: 'gone' });
  });

  rule(
    '"claimOnce answers true to exactly one caller per key until the claim expires"',
    async (store, set) => {
      const claims = await Promise.all(Array.from({ length: 50 }, () => store.claimOnce('jti', START + 60)));
      assert.equal(claims.filter(Boolean).length, 1);
      set(START + 59);
      assert.equal(await store.claimOnce('jti', START + 120), false);
      set(START + 60);
      assert.equal(await store.claimOnce('jti', START + 120), true);
      assert.equal(await store.claimOnce('other', START + 120), true);
    },
  );

  rule('"A read that starts after a write was answered sees that write"', async (store) => {
    await begin(store);
    for (let i = 0; i < 50; i++) {
      await store.apply([{ do: 'put', user: aUser({ firstName: `Name${i}` }) }]);
      assert.equal((await store.findUser('realm-1', 'user-1'))?.firstName, `Name${i}`);
      assert.equal(
        (await store.listUsers({ realmId: 'realm-1', username: 'alice' }))[0]?.firstName,
        `Name${i}`,
      );
    }
  });

  rule('"find… answers undefined for what is absent, list… an empty array"', async (store) => {
    assert.equal(await store.findRealm('none'), undefined);
    assert.equal(await store.findRealmById('none'), undefined);
    assert.equal(await store.findClient('none', 'none'), undefined);
    assert.equal(await store.findClientByUuid('none', 'none'), undefined);
    assert.equal(await store.findUser('none', 'none'), undefined);
    assert.equal(await store.findUserByUsername('none', 'none'), undefined);
    assert.equal(await store.findUserByEmail('none', 'none'), undefined);
    assert.equal(await store.findServiceAccount('none'), undefined);
    assert.equal(await store.findSession('none', false), undefined);
    assert.equal(await store.findFamily('none'), undefined);
    assert.equal(await store.findLoginFailures('none', 'none'), undefined);
    assert.deepEqual(await store.listRealmNames(), []);
    assert.deepEqual(await store.listClients({ realmId: 'none' }), []);
    assert.deepEqual(await store.listUsers({ realmId: 'none' }), []);
    assert.deepEqual(await store.listUsersWithRole('none', 0, 10), []);
    assert.deepEqual(await store.listGroupMembers('none', 0, 10), []);
    assert.deepEqual(await store.listCredentials('none'), []);
    assert.deepEqual(await store.listUserSessions('none', false), []);
    assert.deepEqual(await store.listEvents({ realmId: 'none', first: 0, max: 10 }), []);
    assert.deepEqual(await store.listAdminEvents({ realmId: 'none', first: 0, max: 10 }), []);
  });

  rule('gives every record back as it was', async (store) => {
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
    assert.deepEqual(await store.findClient('realm-1', 'two'), client);
    assert.equal((await store.findClient('realm-1', 'two'))!.secrets['/secret']!.reveal(), 's3cret-of-app');
    assert.deepEqual(await store.findUserByEmail('realm-1', 'bob@example.org'), user);
    assert.deepEqual(await store.findUserByUsername('realm-1', 'bob'), user);
    const credentials = await store.listCredentials('user-1');
    assert.deepEqual(credentials, [{ ...withoutHash, priority: 5 }, aCredential({})]);
    assert.equal(credentials[0]!.secrets['/secretData']!.reveal(), 'seed');
    const found = (await store.findRealm('acme'))!;
    assert.deepEqual(found.realm, aRealm({}));
    assert.deepEqual(found.roles.get('role-1'), aRole({}));
    assert.deepEqual(found.groups.get('group-1'), aGroup({}));
    assert.deepEqual(found.clientScopes.get('scope-1'), aClientScope({}));
    assert.deepEqual(found.components, [aComponent({})]);
    assert.deepEqual(await store.findFamily('family-1'), { family: aFamily({}), session: aSession({}) });
    assert.deepEqual(await store.findSession('session-1', false), aSession({}));
  });

  rule('returns the same frozen configuration until something of it changes', async (store) => {
    await begin(store);
    const before = (await store.findRealm('acme'))!;
    const client = (await store.findClient('realm-1', 'app'))!;
    await store.apply([{ do: 'put', user: aUser({ firstName: 'A' }) }]);
    assert.equal(await store.findRealm('acme'), before);
    assert.equal(await store.findRealmById('realm-1'), before);
    assert.equal(await store.findClientByUuid('realm-1', 'client-1'), client);
    assert.throws(() => {
      before.realm.settings.enabled = false;
    }, TypeError);
    await store.apply([{ do: 'put', role: aRole({ description: 'x' }) }]);
    assert.equal((await store.findRealm('acme'))!.roles.get('role-1')!.description, 'x');
    assert.equal(await store.findClient('realm-1', 'app'), client);
    await store.apply([{ do: 'put', client: aClient({ name: 'x' }) }]);
    assert.equal((await store.findClient('realm-1', 'app'))!.name, 'x');
    await store.apply([{ do: 'put', realm: aRealm({ name: 'renamed' }) }]);
    assert.equal(await store.findRealm('acme'), undefined);
    assert.equal((await store.findRealm('renamed'))!.realm.id, 'realm-1');
    await store.apply([{ do: 'put', client: aClient({ clientId: 'other' }) }]);
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
  rule('names the uniqueness that stood in the way', async (store) => {
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
    assert.equal((await store.apply([{ do: 'put', user: carol }])).outcome, 'applied');
    const { settings } = aRealm({});
    await store.apply([
      { do: 'put', realm: aRealm({ settings: { ...settings, duplicateEmailsAllowed: true } }) },
    ]);
    const twin = aUser({ id: 'user-4', username: 'twin', email: 'carol@example.org' });
    assert.equal((await store.apply([{ do: 'create', user: twin }])).outcome, 'applied');
    assert.equal((await store.findUserByEmail('realm-1', 'carol@example.org'))!.id, 'user-3');
  });

  rule('removes with a record what belongs to it', async (store) => {
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
    assert.equal(await store.findFamily('family-1'), undefined);
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

  rule('adds and takes single roles and groups, and names what is missing', async (store) => {
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

  rule('finds users by words, fields and attributes, never service accounts (facts §7.2)', async (store) => {
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
      const found = await store.listUsers({ realmId: 'realm-1', ...query });
      assert.equal(await store.countUsers({ realmId: 'realm-1', ...query }), found.length);
      return found.map(({ username }) => username);
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
  });

  rule('lists clients by clientId, with exact match and infix', async (store) => {
    await begin(store);
    await store.apply([{ do: 'create', client: aClient({ id: 'client-0', clientId: 'Zebra-app' }) }]);
    const list = async (query: object) =>
      (await store.listClients({ realmId: 'realm-1', ...query })).map(({ clientId }) => clientId);
    assert.deepEqual(await list({}), ['Zebra-app', 'app']);
    assert.deepEqual(await list({ clientId: 'app' }), ['app']);
    assert.deepEqual(await list({ search: 'zeb' }), ['Zebra-app']);
    assert.deepEqual(await list({ first: 1, max: 5 }), ['app']);
  });

  rule('replaces a password hash only where it is still the one that was verified', async (store) => {
    await begin(store);
    const old = aCredential({});
    await store.apply([{ do: 'create', credential: old }]);
    const next = aCredential({ secretData: '{"value":"new"}', credentialData: '{"hashIterations":6}' });
    assert.equal(await store.rehashPassword(old, next), 'replaced');
    assert.equal(await store.rehashPassword(old, next), 'changed');
    assert.deepEqual(await store.listCredentials('user-1'), [next]);
  });

  rule('keeps the last use of a session over all its families, also of removed ones', async (store) => {
    await begin(store);
    await store.startSession(aSession({}), aFamily({ id: 'family-2', clientUuid: 'client-2' }));
    await store.rotateRefreshToken(rotation({ familyId: 'family-2', now: START + 500 }));
    assert.equal((await store.findSession('session-1', false))!.lastAccessAt, START + 500);
    assert.equal((await store.findFamily('family-1'))!.session.lastAccessAt, START + 500);
    assert.equal((await store.findFamily('family-1'))!.family.lastRefreshAt, START);
    assert.equal(await store.hasFamily('session-1', false, 'client-2'), true);
    assert.deepEqual(await store.removeFamily('family-2'), { removed: true });
    assert.deepEqual(await store.removeFamily('family-2'), { removed: false });
    assert.equal(await store.hasFamily('session-1', false, 'client-2'), false);
    assert.equal((await store.findSession('session-1', false))!.lastAccessAt, START + 500);
  });

  rule('ends sessions one by one, of a user, of a realm, and as part of a change', async (store) => {
    await begin(store);
    const start = async (id: string, offline: boolean) =>
      store.startSession(
        aSession({ id, offline }),
        aFamily({ id: `f-${id}-${offline}`, sessionId: id, offline }),
      );
    await start('session-1', true);
    await start('two', false);
    assert.deepEqual(await store.endSession('session-1', false), { ended: true });
    assert.deepEqual(await store.endSession('session-1', false), { ended: false });
    assert.ok(await store.findSession('session-1', true));
    assert.ok(await store.findFamily('f-session-1-true'));
    assert.deepEqual(await store.endUserSessions('user-1', { offlineToo: false }), { ended: 1 });
    await start('three', false);
    assert.deepEqual(await store.endRealmSessions('realm-1'), { ended: 1 });
    assert.ok(await store.findSession('session-1', true));
    await start('four', false);
    await store.apply([
      { do: 'put', user: aUser({ firstName: 'x' }) },
      { do: 'endSessions', userId: 'user-1', offlineToo: true },
    ]);
    assert.equal(await store.findSession('session-1', true), undefined);
    assert.equal(await store.findFamily('f-four-false'), undefined);
  });

  rule('lists and counts sessions with their clients', async (store) => {
    await begin(store);
    await store.apply([{ do: 'create', client: aClient({ id: 'client-2', clientId: 'two' }) }]);
    await store.startSession(aSession({}), aFamily({ id: 'family-2', clientUuid: 'client-2' }));
    await store.startSession(
      aSession({ id: 'off', offline: true }),
      aFamily({ id: 'family-3', sessionId: 'off', offline: true }),
    );
    const [session, ...none] = await store.listUserSessions('user-1', false);
    assert.equal(none.length, 0);
    assert.equal(session!.username, 'alice');
    assert.deepEqual([...session!.clientUuids].sort(), ['client-1', 'client-2']);
    const ofClient = await store.listClientSessions({
      clientUuid: 'client-1',
      offline: true,
      first: 0,
      max: 10,
    });
    assert.deepEqual(
      ofClient.map((item) => item.session.id),
      ['off'],
    );
    const counts = [...(await store.countClientSessions('realm-1'))];
    assert.deepEqual(
      counts.sort((a, b) => a.clientUuid.localeCompare(b.clientUuid)),
      [
        { clientUuid: 'client-1', online: 1, offline: 1 },
        { clientUuid: 'client-2', online: 1, offline: 0 },
      ],
    );
    const figures = await store.figures();
    assert.deepEqual(
      { ...figures, databaseBytes: 0, schemaVersion: 0 },
      {
        schemaVersion: 0,
        databaseBytes: 0,
        realms: 1,
        users: 1,
        userSessions: 1,
        offlineSessions: 1,
        tokenFamilies: 3,
      },
    );
    assert.ok(figures.databaseBytes > 0 && figures.schemaVersion > 0);
  });

  rule('refuses a revoked access token until it would have expired', async (store, set) => {
    await store.revokeAccessToken('jti', START + 60);
    await store.revokeAccessToken('jti', START + 30);
    assert.equal(await store.isAccessTokenRevoked('jti'), true);
    assert.equal(await store.isAccessTokenRevoked('other'), false);
    set(START + 60);
    assert.equal(await store.isAccessTokenRevoked('jti'), false);
  });

  rule('stores login failures only over the revision that was read', async (store) => {
    await begin(store);
    const failures = {
      realmId: 'realm-1',
      userId: 'user-1',
      revision: 0,
      failures: 1,
      temporaryLockouts: 0,
      lastFailureAt: 1,
      lockedUntil: 0,
      lastIpAddress: '192.0.2.1',
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => store.putLoginFailures(failures)));
    assert.equal(answers.filter((answer) => answer === 'stored').length, 1);
    assert.deepEqual(await store.findLoginFailures('realm-1', 'user-1'), { ...failures, revision: 1 });
    assert.equal(await store.putLoginFailures({ ...failures, revision: 1, failures: 2 }), 'stored');
    assert.equal(await store.putLoginFailures({ ...failures, revision: 1, failures: 3 }), 'changed');
    await store.removeLoginFailures('realm-1', 'user-1');
    assert.equal(await store.findLoginFailures('realm-1', 'user-1'), undefined);
    await store.putLoginFailures(failures);
    await store.removeLoginFailures('realm-1');
    assert.equal(await store.findLoginFailures('realm-1', 'user-1'), undefined);
  });

  rule('lists events newest first by every filter, and clears them', async (store) => {
    await begin(store);
    const event = (id: string, more: Partial<UserEvent>): UserEvent => ({
      id,
      time: START * 1000,
      type: 'LOGIN',
      realmId: 'realm-1',
      details: { username: 'alice' },
      ...more,
    });
    const events = [
      event('1', { clientId: 'app', userId: 'user-1', ipAddress: '192.0.2.1' }),
      event('2', { type: 'LOGOUT', time: START * 1000 + 1 }),
      event('3', { type: 'LOGIN_ERROR', error: 'invalid_user_credentials', time: START * 1000 + 2 }),
    ];
    await store.appendEvents(events);
    const ids = async (query: object) =>
      (await store.listEvents({ realmId: 'realm-1', first: 0, max: 10, ...query })).map(({ id }) => id);
    assert.deepEqual(await ids({}), ['3', '2', '1']);
    assert.deepEqual(await ids({ types: ['LOGIN', 'LOGOUT'] }), ['2', '1']);
    assert.deepEqual(await ids({ clientId: 'app', userId: 'user-1', ipAddress: '192.0.2.1' }), ['1']);
    assert.deepEqual(await ids({ from: START * 1000 + 1, to: START * 1000 + 1 }), ['2']);
    assert.deepEqual(await ids({ first: 1, max: 1 }), ['2']);
    assert.deepEqual((await store.listEvents({ realmId: 'realm-1', first: 2, max: 1 }))[0], events[0]);
    await store.clearEvents('realm-1');
    assert.deepEqual(await ids({}), []);
  });

  rule('lists admin events by every filter, and clears them', async (store) => {
    await begin(store);
    const adminEvent = (id: string, more: Partial<AdminEvent>): AdminEvent => ({
      id,
      time: START * 1000 + Number(id),
      realmId: 'realm-1',
      authRealmId: 'master',
      authClientId: 'admin-cli',
      authUserId: 'admin',
      authIpAddress: '192.0.2.9',
      operationType: 'CREATE',
      resourceType: 'USER',
      resourcePath: `users/${id}`,
      ...more,
    });
    await store.apply([
      { do: 'record', adminEvent: adminEvent('1', {}) },
      {
        do: 'record',
        adminEvent: adminEvent('2', {
          operationType: 'DELETE',
          resourceType: 'CLIENT',
          resourcePath: 'clients/x',
        }),
      },
    ]);
    const ids = async (query: object) =>
      (await store.listAdminEvents({ realmId: 'realm-1', first: 0, max: 10, ...query })).map(({ id }) => id);
    assert.deepEqual(await ids({}), ['2', '1']);
    assert.deepEqual(await ids({ operationTypes: ['CREATE'] }), ['1']);
    assert.deepEqual(await ids({ resourceTypes: ['CLIENT'] }), ['2']);
    assert.deepEqual(await ids({ resourcePath: 'users/*' }), ['1']);
    assert.deepEqual(await ids({ authRealmId: 'master', authUserId: 'admin' }), ['2', '1']);
    assert.deepEqual(await ids({ authClientId: 'x' }), []);
    await store.clearAdminEvents('realm-1');
    assert.deepEqual(await ids({}), []);
  });

  rule('sweeps what has expired in batches, and nothing that may still be used', async (store) => {
    await begin(store);
    await store.startSession(aSession({ id: 'busy' }), aFamily({ id: 'busy', sessionId: 'busy' }));
    await store.startSession(
      aSession({ id: 'off', offline: true }),
      aFamily({ id: 'off', sessionId: 'off', offline: true }),
    );
    await store.claimOnce('claim', START + 60);
    await store.revokeAccessToken('jti', START + 60);
    assert.deepEqual(await store.sweep(START + 59, 100), { removed: 0 });
    await store.rotateRefreshToken(rotation({ familyId: 'busy', now: START + 7000 }));
    assert.deepEqual(await store.sweep(START + 7200, 1), { removed: 1 });
    let removed = 0;
    for (let round = 0; round < 5; round++) removed += (await store.sweep(START + 7200, 100)).removed;
    assert.equal(removed, 2);
    assert.equal(await store.findSession('session-1', false), undefined);
    assert.equal(await store.findFamily('family-1'), undefined);
    assert.ok(await store.findFamily('busy'));
    await store.sweep(START + 86_400, 100);
    await store.sweep(START + 86_400, 100);
    assert.equal(await store.findFamily('busy'), undefined);
    assert.ok(await store.findFamily('off'));
    await store.sweep(START + 2_592_000 + 7200, 100);
    await store.sweep(START + 2_592_000 + 7200, 100);
    assert.equal(await store.findFamily('off'), undefined);
  });

  rule('never sweeps a session that a client with longer lifetimes may still use', async (store) => {
    await begin(store);
    const attributes = { 'client.session.idle.timeout': '90000', 'client.session.max.lifespan': '90000' };
    await store.apply([{ do: 'put', client: aClient({ attributes }) }]);
    await store.sweep(START + 86_400, 100);
    assert.ok(await store.findFamily('family-1'));
    await store.sweep(START + 95_000, 100);
    assert.equal(await store.findFamily('family-1'), undefined);
  });

  rule('sweeps events by the age that their realm sets', async (store) => {
    await begin(store);
    const { settings } = aRealm({});
    await store.apply([{ do: 'put', realm: aRealm({ settings: { ...settings, eventsExpiration: 60 } }) }]);
    await store.appendEvents(
      ['1', '2'].map((id, i) => ({
        id,
        time: (START + i * 60) * 1000,
        type: 'LOGIN',
        realmId: 'realm-1',
        details: {},
      })),
    );
    await store.sweep(START + 61, 100);
    const left = await store.listEvents({ realmId: 'realm-1', first: 0, max: 10 });
    assert.deepEqual(
      left.map(({ id }) => id),
      ['2'],
    );
  });

  rule('closes twice without harm and refuses what comes after', async (store) => {
    await begin(store);
    await Promise.all([store.close(), store.close()]);
    await assert.rejects(store.findRealm('acme'), { code: 'IDKIT_FAILED' });
    await assert.rejects(store.apply([]), { code: 'IDKIT_FAILED' });
  });
}

/** A realm with one of each and one session. */
async function begin(store: Store): Promise<void> {
  const applied = await store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', role: aRole({}) },
    { do: 'create', group: aGroup({}) },
    { do: 'create', clientScope: aClientScope({}) },
    { do: 'create', component: aComponent({}) },
    { do: 'create', client: aClient({}) },
    { do: 'create', user: aUser({}) },
  ]);
  assert.deepEqual(applied, { outcome: 'applied' });
  await store.startSession(aSession({}), aFamily({}));
}
