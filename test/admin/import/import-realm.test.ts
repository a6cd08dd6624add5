import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseRealmFile } from '../../../src/admin/import/realm-files.ts';
import { bootstrapMaster, exportRealm, importRealm, realmRepresentation } from '../../../src/admin/index.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { effectiveRoleIds } from '../../../src/model/index.ts';
import { BOOTSTRAP, openPlace, readExport } from '../place.ts';

type Rep = Record<string, unknown>;

/** Returns the value with sorted lists and keys, so that a comparison ignores their order. */
function unordered(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(unordered).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, unordered(entry)]),
  );
}

test('imports exports of a real Keycloak with their users, roles, password hashes and keys', async () => {
  await using place = await openPlace();
  const { context } = place;
  await bootstrapMaster(context, BOOTSTRAP);
  for (const [name, users, notBuilt] of [
    ['acme', 13, ['forgotten password', 'mail server']],
    ['globex', 1000, []],
    ['initech', 0, []],
  ] as const) {
    const given = readExport(`${name}-realm.json`);
    const imported = await importRealm(context, given, { source: name });
    assert.equal(imported.users, users, name);
    assert.deepEqual(
      imported.unenforced.map(({ what }) => what),
      notBuilt,
      name,
    );
    assert.deepEqual([imported.bare, imported.newSecrets], [false, []], name);
    assert.equal(await context.store.countUsers({ realmId: imported.realmId }), users, name);
    const exported = await exportRealm(context, name);
    for (const field of ['clients', 'clientScopes', 'groups', 'authenticationFlows', 'smtpServer'])
      assert.deepEqual(unordered(exported[field]), unordered(given[field]), `${name} ${field}`);
    const ids = keyIds(exported);
    for (const id of keyIds(given)) assert.ok(ids.includes(id), `${name} lost a key`);
    const hashes = (rep: Rep) =>
      (rep['users'] as Rep[]).flatMap((user) =>
        (user['credentials'] as Rep[]).map(
          (one) => `${user['username']} ${one['secretData']} ${one['credentialData']}`,
        ),
      );
    assert.deepEqual(hashes(exported).sort(), hashes(given).sort(), name);
  }
});

test('importing the export of a realm creates the same realm', async () => {
  await using first = await openPlace();
  await importRealm(first.context, readExport('acme-realm.json'), { source: 'acme' });
  const exported = await exportRealm(first.context, 'acme');
  await using second = await openPlace();
  await importRealm(second.context, JSON.parse(JSON.stringify(exported)), { source: 'acme' });
  assert.deepEqual(unordered(await exportRealm(second.context, 'acme')), unordered(exported));
});

test('resolves the roles of composites, groups and service accounts by name', async () => {
  await using place = await openPlace();
  const { context } = place;
  const { realmId } = await importRealm(context, readExport('acme-realm.json'), { source: 'acme' });
  const configuration = (await context.store.findRealm('acme'))!;
  const alice = (await context.store.findUserByUsername(realmId, 'alice'))!;
  const names = [...effectiveRoleIds(configuration, alice)].map((id) => configuration.roles.get(id)!.name);
  for (const name of ['manager', 'user', 'orders:read', 'orders:write', 'default-roles-acme'])
    assert.ok(names.includes(name), name);
  const job = (await context.store.findClient(realmId, 'orders-job'))!;
  assert.equal((await context.store.findServiceAccount(job.id))!.username, 'service-account-orders-job');
});

test('adds the defaults to a realm that has only a name (docs/keycloak/realms.md#defaults)', async () => {
  await using place = await openPlace();
  const { context } = place;
  await bootstrapMaster(context, BOOTSTRAP);
  const { realmId } = await importRealm(context, { realm: 'x', enabled: true }, { source: 'x' });
  const configuration = (await context.store.findRealm('x'))!;
  const clients = (await context.store.listClients({ realmId })).map(({ clientId }) => clientId);
  assert.deepEqual(clients, [
    'account',
    'account-console',
    'admin-cli',
    'broker',
    'realm-management',
    'security-admin-console',
  ]);
  const { settings } = configuration.realm;
  assert.equal(settings.revokeRefreshToken, true, 'refresh tokens rotate');
  assert.equal(settings.accessTokenLifespan, 300, 'an access token lives 5 minutes');
  assert.deepEqual(configuration.components.map(({ providerId }) => providerId).sort(), [
    'aes-generated',
    'hmac-generated',
    'rsa-enc-generated',
    'rsa-generated',
  ]);
  const acme = readExport('acme-realm.json');
  const ours = unordered(withoutIds((await exportRealm(context, 'x'))['clientScopes']));
  const theirs = unordered(
    withoutIds((acme['clientScopes'] as Rep[]).filter((scope) => scope['name'] !== 'orders')),
  );
  assert.deepEqual(ours, theirs);
});

