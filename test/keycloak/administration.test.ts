import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePlace, runIdkit } from '../journey/idkit.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { KEYCLOAK_ADMIN, missingKeycloak, startKeycloak } from './keycloak-server.ts';

const skip = missingPostgres() ?? missingKeycloak() ?? false;

describe('daily administration of a real Keycloak 26', { skip }, () => {
  it('works as on idkit', async (t) => {
    const keycloak = await startKeycloak(t, await startPostgres(t));
    const cwd = makePlace(t);
    const env: NodeJS.ProcessEnv = {
      IDKIT_ADMIN_USERNAME: KEYCLOAK_ADMIN.username,
      IDKIT_ADMIN_PASSWORD: KEYCLOAK_ADMIN.password,
      IDKIT_USER_PASSWORD: 'correct horse',
      IDKIT_REALM: 'acme',
    };
    const admin = (words: string, stdin?: string) =>
      runIdkit(['admin', ...words.split(' '), '--base-url', keycloak.baseUrl, '--timeout', '120'], {
        cwd,
        env,
        ...(stdin === undefined ? {} : { stdin }),
      });
    const succeed = async (words: string, stdin?: string) => {
      const ended = await admin(words, stdin);
      assert.equal(ended.code, 0, `${words}: ${ended.stdout}${ended.stderr}`);
      return ended.stdout;
    };
    const list = async (words: string) =>
      JSON.parse(await succeed(`${words} -o json`)) as Record<string, unknown>[];
    const get = async (words: string) =>
      JSON.parse(await succeed(`${words} -o json`)) as Record<string, unknown>;
    const names = (records: readonly Record<string, unknown>[], field = 'name') =>
      records.map((record) => record[field]);

    await succeed('realm create acme');

    await t.test('creates, reads, lists, changes and deletes each kind of record', async () => {
      for (const { noun, name, path, value, field } of [
        { noun: 'user', name: 'ann', path: 'firstName', value: 'Ann', field: 'username' },
        { noun: 'role', name: 'writer', path: 'description', value: 'Writes', field: 'name' },
        { noun: 'client', name: 'site', path: 'name', value: 'Site', field: 'clientId' },
        { noun: 'client-scope', name: 'stock', path: 'description', value: 'Stock', field: 'name' },
      ]) {
        await succeed(`${noun} create ${name}`);
        assert.ok(names(await list(`${noun} list`), field).includes(name), noun);
        await succeed(`${noun} update ${name} --set ${path}=${value}`);
        assert.equal((await get(`${noun} get ${name}`))[path], value, noun);
        await succeed(`${noun} delete ${name} --yes`);
        assert.equal((await admin(`${noun} get ${name}`)).code, 10, noun);
      }
      await succeed('realm update acme --set accessTokenLifespan=120');
      assert.equal((await get('realm get acme'))['accessTokenLifespan'], 120);
      await succeed('realm disable acme');
      await succeed('realm enable acme');
    });

    await t.test('changes one field of a user and keeps the others', async () => {
      await succeed('user create bea --email bea@example.org --first-name Bea --last-name Bee --password');
      await succeed('user update bea --set firstName=Beatrice');
      const { email, firstName, lastName } = await get('user get bea');
      assert.deepEqual([email, firstName, lastName], ['bea@example.org', 'Beatrice', 'Bee']);
      await succeed('user disable bea');
      assert.equal((await get('user get bea'))['enabled'], false);
      await succeed('user enable bea');
      assert.match(await succeed('user unlock bea'), /bea was not locked/);
      assert.deepEqual(names(await list('user credential list bea'), 'type'), ['password']);
    });

    await t.test('lists effective roles with their origin', async () => {
      await succeed('role create editor');
      await succeed('group create staff');
      await succeed('group create /staff/berlin');
      await succeed('group role add /staff editor');
      await succeed('user group add bea /staff/berlin');
      await succeed('user role add bea view-users --client realm-management');
      const roles = await list('user role list bea');
      const from = Object.fromEntries(
        roles.map(({ client = '', name, from }) => [`${client}/${name}`, from]),
      );
      assert.equal(from['/editor'], 'group /staff');
      assert.equal(from['realm-management/view-users'], 'direct');
      assert.equal(from['realm-management/query-users'], 'role view-users');
      assert.deepEqual(names(await list('group members /staff/berlin'), 'username'), ['bea']);
      assert.deepEqual(names(await list('group list --recursive'), 'path'), ['/staff', '/staff/berlin']);
      assert.deepEqual(names(await list('group list --search berl'), 'path'), ['/staff/berlin']);
    });

    await t.test('replaces the secret of a client and manages its service account', async () => {
      await succeed('client create job');
      const before = await succeed('client secret get job');
      const after = await succeed('client secret regenerate job --yes');
      assert.notEqual(before, after);
      await succeed('client update job --set name=Job');
      assert.equal(await succeed('client secret get job'), after);
      assert.ok(!(await succeed('client list --json')).includes(after.trim()));
      await succeed('client service-account role add job view-users --client realm-management');
      const roles = await list('client service-account role list job --direct');
      assert.ok(names(roles).includes('view-users'));
    });

    await t.test('rotates a key, and the old one stays in the key set', async () => {
      const before = (await list('key list')).find(({ algorithm }) => algorithm === 'RS256');
      await succeed('key rotate --yes');
      const keys = await list('key list');
      const signing = keys.find(({ algorithm, status }) => algorithm === 'RS256' && status === 'ACTIVE');
      assert.notEqual(signing?.['kid'], before?.['kid']);
      assert.equal(keys.find(({ kid }) => kid === before?.['kid'])?.['status'], 'PASSIVE');
      await succeed(`key disable --kid ${before?.['kid']} --yes`);
      await succeed(`key delete --kid ${before?.['kid']} --yes`);
    });

    await t.test('lists sessions and events', async () => {
      await succeed('realm update acme --set eventsEnabled=true --set adminEventsEnabled=true');
      await succeed('client create web --public --direct-grants');
      const response = await fetch(`${keycloak.baseUrl}/realms/acme/protocol/openid-connect/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'password',
          client_id: 'web',
          username: 'bea',
          password: 'correct horse',
        }),
      });
      assert.equal(response.status, 200, await response.text());
      assert.deepEqual(names(await list('session list'), 'username'), ['bea']);
      assert.deepEqual(names(await list('session list --client web'), 'username'), ['bea']);
      await succeed('user logout bea');
      assert.deepEqual(await list('session list --username bea'), []);
      assert.ok(names(await list('event list user --username bea'), 'type').includes('LOGIN'));
      assert.ok((await list('event list admin --operation CREATE')).length > 0);
    });
  });
});
