import { uuid } from '../../../src/core/index.ts';
import type { User } from '../../../src/model/index.ts';
import {
  introspectToken,
  logoutByRefreshToken,
  type ProtocolRequest,
  revokeToken,
  userInfo,
} from '../../../src/protocol/index.ts';
import { closePasswords, openWorld, type RealmInWorld, refusalOf, type World } from './world.ts';

type Form = Record<string, string>;
type More = Partial<ProtocolRequest>;

/**
 * A realm whose tokens name the client `api` in their audience, with functions that call the endpoints which accept
 * tokens.
 */
export interface ApiRealm {
  world: World;
  /**
   * `web` and `other` are public clients, `light` has lightweight tokens, `off` is disabled, `bearer` is bearer-only.
   */
  realm: RealmInWorld;
  alice: User;
  info(token: string | undefined, more?: More, where?: RealmInWorld): ReturnType<typeof userInfo>;
  /** Revokes a token as the client `web`, unless the form names another client. */
  revoke(form: Form, more?: More): ReturnType<typeof revokeToken>;
  /** Logs out as the client `web`, unless the form names another client. */
  logout(form: Form, where?: RealmInWorld): ReturnType<typeof logoutByRefreshToken>;
  /** Introspects a token as the client `api`. */
  introspect(form: Form, more?: More): Promise<Awaited<ReturnType<typeof introspectToken>>['body']>;
  close(): Promise<void>;
}

export async function openApiRealm(): Promise<ApiRealm> {
  const world = await openWorld();
  const { ctx } = world;
  const realm = await world.realm('acme');
  await realm.client('web', { webOrigins: ['https://web.test'] });
  await realm.client('other');
  await realm.client('light', { attributes: { 'client.use.lightweight.access.token.enabled': 'true' } });
  await realm.client('off', { secret: 'off-secret', enabled: false });
  await realm.client('bearer', { secret: 'bearer-secret', bearerOnly: true });
  const alice = await realm.user('alice', { attributes: { phoneNumber: ['+491'] } });
  await putApiInAudience(world, realm, alice);
  return {
    world,
    realm,
    alice,
    info: (token, more = {}, where = realm) =>
      userInfo(ctx, where.request({}, { ...bearer(token), ...more })),
    revoke: (form, more) => revokeToken(ctx, realm.request({ client_id: 'web', ...form }, more)),
    logout: (form, where = realm) => logoutByRefreshToken(ctx, where.request({ client_id: 'web', ...form })),
    async introspect(form, more) {
      const asking = { client_id: 'api', client_secret: 'api-secret' };
      return (await introspectToken(ctx, realm.request({ ...asking, ...form }, more))).body;
    },
    async close() {
      await world.close();
      await closePasswords();
    },
  };
}

/** Creates the client `api` and a role of it. Tokens of a user with that role have `api` in their audience. */
async function putApiInAudience({ ctx }: World, realm: RealmInWorld, user: User): Promise<void> {
  const api = await realm.client('api', { secret: 'api-secret', serviceAccountsEnabled: true });
  const role = {
    id: uuid(ctx.random),
    realmId: realm.fixture.realm.id,
    name: 'invoke',
    clientUuid: api.id,
    attributes: {},
    compositeIds: [],
  };
  const roleIds = [...user.roleIds, role.id];
  await realm.put({ do: 'create', role }, { do: 'put', user: { ...user, roleIds } });
}

/** Returns the request header that contains an access token. */
export function bearer(token: string | undefined): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** Returns the description of a refusal, or its name if it has no description. */
export async function refusalText(work: Promise<unknown>): Promise<string> {
  const refusal = await refusalOf(work);
  return refusal.description ?? refusal.case;
}
