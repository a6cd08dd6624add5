import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { generateMasterKey } from '../../../src/config/index.ts';
import { type ItemPlan, restoreItem } from '../../../src/procedures/index.ts';
import { copyKeycloakSet, makePlatform, procedureOptions } from '../platform.ts';
import { ALICE, ORDERS_JOB, restoring } from './restoring.ts';
import { servePlatform } from './served-platform.ts';

const code = (name: string) => (error: unknown) => (error as { code?: string }).code === name;

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
    const restored = restoreItem(settings, { ...own, item: { realm: 'acme', user: 'alice' } });
    await assert.rejects(restored, code('IDKIT_VERSION'));
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
