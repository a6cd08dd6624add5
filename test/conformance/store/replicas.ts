import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyAsRead } from '../../store/as-read.ts';
import { aClient, aCode, aFamily, aRole, aSession, aUser, hash, START } from './records.ts';
import { begin, counted, many, type Rule, rotation } from './suite.ts';

/** Rules that hold between several stores on one database. */
export function replicasRules(rule: Rule): void {
  rule(
    '"Lists the services that use the database, the oldest first. The list is empty on SQLite"',
    async (store, _, other) => {
      const services = await store.listServices();
      if (store === other) {
        assert.deepEqual(services, []);
        return;
      }
      assert.ok(services.length > 0, 'the connections of these stores hold the lock');
      const times = services.map(({ since }) => since);
      assert.deepEqual(
        times,
        times.toSorted((one, next) => one - next),
      );
      for (const { name, since } of services) {
        assert.match(name, /idkit/);
        assert.ok(Number.isInteger(since) && since <= Date.now() + 1000);
      }
    },
  );

  rule(
    '"A read that starts after a write returned sees that write", in another store too',
    async (store, _, other) => {
      await begin(store);
      for (let i = 0; i < 30; i++) {
        const turn = rotation({
          presentedHash: hash(i === 0 ? 'first' : `${i}`),
          nextHash: hash(`${i + 1}`),
        });
        const [writer, reader] = i % 2 === 0 ? [store, other] : [other, store];
        assert.deepEqual(await writer.rotateRefreshToken(turn), { outcome: 'rotated' });
        assert.deepEqual(
          (await reader.findFamily('session-1', 'family-1'))?.family.currentHash,
          turn.nextHash,
        );
        await writer.revokeAccessToken(`jti ${i}`, START + 60);
        assert.equal(await reader.isAccessTokenRevoked(`jti ${i}`), true);
      }
      assert.deepEqual(await other.endSession('session-1', false), { ended: true });
      assert.equal(await store.findFamily('session-1', 'family-1'), undefined);
    },
  );

  rule(
    'a change of configuration or users reaches another store within a second',
    async (store, _, other) => {
      await begin(store);
      const seen = async <T>(read: () => Promise<T>, is: (value: T) => boolean): Promise<void> => {
        const until = performance.now() + 1_000;
        while (!is(await read())) {
          assert.ok(performance.now() < until, 'it is seen within a second');
          await sleep(5);
        }
      };
      await seen(
        () => other.findRealm('acme'),
        (realm) => realm !== undefined,
      );
      await other.findClient('realm-1', 'app');
      await other.findUser('realm-1', 'user-1');
      await other.findServiceAccount('client-1');
      await applyAsRead(store, [
        { do: 'create', role: aRole({ id: 'role-new', name: 'new' }) },
        { do: 'put', user: aUser({ enabled: false }) },
        { do: 'put', client: aClient({ enabled: false }) },
        {
          do: 'create',
          user: aUser({ id: 'robot', username: 'robot', serviceAccountClientUuid: 'client-1' }),
        },
      ]);
      await seen(
        () => other.findRealm('acme'),
        (realm) => realm!.roles.has('role-new'),
      );
      await seen(
        () => other.findUser('realm-1', 'user-1'),
        (user) => user!.enabled === false,
      );
      await seen(
        () => other.findClientByUuid('realm-1', 'client-1'),
        (client) => client!.enabled === false,
      );
      await seen(
        () => other.findServiceAccount('client-1'),
        (user) => user?.id === 'robot',
      );
      await store.apply([{ do: 'remove', what: 'realm', id: 'realm-1' }]);
      await seen(
        () => other.findRealm('acme'),
        (realm) => realm === undefined,
      );
    },
  );

  rule('applies only one of several parallel changes that use the same name', async (store, _, other) => {
    await begin(store);
    const answers = await many(20, [store, other], (one, i) =>
      one.apply([
        { do: 'create', role: aRole({ id: `role of ${i}`, name: `role ${i}` }) },
        { do: 'create', user: aUser({ id: `user ${i}`, username: 'same', email: `same${i}@example.org` }) },
      ]),
    );
    const outcomes = answers.map(({ outcome }) => outcome);
    assert.equal(counted(outcomes, 'applied'), 1);
    assert.equal(counted(outcomes, 'conflict'), 19);
    const winner = outcomes.indexOf('applied');
    assert.equal((await store.findUserByUsername('realm-1', 'same'))?.id, `user ${winner}`);
    const users = await other.listUsers({ realmId: 'realm-1', username: 'same', exact: true });
    assert.deepEqual(
      users.map(({ id }) => id),
      [`user ${winner}`],
    );
  });

  rule('keeps all parallel assignments to one user', async (store, _, other) => {
    await begin(store);
    const roles = Array.from({ length: 12 }, (_, i) => aRole({ id: `r${i}`, name: `r${i}` }));
    await store.apply(roles.map((role) => ({ do: 'create', role })));
    const before = new Set((await store.findUser('realm-1', 'user-1'))!.roleIds);
    await many(12, [store, other], (one, i) =>
      one.apply([{ do: 'assign', userId: 'user-1', roleIds: [`r${i}`] }]),
    );
    const [user] = await store.listUsers({ realmId: 'realm-1', username: 'alice', exact: true });
    const added = user!.roleIds.filter((id) => !before.has(id));
    assert.deepEqual([...added].sort(), roles.map(({ id }) => id).sort());
  });

  rule(
    'a completed rotation counts as the last use of the session, even if the token family ends at the same time',
    async (store, _, other) => {
      await begin(store);
      for (let round = 0; round < 25; round++) {
        const id = `family of ${round}`;
        const now = START + 100 + round;
        await store.startSession(aSession({}), aFamily({ id }));
        const [first, second] = round % 2 === 0 ? [store, other] : [other, store];
        const [rotated, removed] = await Promise.all([
          first.rotateRefreshToken(rotation({ familyId: id, now })),
          second.removeFamily('session-1', id),
        ]);
        assert.equal(removed.removed, true);
        const session = (await store.findSession('session-1', false))!;
        if (rotated.outcome === 'rotated') assert.ok(session.lastAccessAt >= now);
        else assert.equal(rotated.outcome, 'gone');
      }
    },
  );

  rule(
    'a token family never outlives its session, whatever the order of parallel calls',
    async (store, _, other) => {
      await begin(store);
      for (let round = 0; round < 25; round++) {
        const id = `session of ${round}`;
        const code = { hash: hash(`code of ${round}`), now: START };
        const login = { session: aSession({ id }), sessionMustExist: false };
        await store.finishLogin({ ...login, code: aCode({ hash: code.hash, sessionId: id }) });
        const family = aFamily({ id: `family of ${round}`, sessionId: id });
        const [started, ended] = await Promise.all([
          store.startFamily(code, family),
          round % 2 === 0
            ? other.endSession(id, false).then((answer) => answer.ended)
            : other.endUserSessions('user-1', { offlineToo: false }).then((answer) => answer.ended > 0),
        ]);
        assert.equal(ended, true);
        assert.ok(['started', 'gone'].includes(started));
        assert.equal(await store.findSession(id, false), undefined);
        assert.equal(await store.findFamily(id, family.id), undefined);
      }
    },
  );
}
