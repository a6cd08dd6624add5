import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { userInfo } from '../../../src/protocol/index.ts';
import { Browser, CALLBACK, clientAnswer, realmWithLogin } from '../../browser/browser.ts';
import {
  closePasswords,
  openWorld,
  type RealmInWorld,
  refusalOf,
  type World,
} from '../../protocol/support/world.ts';

let world: World;
let realm: RealmInWorld;
before(async () => {
  world = await openWorld();
  ({ realm } = await realmWithLogin(world, 'acme'));
});
after(async () => {
  await world.close();
  await closePasswords();
});

describe('requirements of the profile Basic OP for codes that are used twice', () => {
  const exchange = (code: string | undefined) =>
    realm.tokens({
      grant_type: 'authorization_code',
      client_id: 'web',
      redirect_uri: CALLBACK,
      code: code ?? '',
    });
  const infoOf = (token: string) =>
    userInfo(world.ctx, realm.request({}, { authorization: `Bearer ${token}` }));
  const login = async () => {
    const browser = new Browser(world, realm);
    return clientAnswer(await browser.logIn(await browser.authorize(), 'alice'))['code'];
  };

  test('rejects a used code even 30 seconds later, and revokes the token that its first use returned (RFC 6749 4.1.2, 10.5)', async () => {
    for (const seconds of [0, 30]) {
      const code = await login();
      const { access_token: token } = await exchange(code);
      assert.ok((await infoOf(token)).body['sub']);
      world.clock.pass(seconds);
      for (const wait of [0, 30, 120]) {
        world.clock.pass(wait);
        const refusal = await refusalOf(exchange(code));
        assert.deepEqual([refusal.case, refusal.description], ['code-refused', 'Code not valid']);
        assert.equal((await refusalOf(infoOf(token))).case, 'userinfo-invalid-token');
      }
    }
  });
});
