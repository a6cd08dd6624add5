import { after } from 'node:test';
import type { BrowserAnswer } from '../../src/browser/index.ts';
import type { Client, User } from '../../src/model/index.ts';
import { closePasswords, openWorld, type RealmInWorld, type World } from '../protocol/support/world.ts';
import { Browser, CALLBACK, realmWithLogin } from './browser.ts';
import { addDevice } from './one-time-password.ts';

/** A world with realm `acme`, its client `web` and user `alice`, and functions that create further records. */
export interface LoginWorld {
  world: World;
  realm: RealmInWorld;
  newBrowser(where?: RealmInWorld): Browser;
  newUser(changes?: Parameters<RealmInWorld['user']>[1], where?: RealmInWorld): Promise<User>;
  userWithOtp(): Promise<User>;
  /** Creates a client with the code flow enabled. */
  newClient(changes?: Parameters<RealmInWorld['client']>[1]): Promise<Client>;
  /** Creates another realm with a client `web` and a user `alice`. */
  newRealm(settings?: Parameters<World['realm']>[1]): ReturnType<typeof realmWithLogin>;
}

/** Opens a world for the tests of one file, and closes it after them. */
export async function openLoginWorld(): Promise<LoginWorld> {
  const world = await openWorld();
  after(async () => {
    await world.close();
    await closePasswords();
  });
  const { realm } = await realmWithLogin(world, 'acme');
  let names = 0;
  const newUser: LoginWorld['newUser'] = (changes = {}, where = realm) =>
    where.user(`user-${++names}`, changes);
  return {
    world,
    realm,
    newBrowser: (where = realm) => new Browser(world, where),
    newUser,
    async userWithOtp() {
      const user = await newUser();
      await addDevice(realm, user);
      return user;
    },
    newClient: (changes = {}) =>
      realm.client(`client-${++names}`, { redirectUris: [CALLBACK], standardFlowEnabled: true, ...changes }),
    newRealm: (settings = {}) => realmWithLogin(world, `own-${++names}`, settings),
  };
}

/** Whether the client received a code. */
export function isCode(answer: BrowserAnswer): boolean {
  return answer.show === 'redirect' && /[?&]code=/.test(answer.to);
}
