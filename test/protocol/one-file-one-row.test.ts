import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

// These tests add a grant, a protocol mapper, a required action and an authenticator to a copy of the sources. Each
// needs one new file, and one row (with its import) in a table. A program that uses all four then runs on that copy.

interface Addition {
  file: string;
  content: string;
  table: string;
  /** The line of the table after which the row is added. */
  after: string;
  row: string;
  import: string;
}

const ADDITIONS: Readonly<Record<string, Addition>> = {
  'a grant': {
    file: 'src/protocol/grants/dummy.ts',
    content: `
      import type { Grant } from './grant.ts';
      export const dummyGrant: Grant = {
        eventType: 'LOGIN',
        shortcut: 'du',
        use: 'direct',
        check() {},
        async prove({ ctx, configuration }, granted) {
          const user = await ctx.store.findUserByUsername(configuration.realm.id, 'ada');
          return { user: user!, granted, notes: {} };
        },
      };`,
    table: 'src/protocol/grants/table.ts',
    after: 'export const GRANTS: ReadonlyMap<string, Grant> = new Map([',
    row: "['urn:example:dummy', dummyGrant],",
    import: "import { dummyGrant } from './dummy.ts';",
  },
  'a protocol mapper': {
    file: 'src/protocol/claims/dummy-mapper.ts',
    content: `
      import type { ProtocolMapper } from '../../model/index.ts';
      import { claimStep, type MapperStep } from './mapper-run.ts';
      export const dummy = (mapper: ProtocolMapper): MapperStep => claimStep(mapper, () => 'mapped');`,
    table: 'src/protocol/claims/mapper-table.ts',
    after: 'const TYPES: Readonly<Record<string, MapperType>> = {',
    row: "'dummy-mapper': { compile: dummy, order: 50 },",
    import: "import { dummy } from './dummy-mapper.ts';",
  },
  'a required action': {
    file: 'src/browser/required-actions/dummy.ts',
    content: `
      import type { RequiredAction } from './required-action.ts';
      export const dummy: RequiredAction = {
        show: (_call, _login, action) => ({ page: 'terms', action }),
        submit: async (_call, { user }) => ({ outcome: 'done', login: { user: { ...user, requiredActions: [] } } }),
      };`,
    table: 'src/browser/required-actions/table.ts',
    after: 'export const REQUIRED_ACTIONS: ReadonlyMap<string, RequiredAction> = new Map([',
    row: "['DUMMY', dummy],",
    import: "import { dummy } from './dummy.ts';",
  },
  'an authenticator': {
    file: 'src/protocol/login/authenticators/dummy.ts',
    content: `
      import type { Authenticator } from './authenticator.ts';
      export const dummy: Authenticator = {
        match: (_context, _stored, code) => (code === 'open sesame' ? { spend: async () => true } : undefined),
      };`,
    table: 'src/protocol/login/authenticators/table.ts',
    after: 'export const AUTHENTICATORS: ReadonlyMap<string, Authenticator> = new Map([',
    row: "['dummy', dummy],",
    import: "import { dummy } from './dummy.ts';",
  },
};

const PROGRAM = `
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { discoveryDocument } from '../src/protocol/index.ts';
import { Browser, clientAnswer, pageOf, realmWithLogin } from './browser/browser.ts';
import { claimsOf, closePasswords, openWorld, refusalOf } from './protocol/support/world.ts';

const world = await openWorld();
after(async () => {
  await world.close();
  await closePasswords();
});
const mapper = {
  id: 'm', name: 'dummy', protocol: 'openid-connect', protocolMapper: 'dummy-mapper',
  config: { 'claim.name': 'dummy', 'access.token.claim': 'true' },
};
const { realm } = await realmWithLogin(world, 'acme', {}, { directAccessGrantsEnabled: true, protocolMappers: [mapper] });
const ada = await realm.user('ada');

test('a grant that was added issues a token, and discovery lists it', async () => {
  const { access_token } = await realm.tokens({ grant_type: 'urn:example:dummy', client_id: 'web' });
  assert.equal(claimsOf(access_token)['azp'], 'web');
  assert.match(String(claimsOf(access_token)['jti']), /^trrtdu:/);
  const { grant_types_supported } = discoveryDocument(world.ctx, (await world.store.findRealm('acme'))!);
  assert.ok((grant_types_supported as string[]).includes('urn:example:dummy'));
});

test('a protocol mapper that was added writes its claim', async () => {
  assert.equal(claimsOf((await realm.login('ada')).access_token)['dummy'], 'mapped');
});

test('a required action that was added interrupts the login', async () => {
  const user = await realm.user('bob', { requiredActions: ['DUMMY'] });
  const browser = new Browser(world, realm);
  const page = await browser.follow(await browser.logIn(await browser.authorize(), user.username));
  pageOf(page, 'terms');
  assert.ok('code' in clientAnswer(await browser.submit(page, {})));
});

test('an authenticator that was added accepts its code, in a form and on the login page', async () => {
  await realm.credential(ada, 'dummy', {}, {});
  assert.equal((await refusalOf(realm.login('ada', { totp: 'wrong' }))).case, 'user-credentials-wrong');
  assert.ok((await realm.login('ada', { totp: 'open sesame' })).access_token);
  const browser = new Browser(world, realm);
  const page = await browser.logIn(await browser.authorize(), 'ada');
  pageOf(page, 'otp');
  assert.ok('code' in clientAnswer(await browser.submit(page, { otp: 'open sesame' })));
});
`;

const root = fileURLToPath(new URL('../../', import.meta.url));
let copy = '';
let report = '';

before(() => {
  copy = mkdtempSync(join(tmpdir(), 'idkit-additions-'));
  const copied = ['package.json', 'src', 'test/protocol/support', 'test/store/as-read.ts'];
  for (const path of [...copied, 'test/browser/browser.ts'])
    cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const addition of Object.values(ADDITIONS)) add(addition);
  const program = join(copy, 'test', 'additions.test.ts');
  writeFileSync(program, PROGRAM);
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const args = ['--test', '--test-reporter=tap', program];
  const ran = spawnSync(process.execPath, args, { cwd: copy, env, encoding: 'utf8' });
  report = ran.stdout + ran.stderr;
});

after(() => rmSync(copy, { recursive: true, force: true }));

function add({ file, content, table, after: line, row, import: imported }: Addition): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  writeFileSync(join(copy, file), content);
  const text = readFileSync(join(copy, table), 'utf8');
  assert.ok(text.includes(line), `${table} has the table`);
  writeFileSync(join(copy, table), `${imported}\n${text.replace(line, `${line}\n  ${row}`)}`);
}

for (const name of Object.keys(ADDITIONS))
  test(`adding ${name} takes one file and one row`, () => {
    assert.match(report, new RegExp(`^ok \\d+ - ${name} that was added `, 'm'), report);
  });