function withoutIds(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, entry) => (key === 'id' ? undefined : entry)));
}

test('gives the administrators of master access to every realm (docs/keycloak/admin-api.md#roles)', async () => {
  await using place = await openPlace();
  const { context } = place;
  await bootstrapMaster(context, BOOTSTRAP);
  await Promise.all(
    ['a', 'b', 'c'].map((realm) => importRealm(context, { realm, enabled: true }, { source: realm })),
  );
  const master = (await context.store.findRealm('master'))!;
  const admin = (await context.store.findUserByUsername(master.realm.id, 'admin'))!;
  const ids = effectiveRoleIds(master, admin);
  for (const realm of ['a', 'b', 'c', 'master']) {
    const client = (await context.store.findClient(master.realm.id, `${realm}-realm`))!;
    const own = master.roles.values().filter((role) => role.clientUuid === client.id);
    for (const role of own) assert.ok(ids.has(role.id), `${realm} ${role.name}`);
  }
});

test('adds no built-in scopes to a representation with clientScopes', async () => {
  await using place = await openPlace();
  await importRealm(place.context, { realm: 'x', clientScopes: [{ name: 'own' }] }, { source: 'x' });
  const configuration = (await place.context.store.findRealm('x'))!;
  assert.deepEqual(
    [...configuration.clientScopes.values()].map(({ name }) => name),
    ['own'],
  );
});

test('masks secrets in the realm representation, but not in an export (docs/keycloak/admin-api.md#masking)', async () => {
  await using place = await openPlace();
  await importRealm(place.context, readExport('acme-realm.json'), { source: 'acme' });
  const shown = realmRepresentation((await place.context.store.findRealm('acme'))!);
  assert.equal((shown['smtpServer'] as Rep)['password'], '**********');
  assert.equal(shown['users'], undefined);
  assert.doesNotMatch(JSON.stringify(shown), /smtp-Secret-1/);
});

const faults: readonly [string, unknown, RegExp][] = [
  [
    'an unknown field',
    { realm: 'x', clients: [{ clientId: 'c', redirectUri: [] }] },
    /\$\.clients\[0\]\.redirectUri: unknown field, did you mean redirectUris\?/,
  ],
  [
    'a wrong type',
    { realm: 'x', accessTokenLifespan: 'soon' },
    /\$\.accessTokenLifespan: must be a whole number/,
  ],
  ['a list instead of a realm', [], /\$: must be an object/],
  ['a name that is a path', { realm: '../x' }, /\$\.realm: /],
  ['a control character in the name', { realm: 'a\nb' }, /\$\.realm: /],
  ['a NUL byte', { realm: 'x', displayName: 'a\0b' }, /\$\.displayName: must not contain a NUL byte/],
  [
    'an unknown role',
    { realm: 'x', users: [{ username: 'u', realmRoles: ['offline_acces'] }] },
    /\$\.users\[0\]\.realmRoles\[0\]: no realm role is called "offline_acces", did you mean "offline_access"/,
  ],
  [
    'a duplicate username',
    { realm: 'x', users: [{ username: 'Bob' }, { username: 'bob' }] },
    /\$\.users\[1\]\.username.*\$\.users\[0\]\.username/,
  ],
  [
    'a duplicate clientId',
    { realm: 'x', clients: [{ clientId: 'c' }, { clientId: 'c' }] },
    /\$\.clients\[1\]\.clientId.*\$\.clients\[0\]\.clientId/,
  ],
  [
    'a redirect URI that runs scripts',
    { realm: 'x', clients: [{ clientId: 'c', redirectUris: ['javascript:alert(1)'] }] },
    /\$\.clients\[0\]\.redirectUris\[0\]/,
  ],
];
for (const [what, representation, named] of faults)
  test(`rejects ${what} with IDKIT_IMPORT, which names the file and the JSON path, and stores nothing`, async () => {
    await using place = await openPlace();
    await assert.rejects(
      importRealm(place.context, representation, { source: 'x.json' }),
      (error: IdkitError) => {
        assert.equal(error.code, 'IDKIT_IMPORT');
        assert.match(error.message, /^x\.json: /);
        assert.match(error.message, named);
        return true;
      },
    );
    assert.deepEqual(await place.context.store.listRealmNames(), []);
  });

