import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { parseForm } from '../../../src/http/request/realm-request.ts';
import { renderRefusal } from '../../../src/http/responses/wire-errors.ts';
import {
  introspectToken,
  logoutByRefreshToken,
  type ProtocolRequest,
  Refusal,
  requestTokens,
  revokeToken,
  userInfo,
} from '../../../src/protocol/index.ts';
import {
  closePasswords,
  openWorld,
  PASSWORD,
  type RealmInWorld,
  type World,
} from '../../protocol/support/world.ts';

let world: World;
let realm: RealmInWorld;
let tokens: string[];

before(async () => {
  world = await openWorld();
  realm = await world.realm('acme', { bruteForceProtected: true });
  await realm.client('web');
  await realm.client('m2m', { secret: 'm2m-secret', serviceAccountsEnabled: true });
  await realm.client('jwt', { secret: 'jwt-secret', clientAuthenticatorType: 'client-secret-jwt' });
  await realm.user('alice');
  const { access_token, id_token, refresh_token } = await realm.login('alice', { scope: 'openid' });
  tokens = [access_token, id_token!, refresh_token!, refresh_token!.slice(0, -20)];
});
after(async () => {
  await world.close();
  await closePasswords();
});

/** Random text, or a plausible value for a field. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '../../x',
    '__proto__',
    'constructor',
    '\r\nSet-Cookie: a=b',
    "' or 1=1 --",
    '%00',
  ),
  fc.constantFrom('web', 'm2m', 'jwt', 'alice', 'm2m-secret', PASSWORD, 'openid', 'offline_access'),
  fc.constantFrom('password', 'client_credentials', 'refresh_token', 'authorization_code'),
  fc.constantFrom(0, 1, 2, 3).map((index) => tokens[index]!),
  fc
    .tuple(fc.json(), fc.json(), fc.string({ maxLength: 20 }))
    .map((parts) => parts.map((part) => Buffer.from(part).toString('base64url')).join('.')),
);
const name = fc.oneof(
  fc.constantFrom('grant_type', 'client_id', 'client_secret', 'username', 'password', 'scope', 'otp'),
  fc.constantFrom('refresh_token', 'token', 'token_type_hint', 'access_token'),
  fc.constantFrom('client_assertion', 'client_assertion_type'),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const form = fc.dictionary(name, text, { maxKeys: 8 });
/** A form with a valid grant type, so that the request reaches the grant. */
const likelyForm = fc
  .tuple(fc.constantFrom('password', 'client_credentials', 'refresh_token'), form)
  .map(([grant_type, fields]) => ({ ...fields, grant_type, client_id: 'web' }));
const authorization = fc.option(
  fc.oneof(
    text,
    text.map((value) => `Bearer ${value}`),
    text.map((value) => `Basic ${Buffer.from(value).toString('base64')}`),
  ),
  { nil: undefined },
);
const request = fc.record({ form: fc.oneof(form, likelyForm), authorization, duplicated: fc.boolean() }).map(
  ({ form: fields, authorization: header, duplicated }): ProtocolRequest => ({
    realm: 'acme',
    form: new Map(Object.entries(fields)),
    duplicated,
    remoteAddress: '127.0.0.1',
    secure: true,
    ...(header === undefined ? {} : { authorization: header }),
  }),
);

/** Checks that a call returns a body that can be sent as JSON, or throws a refusal that is rendered correctly. */
async function isWellAnswered(work: Promise<{ body: unknown }>): Promise<void> {
  try {
    JSON.stringify((await work).body);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const rendered = renderRefusal(error)!;
    assert.ok(rendered.status >= 200 && rendered.status < 500, `${error.case}: ${rendered.status}`);
    for (const value of Object.values(rendered.headers)) assert.match(value, /^[\x20-\x7e]*$/);
    if (rendered.body !== '') assert.equal(typeof (rendered.body as { error: unknown }).error, 'string');
  }
}

describe('random form input', () => {
  it('random fields never cause an internal error at the token endpoint', async () => {
    await fc.assert(
      fc.asyncProperty(request, (sent) => isWellAnswered(requestTokens(world.ctx, sent))),
      { numRuns: 300 },
    );
  });

  it('random fields never cause an internal error at revocation, logout, introspection and user info', async () => {
    const endpoints = [revokeToken, logoutByRefreshToken, introspectToken, userInfo];
    await fc.assert(
      fc.asyncProperty(request, fc.constantFrom(...endpoints), (sent, endpoint) =>
        isWellAnswered(endpoint(world.ctx, sent)),
      ),
      { numRuns: 300 },
    );
  });

  it('a random body never causes an internal error at the token endpoint', async () => {
    const bodies = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ maxLength: 300 }).map((value) => Buffer.from(`grant_type=password&client_id=web&${value}`)),
    );
    await fc.assert(
      fc.asyncProperty(bodies, (body) =>
        isWellAnswered(
          (async () => {
            const parsed = parseForm(Buffer.from(body), 'application/x-www-form-urlencoded');
            const sent = { ...realm.request({}), form: parsed.fields, duplicated: parsed.duplicated };
            return requestTokens(world.ctx, sent);
          })(),
        ),
      ),
      { numRuns: 200 },
    );
  });
});
