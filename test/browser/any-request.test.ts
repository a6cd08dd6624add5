import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { BrowserAnswer } from '../../src/browser/index.ts';
import { PAGE_STATUS } from '../../src/http/responses/statuses.ts';
import {
  BASE_URL,
  closePasswords,
  openWorld,
  type RealmInWorld,
  type World,
} from '../protocol/support/world.ts';
import { Browser, CALLBACK, pageOf, realmWithLogin } from './browser.ts';

let world: World;
let realm: RealmInWorld;

before(async () => {
  world = await openWorld();
  ({ realm } = await realmWithLogin(world, 'acme', {}, { implicitFlowEnabled: true }));
});
after(async () => {
  await world.close();
  await closePasswords();
});

const NAMES = [
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce', 'prompt'],
  ...[
    'max_age',
    'login_hint',
    'id_token_hint',
    'ui_locales',
    'acr_values',
    'claims',
    'request',
    'request_uri',
  ],
  ...[
    'code_challenge',
    'code_challenge_method',
    'kc_locale',
    'tab_id',
    'session_code',
    'execution',
    'client_data',
  ],
];
const value = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc.constantFrom(
    ...[
      'web',
      CALLBACK,
      'code',
      'token',
      'id_token token',
      'none',
      'openid',
      'query',
      'fragment',
      'form_post',
    ],
    ...[
      'login',
      'none login',
      '0',
      '10',
      'S256',
      'plain',
      'x'.repeat(43),
      'eyJhbGciOiJub25lIn0.e30.',
      '{}',
      '[]',
    ],
  ),
);
const parameters = fc.dictionary(fc.constantFrom(...NAMES), value);

/** Checks that the answer is a page without a server error, or redirects to the service or to the client's URI. */
function checkAnswer(answer: BrowserAnswer): void {
  if (answer.show === 'page') {
    assert.ok(PAGE_STATUS[answer.name] < 500);
    return;
  }
  assert.ok(answer.show === 'redirect' || answer.show === 'form-post');
  const { to } = answer;
  assert.ok(to.startsWith(CALLBACK) || to.startsWith(`${BASE_URL}/realms/acme/`), to);
  assert.match(to, /^[\x21-\x7e]+$/);
}

describe('random requests from a browser', () => {
  it('the authorization endpoint responds to random input with a page, or with an error for a registered client', async () => {
    await fc.assert(
      fc.asyncProperty(
        parameters,
        fc.constantFrom('GET', 'POST'),
        fc.boolean(),
        async (sent, method, usual) => {
          const browser = new Browser(world, realm);
          const all = usual
            ? sent
            : { client_id: undefined, redirect_uri: undefined, response_type: undefined, ...sent };
          checkAnswer(await browser.authorize(all, method as 'GET' | 'POST'));
        },
      ),
      { numRuns: 400 },
    );
  });

  it('the steps of the login respond to random input with a page, and never log a user in', async () => {
    const paths = ['authenticate', 'required-action', 'consent', 'restart'] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.constantFrom('GET', 'POST'),
        parameters,
        fc.dictionary(fc.string(), fc.string()),
        async (path, method, sent, form) => {
          if ((path === 'consent' && method === 'GET') || (path === 'restart' && method === 'POST')) return;
          const browser = new Browser(world, realm);
          const url = new URL(pageOf(await browser.authorize(), 'login').action);
          url.pathname = url.pathname.replace('authenticate', path);
          for (const [name, text] of Object.entries(sent)) url.searchParams.set(name, text);
          const answer = await browser.send(method as 'GET' | 'POST', url.href, form);
          checkAnswer(answer);
          assert.ok(!browser.cookies.has('KEYCLOAK_IDENTITY'));
        },
      ),
      { numRuns: 200 },
    );
  });
});