test('rejects JSON that is nested too deeply', async () => {
  await using place = await openPlace();
  const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
  await assert.rejects(
    importRealm(place.context, { realm: 'x', identityProviders: deep }, { source: 'x' }),
    /nested deeper/,
  );
});

test('either imports random JSON or rejects it with IDKIT_IMPORT', async () => {
  await using place = await openPlace();
  const { context } = place;
  const fields = [
    'users',
    'clients',
    'roles',
    'groups',
    'clientScopes',
    'attributes',
    'enabled',
    'components',
    'scopeMappings',
  ];
  const entry = fc.dictionary(
    fc.constantFrom(
      'id',
      'name',
      'username',
      'clientId',
      'attributes',
      'config',
      'subGroups',
      'realm',
      '__proto__',
      'groups',
    ),
    fc.jsonValue({ maxDepth: 2 }),
    { maxKeys: 4 },
  );
  const representation = fc.dictionary(
    fc.constantFrom(...fields),
    fc.oneof(fc.array(entry, { maxLength: 3 }), entry, fc.jsonValue()),
    { maxKeys: 4 },
  );
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(representation, fc.jsonValue()), async (value) => {
      number += 1;
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      // Add keys, because the import would otherwise generate an RSA key for each realm, which is slow.
      const given = isObject ? { components: readKeys(), ...value, realm: `r${number}` } : value;
      try {
        await importRealm(context, given, { source: 'x' });
      } catch (error) {
        assert.ok(
          error instanceof IdkitError && error.code === 'IDKIT_IMPORT',
          String((error as Error).stack),
        );
      }
    }),
    { numRuns: 150 },
  );
});

function readKeys(): Rep {
  const components = readExport('initech-realm.json')['components'] as Record<string, Rep[]>;
  const keys = components['org.keycloak.keys.KeyProvider']!;
  return { 'org.keycloak.keys.KeyProvider': keys.map(({ id: _id, ...key }) => key) };
}

/** Returns each key component, including its secrets, as one string. */
function keyIds(representation: Rep): string[] {
  const components = representation['components'] as Record<string, Rep[]>;
  return components['org.keycloak.keys.KeyProvider']!.map((key) => JSON.stringify(unordered(key)));
}

test('reports the file name and the position of invalid JSON, but never the content', () => {
  const secret = 'hunter2-hunter2';
  for (const [content, place] of [
    [`{"realm":"x","secret":"${secret}" "y":1}`, /x\.json: .* at position 40/],
    [`{"secret":"${secret}`, /x\.json: /],
    [`${secret}`, /x\.json: /],
    [`{"secret":${secret}}`, /x\.json: /],
    ['{', /x\.json: /],
    ['', /x\.json: .*ends too early/],
  ] as const)
    assert.throws(
      () => parseRealmFile(content, 'x.json'),
      (error: unknown) => {
        assert.ok(error instanceof IdkitError);
        assert.equal(error.code, 'IDKIT_IMPORT');
        assert.match(error.message, place);
        assert.equal(error.cause, undefined);
        assert.ok(!`${error.message}${error.hints.join('')}${error.stack}`.includes('hunter2'));
        return true;
      },
    );
});

test('masks the private keys of realms from old versions of Keycloak', async () => {
  await using place = await openPlace();
  const { context } = place;
  await importRealm(context, { realm: 'old', privateKey: 'pem-key', codeSecret: 'code' }, { source: 'old' });
  const shown = realmRepresentation((await context.store.findRealm('old'))!);
  assert.deepEqual([shown['privateKey'], shown['codeSecret']], ['**********', '**********']);
  assert.equal((await exportRealm(context, 'old'))['privateKey'], 'pem-key');
});
