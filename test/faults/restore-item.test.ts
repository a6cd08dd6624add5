import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diffSets } from '../../src/procedures/index.ts';
import { ALICE, ORDERS_API, ORDERS_JOB, restoring, STAFF } from '../procedures/inspect/restoring.ts';
import { servePlatform } from '../procedures/inspect/served-platform.ts';
import { procedureOptions } from '../procedures/platform.ts';
import { missingPostgres } from '../store/postgres-server.ts';

const code = (name: string) => (error: unknown) => (error as { code?: string }).code === name;

/** Differences that a return leaves: old tokens are invalid, and secrets are encrypted again. */
const LEFT = new Set(['notBefore', 'secrets']);

/** Returns the other differences between two sets, without those of master. */
async function differences(before: string, after: string): Promise<unknown[]> {
  const compared = await diffSets({ ...procedureOptions(), before, after });
  try {
    return [...compared.differences()].filter(
      ({ change, realm, fields, gained, lost }) =>
        realm !== 'master' &&
        !(
          change === 'changed' &&
          gained === undefined &&
          lost === undefined &&
          fields?.every((one) => LEFT.has(one))
        ),
    );
  } finally {
    await compared.close();
  }
}

for (const kind of ['sqlite', 'postgres'] as const) {
  const skip = kind === 'postgres' ? (missingPostgres() ?? false) : false;
  describe(`restore-item on ${kind}`, { skip }, () => {
    it('puts a user, clients, a group tree and a whole realm back, so that the next set is the same', async (t) => {
      const platform = await servePlatform(t, kind);
      const { admin } = platform;
      const set = await platform.backup();
      const restore = restoring(platform, set);

      await admin.call('DELETE', `/acme/users/${ALICE}`);
      const planned = await restore({ user: 'alice' }, { dryRun: true });
      assert.equal(planned.outcome, 'planned');
      assert.deepEqual(planned.results, [{ action: 'created', kind: 'user', name: 'alice', id: ALICE }]);
      assert.equal(
        (await admin.request({ method: 'GET', path: `/admin/realms/acme/users/${ALICE}` })).status,
        404,
      );
      assert.equal((await restore({ user: 'alice' })).outcome, 'restored');
      assert.deepEqual(await differences(set, await platform.backup(['database'])), []);

      await admin.call('DELETE', `/acme/clients/${ORDERS_JOB}`);
      await admin.call('DELETE', `/acme/clients/${ORDERS_API}`);
      await admin.call('DELETE', `/acme/groups/${STAFF}`);
      const lost = await differences(set, await platform.backup(['database']));
      assert.ok(lost.length >= 6, JSON.stringify(lost));
      await restore({ client: 'orders-api' });
      await restore({ client: 'orders-job' });
      await restore({ group: '/staff' });
      assert.deepEqual(await differences(set, await platform.backup(['database'])), []);

      await admin.call('DELETE', '/acme');
      await assert.rejects(restore({ user: 'alice' }), code('IDKIT_NOT_FOUND'));
      const realm = await restore({});
      assert.equal(realm.results[0]?.kind, 'realm');
      assert.deepEqual(await differences(set, await platform.backup(['database'])), []);
      const again = await restore({});
      assert.ok(again.results.every(({ action }) => action === 'kept'));
    });
  });
}
