import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Acme, serveAcme } from './acme.ts';

let acme: Acme;
let file: string;
before(async () => {
  acme = await serveAcme();
  file = join(acme.cwd, 'realm.json');
  await acme.succeed('role create editor');
  await acme.succeed('group create staff');
  await acme.succeed('group role add /staff editor');
  await acme.succeed('client create orders');
  await acme.succeed('user create ann');
  const exported = await acme.admin('realm export acme');
  assert.equal(exported.code, 0, exported.stderr);
  writeFileSync(file, exported.stdout);
});
after(() => acme.close());

const names = async (words: string, field = 'name') => (await acme.list(words)).map((one) => one[field]);

test('realm export prints the clients, groups and roles of a realm, but of the users only service accounts, and no secrets', async () => {
  const { realm } = await acme.succeed('realm export acme');
  const { clients, groups, roles, users } = realm as Record<string, unknown>;
  const found = JSON.stringify([clients, groups, roles]);
  for (const name of ['"orders"', '"/staff"', '"editor"']) assert.ok(found.includes(name), name);
  assert.deepEqual(
    (users as Record<string, unknown>[]).map(({ username }) => username),
    ['service-account-orders'],
  );
  const { secret } = await acme.succeed('client secret get orders');
  assert.ok(!JSON.stringify(realm).includes(String(secret)));
  const unknown = await acme.admin('realm export nowhere');
  assert.deepEqual([unknown.code, /the service has no realm nowhere/.test(unknown.stderr)], [10, true]);
});

test('realm import --dry-run prints what would be created, and creates nothing', async () => {
  const ran = await acme.admin(`realm import ${file} --as stage --dry-run`);
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stdout, /would create realm stage with:\n(?: {2}\w.* \d+\n)*? {2}clients \d/);
  assert.ok(!(await names('realm list', 'realm')).includes('stage'));
});

test('realm import --as creates a second realm with its own ids, secrets and addresses', async () => {
  const ran = await acme.admin(`realm import ${file} --as stage`);
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(
    ran.stderr,
    /secrets of the file are masked; the service generates secrets of clients and keys/,
  );
  assert.ok((await names('role list --realm stage')).includes('editor'));
  assert.deepEqual(await names('group role list /staff --realm stage --direct'), ['editor']);
  const secretOf = async (realm: string) =>
    (await acme.succeed(`client secret get orders --realm ${realm}`))['secret'];
  assert.match(String(await secretOf('stage')), /^[\w-]{20}/);
  assert.notEqual(await secretOf('stage'), await secretOf('acme'));
  const { client } = await acme.succeed('client get account --realm stage');
  assert.equal((client as Record<string, unknown>)['baseUrl'], '/realms/stage/account/');
  const kids = (realm: string) => names(`key list --realm ${realm}`, 'kid');
  const shared = new Set(await kids('acme'));
  assert.deepEqual(
    (await kids('stage')).filter((kid) => shared.has(kid)),
    [],
  );
});

test('realm import rejects a file without a realm, and a realm that exists', async () => {
  const empty = join(acme.cwd, 'empty.json');
  writeFileSync(empty, '{"users":[]}');
  const without = await acme.admin(`realm import ${empty}`);
  assert.equal(without.code, 2);
  assert.match(
    without.stderr,
    /empty\.json does not contain a realm: it has no field realm\nhint: .*realm export/,
  );
  const taken = await acme.admin(`realm import ${file} --dry-run`);
  assert.notEqual(taken.code, 0);
  assert.match(taken.stderr, /acme/);
});
