// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of realm files
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importRealm, resolvePlaceholders } from '../../../src/admin/index.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { openPlace } from '../place.ts';

const MASK = '**********';
const KEY = 'org.keycloak.keys.KeyProvider';
const STORAGE = 'org.keycloak.storage.UserStorageProvider';

const values: Readonly<Record<string, string>> = { NAME: 'acme', EMPTY: '', IDKIT_MASTER_KEY: 'the key' };
const resolve = (text: string) => resolvePlaceholders({ a: [text] }, (name) => values[name]);

test('replaces placeholders with environment variables as Keycloak 26.7.3 does', () => {
  for (const [text, resolved] of [
    ['${NAME}', 'acme'],
    ['pre-${NAME}-post', 'pre-acme-post'],
    ['${UNSET}', '${UNSET}'],
    ['${UNSET:default}', 'default'],
    ['${UNSET:a:b}', 'a:b'],
    ['${UNSET:}', ''],
    ['${EMPTY:default}', ''],
    ['${UNSET,NAME}', 'acme'],
    ['${env.NAME}', '${env.NAME}'],
    ['${}', '${}'],
    ['$${NAME}', '$${NAME}'],
    ['${role_default-roles}', '${role_default-roles}'],
    ['$1 ${NAME} $&', '$1 acme $&'],
  ] as const)
    assert.deepEqual(resolve(text), { a: [resolved] }, text);
});

test('never replaces a placeholder with one of idkit’s own settings', () => {
  for (const text of ['${IDKIT_MASTER_KEY}', '${idkit_master_key,IDKIT_MASTER_KEY}'])
    assert.deepEqual(resolve(text), { a: [text] });
});

/** Each path at which a realm's representation can contain a secret. */
const PLACES: readonly [path: string, realm: (secret: string) => Record<string, unknown>][] = [
  ['$.clients[0].secret', (secret) => ({ clients: [{ clientId: 'web', secret }] })],
  [
    '$.clients[0].registrationAccessToken',
    (registrationAccessToken) => ({ clients: [{ clientId: 'web', secret: 's', registrationAccessToken }] }),
  ],
  [
    '$.clients[0].attributes["client.secret.rotated"]',
    (secret) => ({
      clients: [{ clientId: 'web', secret: 's', attributes: { 'client.secret.rotated': secret } }],
    }),
  ],
  [
    '$.users[0].credentials[0].value',
    (value) => ({ users: [{ username: 'ann', credentials: [{ type: 'password', value }] }] }),
  ],
  ['$.smtpServer.password', (password) => ({ smtpServer: { host: 'mail.example.test', password } })],
  [
    '$.identityProviders[0].config.clientSecret',
    (clientSecret) => ({
      identityProviders: [{ alias: 'corp', providerId: 'oidc', config: { clientSecret } }],
    }),
  ],
  [
    `$.components["${KEY}"][0].config.privateKey[0]`,
    (key) => ({
      components: {
        [KEY]: [
          {
            name: 'rsa',
            providerId: 'rsa-generated',
            config: { privateKey: [key], certificate: ['MIIB'], priority: ['100'] },
          },
        ],
      },
    }),
  ],
  [
    `$.components["${STORAGE}"][0].config.bindCredential[0]`,
    (credential) => ({
      components: {
        [STORAGE]: [{ name: 'corp', providerId: 'ldap', config: { bindCredential: [credential] } }],
      },
    }),
  ],
];

for (const [path, realm] of PLACES)
  test(`rejects a mask or an unresolved placeholder at ${path}, unless --new-secrets replaces and reports it`, async () => {
    await using place = await openPlace();
    for (const text of [MASK, '${UNSET}', 'pre-${UNSET}']) {
      const given = { realm: 'acme', enabled: true, ...realm(text) };
      await assert.rejects(importRealm(place.context, given, { source: 'acme.json' }), (error: unknown) => {
        assert.ok(error instanceof IdkitError);
        assert.equal(error.code, 'IDKIT_IMPORT');
        assert.ok(error.message.startsWith(`acme.json: ${path}: is the `), error.message);
        assert.match(error.hints.join(), /--new-secrets/);
        return true;
      });
      assert.equal(await place.context.store.findRealm('acme'), undefined);
    }
    const given = { realm: 'acme', enabled: true, ...realm(MASK) };
    const imported = await importRealm(place.context, given, { source: 'acme.json', newSecrets: true });
    assert.deepEqual(
      imported.newSecrets.map((one) => [one.path, one.what]),
      [[path, 'mask']],
    );
    const stored = (await place.context.store.findRealm('acme'))!;
    const client = await place.context.store.findClient(imported.realmId, 'web');
    const secrets = [stored.realm, ...stored.components, ...(client === undefined ? [] : [client])].flatMap(
      (one) => Object.values(one.secrets).map((secret) => secret.reveal()),
    );
    assert.ok(!secrets.includes(MASK));
    if (path === '$.clients[0].secret') assert.equal(client!.secrets['/secret']!.reveal().length, 86);
    if (path.includes(KEY))
      assert.ok(
        secrets.some((secret) => secret.length > 1000),
        'no new key',
      );
  });

test('keeps a vault reference in a secret that idkit does not use, but rejects a vault reference as a client secret', async () => {
  await using place = await openPlace();
  const smtpServer = { host: 'mail.example.test', password: '${vault.smtp}' };
  const clients = [{ clientId: 'web', secret: '${vault.web}' }];
  await assert.rejects(
    importRealm(place.context, { realm: 'a', clients }, { source: 'a.json' }),
    /placeholder/,
  );
  await importRealm(place.context, { realm: 'b', smtpServer }, { source: 'b.json' });
  const { realm } = (await place.context.store.findRealm('b'))!;
  assert.equal(realm.secrets['/smtpServer/password']?.reveal(), '${vault.smtp}');
});

test('gives imported users exactly the roles that they list, as Keycloak 26.7.3 does', async () => {
  await using place = await openPlace();
  const { store } = place.context;
  const users = [{ username: 'plain' }, { username: 'one', realmRoles: ['offline_access'] }];
  const clients = [{ clientId: 'job', serviceAccountsEnabled: true, secret: 's' }];
  const { realmId } = await importRealm(place.context, { realm: 'acme', users, clients }, { source: 'x' });
  const { realm, roles } = (await store.findRealm('acme'))!;
  const rolesOf = async (name: string) =>
    (await store.findUserByUsername(realmId, name))!.roleIds.map((id) => roles.get(id)!.name);
  assert.deepEqual(await rolesOf('plain'), []);
  assert.deepEqual(await rolesOf('one'), ['offline_access']);
  assert.deepEqual(await rolesOf('service-account-job'), [roles.get(realm.defaultRoleId)!.name]);
});
