import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportRealm, importRealm } from '../../../src/admin/index.ts';
import { openPlace } from '../place.ts';

/** Returns a realm file with a user who has the given consents. */
function withConsents(clientConsents: unknown): Record<string, unknown> {
  return {
    realm: 'acme',
    enabled: true,
    clients: [
      { clientId: 'shop', consentRequired: true },
      { clientId: 'desk', consentRequired: true },
    ],
    users: [{ username: 'alice', enabled: true, clientConsents }],
  };
}

const CONSENTS = [
  {
    clientId: 'desk',
    grantedClientScopes: ['desk'],
    createdDate: 1_700_000_000_000,
    lastUpdatedDate: 1_700_000_000_500,
  },
  {
    clientId: 'shop',
    grantedClientScopes: ['profile', 'email'],
    createdDate: 1_700_000_000_001,
    lastUpdatedDate: 1_700_000_000_002,
  },
];

test('keeps the consents of an imported user, and exports them again', async () => {
  await using place = await openPlace();
  const { store } = place.context;
  const { realmId } = await importRealm(place.context, withConsents(CONSENTS), { source: 'file' });
  const alice = (await store.findUserByUsername(realmId, 'alice'))!;
  assert.deepEqual(alice.kept, {});
  const shop = (await store.findClient(realmId, 'shop'))!;
  const scopes = (await store.findRealm('acme'))!.clientScopes;
  const consent = (await store.findConsent(alice.id, shop.id))!;
  assert.deepEqual(
    consent.scopeIds.map((id) => scopes.get(id)!.name),
    ['profile', 'email'],
  );
  const exported = await exportRealm(place.context, 'acme');
  const [user] = exported['users'] as Record<string, unknown>[];
  assert.deepEqual(user!['clientConsents'], CONSENTS);
  await using other = await openPlace();
  const again = JSON.parse(JSON.stringify(exported));
  await importRealm(other.context, again, { source: 'file' });
  const [copy] = (await exportRealm(other.context, 'acme'))['users'] as Record<string, unknown>[];
  assert.deepEqual(copy!['clientConsents'], CONSENTS);
});

test('rejects a consent to an unknown client or scope with its JSON path, and imports nothing', async () => {
  await using place = await openPlace();
  const refused: [unknown, RegExp][] = [
    [[{ clientId: 'shopp' }], /\$\.users\[0\]\.clientConsents\[0\]\.clientId.*did you mean "shop"/],
    [[{}], /\$\.users\[0\]\.clientConsents\[0\]\.clientId: a consent needs a client/],
    [
      [{ clientId: 'shop', grantedClientScopes: ['email', 'emails'] }],
      /clientConsents\[0\]\.grantedClientScopes\[1\].*did you mean "email"/,
    ],
    ['everything', /clientConsents: must be a list/],
    [
      [{ clientId: 'shop', createdDate: 'today' }],
      /clientConsents\[0\]\.createdDate: must be a whole number/,
    ],
    [[{ clientId: 'shop', scopes: [] }], /clientConsents\[0\]\.scopes: unknown field/],
  ];
  for (const [consents, message] of refused)
    await assert.rejects(importRealm(place.context, withConsents(consents), { source: 'file' }), {
      code: 'IDKIT_IMPORT',
      message,
    });
  assert.deepEqual(await place.context.store.listRealmNames(), []);
});
