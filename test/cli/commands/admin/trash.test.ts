import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Acme, serveAcme } from './acme.ts';

let acme: Acme;
before(async () => {
  acme = await serveAcme();
});
after(() => acme.close());

test('a deleted user is listed, restored by its name, and erased', async () => {
  await acme.succeed('user create alice --email alice@example.org');
  await acme.succeed('user delete alice --yes');
  const [entry] = await acme.list('trash list');
  assert.deepEqual([entry?.['kind'], entry?.['name']], ['user', 'alice']);
  const table = await acme.admin('trash list');
  assert.match(table.stdout, /KIND +NAME +DELETED +KEPT UNTIL/);
  const restored = await acme.admin('trash restore alice');
  assert.match(restored.stdout, /^restored user alice of realm acme$/m);
  await acme.succeed('user get alice');
  await acme.succeed('user delete alice --yes');
  const erased = await acme.succeed('trash empty alice --yes');
  assert.deepEqual(
    (erased['erased'] as { name: string }[]).map(({ name }) => name),
    ['alice'],
  );
  assert.deepEqual(await acme.list('trash list'), []);
});

test('--now erases a record, and --all erases all deleted records of a kind', async () => {
  await acme.succeed('user create bob');
  await acme.succeed('user delete bob --now --yes');
  assert.deepEqual(await acme.list('trash list'), []);
  for (const name of ['one', 'two']) {
    await acme.succeed(`group create ${name}`);
    await acme.succeed(`group delete /${name} --yes`);
  }
  await acme.succeed('client create web');
  await acme.succeed('client delete web --yes');
  assert.equal((await acme.list('trash list')).length, 3);
  const ran = await acme.admin('trash empty --all --kind group --yes');
  assert.match(ran.stdout, /erased 2 deleted records of realm acme/);
  const left = await acme.list('trash list');
  assert.deepEqual(
    left.map(({ name }) => name),
    ['web'],
  );
  await acme.succeed('trash restore web --as shop');
  await acme.succeed('client get shop');
});

test('reports what a restore left out, several records of one name, and what does not exist', async () => {
  await acme.succeed('role create reader');
  await acme.succeed('user create carol');
  await acme.succeed('user role add carol reader');
  await acme.succeed('user delete carol --yes');
  await acme.succeed('role delete reader --yes');
  const restored = await acme.admin('trash restore carol');
  assert.match(restored.stdout, /^left out: the role reader, which does not exist any more$/m);
  await acme.succeed('user delete carol --yes');
  await acme.succeed('user create carol');
  await acme.succeed('user delete carol --yes');
  const several = await acme.admin('trash restore carol');
  assert.equal(several.code, 2);
  assert.match(several.stderr, /has 2 records carol/);
  assert.match(several.stderr, /name one of them by its id/);
  const [entry] = await acme.list('trash list --search carol');
  await acme.succeed(`trash restore ${entry?.['id']}`);
  const clash = await acme.admin('trash restore carol');
  assert.match(clash.stderr, /^hint: add --as NAME/m);
  const none = await acme.admin('trash restore nobody');
  assert.match(none.stderr, /the bin of realm acme has no record nobody/);
});

test('a deleted realm is restored with --realms, and a clash says what to do', async () => {
  await acme.succeed('realm create other');
  await acme.succeed('realm delete other --yes');
  await acme.succeed('realm create other');
  const clash = await acme.admin('trash restore other --realms', { env: { IDKIT_REALM: '' } });
  assert.notEqual(clash.code, 0);
  assert.match(clash.stderr, /another realm has the name other\. Change or delete that realm first/);
  await acme.succeed('realm delete other --now --yes');
  const restored = await acme.admin('trash restore other --realms', { env: { IDKIT_REALM: '' } });
  assert.match(restored.stdout, /^restored realm other$/m);
  await acme.succeed('realm get other');
  for (const words of ['--realms --realm acme', '--realms --kind user', '--kind dog'])
    assert.equal((await acme.admin(`trash list ${words}`)).code, 2, words);
  assert.equal((await acme.admin('trash empty --yes')).code, 2);
});
