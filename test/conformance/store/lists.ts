import assert from 'node:assert/strict';
import type { User } from '../../../src/model/index.ts';
import type { Change, Range } from '../../../src/store/index.ts';
import { aClient, aCredential, aFamily, aSession, aUser, START } from './records.ts';
import { begin, type Rule } from './suite.ts';

/** Rules of the lists that are longer than a page. */
export function listRules(rule: Rule): void {
  rule(
    'a page of users begins after exactly `first` users, wherever service accounts are in between',
    async (store) => {
      await begin(store);
      const names = Array.from({ length: 2_400 }, (_, i) => `u-${String(i).padStart(4, '0')}`);
      // A block of service accounts around the place at which a page begins, single ones, and one at the end.
      const isService = (i: number) => (i > 1_000 && i < 1_300) || i % 50 === 0 || i === names.length - 1;
      const changes = names.map(
        (username, i): Change => ({
          do: 'create',
          user: aUser({
            id: `id-${username}`,
            username,
            ...(isService(i) ? { serviceAccountClientUuid: 'client-1' } : {}),
          }),
        }),
      );
      await store.apply(changes);
      const people = ['alice', ...names.filter((_, i) => !isService(i))];
      for (const [first, max] of [
        [0, 500],
        [1_000, 10],
        [1_001, 10],
        [1_002, 300],
        [1_300, 250],
        [people.length - 1, 10],
        [people.length, 10],
        [people.length + 1, 10],
        [2_000_000_000, 10],
      ] as const) {
        const found: string[] = [];
        for await (const page of store.userPages({ realmId: 'realm-1', first, max }))
          found.push(...page.map(({ username }) => username));
        assert.deepEqual(found, people.slice(first, first + max), `first=${first}`);
      }
    },
  );

  rule('a list of users shows who has a one-time password', async (store) => {
    await begin(store);
    const named = '"type":"otp"';
    await store.apply([
      { do: 'create', user: aUser({ id: 'user-2', username: 'bob' }) },
      { do: 'create', user: aUser({ id: 'user-3', username: 'carol' }) },
      { do: 'create', user: aUser({ id: 'user-4', username: 'dave' }) },
      { do: 'create', credential: aCredential({ id: 'password-2', userId: 'user-2', userLabel: named }) },
      { do: 'create', credential: aCredential({ id: 'otp-2', userId: 'user-2', type: 'otp' }) },
      { do: 'create', credential: aCredential({ id: 'p-3', userId: 'user-3', credentialData: named }) },
      {
        do: 'create',
        credential: aCredential({ id: 'nested-3', userId: 'user-3', ...{ federated: { type: 'otp' } } }),
      },
      {
        do: 'create',
        credential: aCredential({ id: 'otp-4', userId: 'user-4', type: 'otp', userLabel: '\0' }),
      },
    ]);
    const owners = [];
    for (const query of [{}, { search: 'a' }, { search: 'bob' }, { username: 'carol', exact: true }])
      for await (const page of store.userPages({ realmId: 'realm-1', first: 0, max: 100, ...query }))
        owners.push(page.map(({ username, hasOtp }) => `${username} ${hasOtp}`));
    assert.deepEqual(owners, [
      ['alice false', 'bob true', 'carol false', 'dave true'],
      ['alice false'],
      ['bob true'],
      ['carol false'],
    ]);
    for (const query of [{}, { search: 'bob' }])
      for await (const page of store.userPages({
        realmId: 'realm-1',
        first: 0,
        max: 100,
        withOtp: false,
        ...query,
      }))
        assert.ok(page.every((user) => !('hasOtp' in user)));
  });

  rule('lists the sessions of a user by id, page by page, and those with one client', async (store) => {
    await begin(store);
    await store.apply([
      { do: 'create', user: aUser({ id: 'user-2', username: 'bob' }) },
      { do: 'create', client: aClient({ id: 'client-2', clientId: 'two' }) },
    ]);
    const ids = Array.from({ length: 2_347 }, (_, i) => `s-${String((i * 7) % 2_347).padStart(4, '0')}`);
    const start = (id: string, i: number) =>
      Promise.all(
        ['client-1', ...(i % 2 === 0 ? ['client-2'] : [])].map((clientUuid) =>
          store.startSession(
            aSession({ id, offline: true, startedAt: START + i }),
            aFamily({ id: `f-${id}-${clientUuid}`, sessionId: id, offline: true, clientUuid }),
          ),
        ),
      );
    for (let from = 0; from < ids.length; from += 100)
      await Promise.all(ids.slice(from, from + 100).map((id, i) => start(id, from + i)));
    await store.startSession(
      aSession({ id: 's-of-another', offline: true, userId: 'user-2' }),
      aFamily({ id: 'f-of-another', sessionId: 's-of-another', offline: true, userId: 'user-2' }),
    );
    const list = async (query: object) => {
      const found: string[] = [];
      const of = { userId: 'user-1', offline: true, caller: 'administrator', ...query } as const;
      for await (const page of store.userSessionPages(of)) {
        assert.ok(page.length > 0 && page.length <= 200, `${page.length} sessions in a page`);
        found.push(...page.map(({ session }) => session.id));
      }
      return found;
    };
    const sorted = ids.toSorted();
    assert.deepEqual(await list({}), sorted);
    assert.deepEqual(await list({ caller: 'user' }), sorted);
    assert.deepEqual(await list({ first: 150, max: 300 }), sorted.slice(150, 450));
    assert.deepEqual(await list({ first: 2_340, max: 300 }), sorted.slice(2_340));
    const withTwo = new Set(ids.filter((_, i) => i % 2 === 0));
    const ofTwo = sorted.filter((id) => withTwo.has(id));
    assert.deepEqual(await list({ clientUuid: 'client-2' }), ofTwo);
    assert.deepEqual(await list({ clientUuid: 'no-client' }), []);
    assert.deepEqual(await list({ offline: false }), ['session-1']);
    assert.deepEqual(
      (await store.listUserSessions('user-1', true)).map(({ session }) => session.id),
      sorted,
    );
    assert.deepEqual((await store.listClientsOfUser('user-1', true)).toSorted(), ['client-1', 'client-2']);
    assert.deepEqual(await store.listClientsOfUser('user-1', false), ['client-1']);
    assert.deepEqual(await store.listClientsOfUser('none', true), []);
    const one = await store.findListedSession(ids[0]!, true);
    assert.equal(one!.username, 'alice');
    assert.deepEqual(one!.clientUuids.toSorted(), ['client-1', 'client-2']);
    assert.equal(await store.findListedSession(ids[0]!, false), undefined);
  });

  rule('lists the members of a role or group by their current usernames', async (store) => {
    await begin(store);
    const names = Array.from({ length: 1_303 }, (_, i) => `m-${String((i * 7) % 1_303).padStart(4, '0')}`);
    await store.apply(
      names.map(
        (username, i): Change => ({
          do: 'create',
          user: aUser({
            id: `id-${i}`,
            username,
            roleIds: ['role-1'],
            groupIds: i % 3 === 0 ? ['group-1'] : [],
            ...(i % 100 === 0 ? { serviceAccountClientUuid: 'client-1' } : {}),
          }),
        }),
      ),
    );
    const list = async (pages: AsyncIterable<readonly User[]>) => {
      const found: string[] = [];
      for await (const page of pages) found.push(...page.map(({ username }) => username));
      return found;
    };
    const inRole = (range: Partial<Range> = {}) =>
      list(store.roleUserPages('role-1', { first: 0, max: 2_000_000_000, ...range }));
    const inGroup = (range: Partial<Range> = {}) =>
      list(store.memberPages('group-1', { first: 0, max: 2_000_000_000, ...range }));
    const all = names.toSorted();
    assert.deepEqual(await inRole(), all);
    for (const [first, max] of [
      [0, 10],
      [150, 300],
      [1_000, 250],
      [1_001, 250],
      [1_302, 10],
      [1_303, 10],
      [1_304, 10],
    ] as const)
      assert.deepEqual(await inRole({ first, max }), all.slice(first, first + max), `first=${first}`);
    const some = names.filter((_, i) => i % 3 === 0).toSorted();
    assert.deepEqual(await inGroup(), some);

    const first = (await store.findUser('realm-1', 'id-0'))!;
    await store.apply([
      { do: 'put', user: { ...first, username: 'zoe' } },
      { do: 'join', userId: 'user-1', groupId: 'group-1' },
      { do: 'leave', userId: 'id-3', groupId: 'group-1' },
      { do: 'remove', what: 'user', id: 'id-6' },
    ]);
    const left = some.filter((name) => ![names[0], names[3], names[6]].includes(name));
    assert.deepEqual(await inGroup(), ['alice', ...left, 'zoe']);
    assert.deepEqual(
      await inRole(),
      [...all.filter((name) => ![names[0], names[6]].includes(name)), 'zoe'],
      'the new name counts everywhere',
    );
    await store.apply([{ do: 'remove', what: 'group', id: 'group-1' }]);
    assert.deepEqual(await inGroup(), []);
    assert.deepEqual(await list(store.memberPages("no' group", { first: 0, max: 10 })), []);
  });
}
