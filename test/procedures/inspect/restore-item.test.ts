import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { generateMasterKey } from '../../../src/config/index.ts';
import { diffSets, type ItemPlan, restoreItem } from '../../../src/procedures/index.ts';
import { missingPostgres } from '../../store/postgres-server.ts';
import { copyKeycloakSet, makePlatform, PASSPHRASE, procedureOptions } from '../platform.ts';
import { type ServedPlatform, servePlatform } from './served-platform.ts';

const code = (name: string) => (error: unknown) => (error as { code?: string }).code === name;

const ALICE = '00ad8584-84ce-4394-8765-beb9c63bd177';
const ORDERS_API = '5b60f5e6-429d-4e1c-ba67-b2edb8f8ff17';
const ORDERS_JOB = '2ce410ba-7378-4410-86b0-7f4889547d2f';
const STAFF = '3b1703a5-508d-4f14-a225-4c7a7ffae0f3';

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

const restoring = ({ settings, admin }: ServedPlatform, set: string) => {
  return (item: { realm?: string; user?: string; client?: string; group?: string }, own: object = {}) =>
    restoreItem(settings, {
      ...procedureOptions(),
      set,
      admin,
      passphrase: PASSPHRASE,
      item: { realm: 'acme', ...item },
      ...own,
    });
};

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

describe('restore-item', () => {
  it('decrypts secrets with the master key of the set, and the service encrypts them with its own', async (t) => {
    const platform = await servePlatform(t, 'sqlite');
    const { admin } = platform;
    const set = await platform.backup();
    const { body: before } = await admin.call('GET', `/acme/clients/${ORDERS_JOB}/client-secret`);
    await admin.call('DELETE', `/acme/clients/${ORDERS_JOB}`);
    const other = { ...platform, settings: { ...platform.settings, masterKey: generateMasterKey() } };
    const unsealed = restoring(other, set)(
      { client: 'orders-job' },
      { passphrase: undefined, trustUnsealed: true },
    );
    await assert.rejects(unsealed, code('IDKIT_MASTER_KEY_WRONG'));
    await restoring(other, set)({ client: 'orders-job' });
    assert.deepEqual((await admin.call('GET', `/acme/clients/${ORDERS_JOB}/client-secret`)).body, before);
  });

  it('rejects a set whose seal is not checked or does not hold, unless the operator trusts an unsealed one', async (t) => {
    const platform = await servePlatform(t, 'sqlite');
    const set = await platform.backup();
    const restore = restoring(platform, set);
    await assert.rejects(restore({ user: 'alice' }, { passphrase: undefined }), code('IDKIT_UNSEALED'));
    await rm(join(set, 'seal.gpg'));
    await assert.rejects(restore({ user: 'alice' }), code('IDKIT_UNSEALED'));
    const trusted = await restore({ user: 'alice' }, { trustUnsealed: true });
    assert.equal(trusted.results[0]?.action, 'kept');
  });

  it('keeps a changed user, returns it to its state with overwrite, and reports a taken name as a clash', async (t) => {
    const platform = await servePlatform(t, 'sqlite');
    const { admin } = platform;
    const set = await platform.backup();
    const restore = restoring(platform, set);
    await admin.call('PUT', `/acme/users/${ALICE}`, { firstName: 'Changed' });
    const nameOf = async () =>
      ((await admin.call('GET', `/acme/users/${ALICE}`)).body as { firstName: string }).firstName;
    assert.equal((await restore({ user: ALICE })).results[0]?.action, 'kept');
    assert.equal(await nameOf(), 'Changed');
    assert.equal((await restore({ user: 'alice' }, { overwrite: true })).results[0]?.action, 'changed');
    assert.equal(await nameOf(), 'Alice');

    await admin.call('DELETE', `/acme/users/${ALICE}`);
    await admin.call('POST', '/acme/users', { username: 'alice', enabled: true });
    const planned = await restore({ user: 'alice' }, { dryRun: true });
    assert.deepEqual(
      planned.findings.map(({ code: name }) => name),
      ['CLASH'],
    );
    await assert.rejects(restore({ user: 'alice' }), code('IDKIT_FAILED'));
  });

  it('rejects a set of Keycloak with IDKIT_VERSION, before it calls the service', async (t) => {
    const { dir, passphrase } = await copyKeycloakSet(t);
    const settings = await (await makePlatform(t)).load();
    const admin = undefined as never;
    const own = { ...procedureOptions(), set: dir, admin, passphrase, trustUnsealed: true };
    const restoring = restoreItem(settings, { ...own, item: { realm: 'acme', user: 'alice' } });
    await assert.rejects(restoring, code('IDKIT_VERSION'));
  });

  it('changes nothing if the operator declines the plan, and names what the set does not contain', async (t) => {
    const platform = await servePlatform(t, 'sqlite');
    const set = await platform.backup();
    const restore = restoring(platform, set);
    await platform.admin.call('DELETE', `/acme/users/${ALICE}`);
    const plans: ItemPlan[] = [];
    const confirm = async (plan: ItemPlan) => {
      plans.push(plan);
      return false;
    };
    assert.equal((await restore({ user: 'alice' }, { confirm })).outcome, 'declined');
    assert.equal(plans[0]?.results[0]?.name, 'alice');
    for (const item of [{ user: 'nobody' }, { client: 'none' }, { group: '/none' }, { realm: 'none' }])
      await assert.rejects(restore(item), code('IDKIT_NOT_FOUND'));
  });
});
