import type { Client, RealmSettings, User } from '../../../src/model/index.ts';
import { closePasswords, openWorld, type RealmInWorld, refusalOf, type World } from './world.ts';

/** The name and the description of a refusal. */
interface RefusalSummary {
  name: string;
  description: string | undefined;
}

/** A realm with the clients `web` and `other` and the user `alice`, in which tests present refresh tokens. */
export interface RefreshRealm {
  world: World;
  realm: RealmInWorld;
  web: Client;
  alice: User;
  refusalOfRefresh(
    token: string | undefined,
    form?: Record<string, string>,
    where?: RealmInWorld,
  ): Promise<RefusalSummary>;
  /** Creates another realm with the client `web` and the user `alice`, for tests that change settings. */
  ownRealm(settings?: Partial<RealmSettings>): Promise<{ own: RealmInWorld; client: Client; user: User }>;
  close(): Promise<void>;
}

export async function openRefreshRealm(): Promise<RefreshRealm> {
  const world = await openWorld();
  const realm = await world.realm('acme');
  const web = await realm.client('web');
  await realm.client('other');
  const alice = await realm.user('alice');
  let names = 0;
  return {
    world,
    realm,
    web,
    alice,
    async refusalOfRefresh(token, form, where = realm) {
      const { case: name, description } = await refusalOf(where.refresh(token, form));
      return { name, description };
    },
    async ownRealm(settings) {
      const own = await world.realm(`own-${++names}`, settings);
      return { own, client: await own.client('web'), user: await own.user('alice') };
    },
    async close() {
      await world.close();
      await closePasswords();
    },
  };
}

/** Returns the usual refusal of a refresh token, with this description. */
export function refused(description: string): RefusalSummary {
  return { name: 'refresh-token-refused', description };
}
