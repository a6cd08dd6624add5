import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { closePasswords, openWorld } from '../../protocol/support/world.ts';
import { Browser, CALLBACK, errorOf, realmWithLogin } from '../browser.ts';

const world = await openWorld();
after(async () => {
  await world.close();
  await closePasswords();
});

describe('events of a refused logout (docs/keycloak/realms.md#events)', () => {
  it('the event of a refused logout names the requesting client, but never an unknown client', async () => {
    const { realm } = await realmWithLogin(world, 'acme');
    const refusedFor = async (clientId: string, uri: string) => {
      const query = new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: uri });
      const browser = new Browser(world, realm);
      const answer = await browser.send('GET', `/realms/acme/protocol/openid-connect/logout?${query}`);
      assert.equal(errorOf(answer), '400 invalidRedirectUriMessage');
      const { type, error, clientId: named } = world.events.at(-1)!;
      return [type, error, named];
    };
    assert.deepEqual(await refusedFor('web', `${CALLBACK}/other`), [
      'LOGOUT_ERROR',
      'invalid_redirect_uri',
      'web',
    ]);
    assert.deepEqual(await refusedFor('made-up', CALLBACK), [
      'LOGOUT_ERROR',
      'invalid_redirect_uri',
      undefined,
    ]);
  });
});
