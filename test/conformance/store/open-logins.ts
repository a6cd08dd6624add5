import assert from 'node:assert/strict';
import type { AuthenticationSession } from '../../../src/model/index.ts';
import { begin } from './login.ts';
import { aClient, anAuthenticationSession, aRealm, START } from './records.ts';
import { many, type Rule } from './suite.ts';

/** Rules for logins that strangers start and never finish. */
export function openLoginRules(rule: Rule): void {
  rule(
    'keeps the newest authentication sessions of a realm, and all those with a verified user',
    async (store, _, other) => {
      await begin(store);
      await store.apply([
        { do: 'create', realm: aRealm({ id: 'realm-2', name: 'other' }) },
        { do: 'create', client: aClient({ id: 'client-3', realmId: 'realm-2' }) },
      ]);
      const put = (id: string, at: number, more: Partial<AuthenticationSession> = {}) =>
        store.putAuthenticationSession(
          anAuthenticationSession({ id, expiresAt: START + 1000 + at, ...more }),
        );
      // This text looks like the note that marks a verified user. A stranger can put it only into a parameter of the
      // request.
      const request = { ...anAuthenticationSession({}).request, state: '"passwordUser":"x"' };
      for (let at = 0; at < 10; at++) await put(`open-${at}`, at, { request });
      await put('user', 0, { userId: 'user-1' });
      await put('password', 0, { notes: { passwordUser: 'user-1' } });
      await put('elsewhere', 0, { realmId: 'realm-2', clientUuid: 'client-3' });
      assert.equal((await store.figures()).openLogins, 13);
      for (const id of ['user', 'password', 'unknown'])
        assert.deepEqual(await store.removeUnprovedSession(id), { removed: false }, id);
      await put('open-x', 0, { request });
      assert.deepEqual(await store.removeUnprovedSession('open-x'), { removed: true });
      const removed = await many(4, [store, other], (one) => one.boundAuthenticationSessions('realm-1', 4));
      assert.equal(
        removed.reduce((sum, one) => sum + one.removed, 0),
        6,
      );
      for (let at = 0; at < 10; at++)
        assert.equal((await store.findAuthenticationSession(`open-${at}`)) !== undefined, at >= 6, `${at}`);
      for (const id of ['user', 'password', 'elsewhere'])
        assert.ok(await store.findAuthenticationSession(id), id);
      assert.equal((await store.figures()).openLogins, 7);
    },
  );
}
