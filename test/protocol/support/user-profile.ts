import type { RealmInWorld } from './world.ts';

/** Replaces a realm's user profile. */
export async function putUserProfile(realm: RealmInWorld, attributes: readonly object[]): Promise<void> {
  const { id } = realm.fixture.realm;
  await realm.put({
    do: 'create',
    component: {
      id: `user-profile-of-${id}`,
      realmId: id,
      name: 'profile',
      providerId: 'declarative-user-profile',
      providerType: 'org.keycloak.userprofile.UserProfileProvider',
      parentId: id,
      config: { 'kc.user.profile.config': [JSON.stringify({ attributes })] },
      secrets: {},
    },
  });
}
