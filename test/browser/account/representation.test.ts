import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { accountRepresentation } from '../../../src/browser/index.ts';
import type { Client } from '../../../src/model/index.ts';
import { closePasswords, openWorld, refusalOf, type World } from '../../protocol/support/world.ts';
import { type AccountRealm, realmWithAccount } from './account-realm.ts';

const ORIGIN = 'https://web.example.test';

let world: World;
let acme: AccountRealm;
let web: Client;

before(async () => {
  world = await openWorld();
  acme = await realmWithAccount(world, 'acme');
  web = await acme.realm.client('web', { webOrigins: [ORIGIN] });
  await acme.user('alice', { attributes: { locale: ['de'] } });
});
after(async () => {
  await world.close();
  await closePasswords();
});

const ask = (token: string | undefined, more: Record<string, unknown> = {}, where = acme) =>
  accountRepresentation(
    world.ctx,
    where.realm.request(
      {},
      { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), origin: ORIGIN, ...more },
    ),
    { metadata: more['metadata'] !== false },
  );
const caseOf = async (work: Promise<unknown>) => (await refusalOf(work)).case;

describe('the user’s own data in the account API (keycloak-js loadUserProfile)', () => {
  it('returns the data that users may see about themselves, by default with the metadata of the profile', async () => {
    const { access_token: token } = await acme.realm.login('alice');
    const { body, allowOrigin } = await ask(token);
    assert.equal(allowOrigin, ORIGIN);
    const { id, userProfileMetadata, ...rest } = body;
    assert.ok(id);
    assert.deepEqual(rest, {
      username: 'alice',
      firstName: 'First',
      lastName: 'Last',
      email: 'alice@example.test',
      emailVerified: true,
      attributes: {},
    });
    assert.deepEqual(userProfileMetadata?.attributes.slice(0, 2), [
      {
        name: 'username',
        required: true,
        readOnly: true,
        validators: { 'up-username-not-idn-homograph': {} },
      },
      { name: 'email', required: true, readOnly: false, validators: {} },
    ]);
    assert.ok(!('userProfileMetadata' in (await ask(token, { metadata: false })).body));
  });

  it('requires an active token of a user in this realm, not of a service account', async () => {
    const unauthorized = 'account-unauthorized';
    assert.equal(await caseOf(ask(undefined)), unauthorized);
    assert.equal(await caseOf(ask('nonsense')), unauthorized);
    const { access_token: token, refresh_token: refresh } = await acme.realm.login('alice');
    assert.equal(await caseOf(ask(refresh)), unauthorized);
    const other = await realmWithAccount(world, 'other');
    assert.equal(await caseOf(ask(token, {}, other)), unauthorized);
    await acme.realm.client('job', { secret: 's3cret-of-the-job', serviceAccountsEnabled: true });
    const form = { client_id: 'job', client_secret: 's3cret-of-the-job' };
    const job = await acme.realm.tokens({ grant_type: 'client_credentials', ...form });
    assert.equal(await caseOf(ask(job.access_token)), unauthorized);
    world.clock.pass(301);
    assert.equal(await caseOf(ask(token)), unauthorized);
  });

  it('requires a token for the client account with one of its roles, even if the token is lightweight', async () => {
    await acme.user('nobody', { roleIds: [] });
    const nobody = await acme.realm.login('nobody');
    assert.equal(await caseOf(ask(nobody.access_token)), 'account-unauthorized');
    await acme.user('applications', { roleIds: [acme.roles['view-applications']!] });
    const wrongRole = await acme.realm.login('applications');
    assert.equal(await caseOf(ask(wrongRole.access_token)), 'account-forbidden');
    await acme.realm.client('narrow', { fullScopeAllowed: false });
    const narrow = await acme.realm.login('alice', { client_id: 'narrow' });
    assert.equal(await caseOf(ask(narrow.access_token, { origin: undefined })), 'account-unauthorized');
    const attributes = { 'client.use.lightweight.access.token.enabled': 'true' };
    await acme.realm.client('light', { attributes });
    const light = await acme.realm.login('alice', { client_id: 'light' });
    assert.equal((await ask(light.access_token, { origin: undefined })).body.username, 'alice');
  });

  it('allows pages of the client’s own origins to read the response (CORS)', async () => {
    const { access_token: token } = await acme.realm.login('alice');
    assert.equal(await caseOf(ask(token, { origin: 'https://evil.example' })), 'invalid-origin');
    const refused = await refusalOf(ask('nonsense'));
    assert.equal(refused.allowOrigin, ORIGIN, 'a page can read that its token is refused');
    assert.ok(web.webOrigins.includes(ORIGIN));
  });

  it('returns no account data if the client account is disabled', async () => {
    const { realm, account, user } = await realmWithAccount(world, 'off');
    await realm.client('web', { webOrigins: [ORIGIN] });
    await user('alice');
    const { access_token: token } = await realm.login('alice');
    await realm.put({ do: 'put', client: { ...account, enabled: false } });
    const request = realm.request({}, { authorization: `Bearer ${token}` });
    assert.equal(await caseOf(accountRepresentation(world.ctx, request, { metadata: true })), 'account-off');
  });
});
