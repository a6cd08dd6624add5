import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { User } from '../../../src/model/index.ts';
import type { UserQuery } from '../../../src/store/index.ts';
import { aUser } from '../../conformance/store/records.ts';
import { begin } from '../../conformance/store/suite.ts';
import { newStore } from '../files.ts';

/** Attributes whose document is longer than 10,000 bytes. */
const LONG = { team: Array.from({ length: 5_000 }, (_, i) => `member ${i}`) };

test('sqlite: the search index leaves out the attributes and names of users that are too long', async (t) => {
  const { store, file } = await newStore(t);
  await begin(store);
  const database = new DatabaseSync(file);
  t.after(() => database.close());
  for (const index of ['search_trigram', 'search_attribute'])
    database.exec(`CREATE VIRTUAL TABLE temp.${index}_terms USING fts5vocab(main, ${index}, row)`);
  const terms = (index: string) =>
    Number(database.prepare(`SELECT count(*) AS terms FROM ${index}_terms`).get()!['terms']);
  const find = async (query: Omit<UserQuery, 'realmId'>) =>
    (await store.listUsers({ realmId: 'realm-1', ...query })).map(({ id }) => id);
  const put = async (more: Partial<User>) => {
    const stored = (await store.findUser('realm-1', 'long'))!;
    const { outcome } = await store.apply([{ do: 'put', user: { ...stored, ...more } }]);
    assert.equal(outcome, 'applied');
  };
  const trigrams = terms('search_trigram');

  const characters = Array.from({ length: 8_000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
  const user = aUser({ id: 'long', username: 'long', lastName: characters, attributes: LONG });
  await store.apply([{ do: 'create', user }]);
  assert.ok(terms('search_trigram') <= trigrams + 1, 'names');
  assert.equal(terms('search_attribute'), 1, 'attributes');
  assert.deepEqual(await find({ attributes: { team: 'member 4999' } }), ['long']);
  assert.deepEqual(await find({ search: 'long' }), ['long']);
  assert.deepEqual(await find({ search: 'absent' }), []);

  await put({ attributes: { ...LONG, place: ['here'] } });
  assert.equal(terms('search_attribute'), 1, 'changed attributes');
  assert.deepEqual(await find({ attributes: { place: 'here' } }), ['long']);
  await put({ lastName: 'b', attributes: { team: ['short'] } });
  assert.deepEqual(await find({ attributes: { team: 'member 4999' } }), []);
  assert.deepEqual(await find({ attributes: { team: 'short' } }), ['long']);
  assert.deepEqual(await find({ search: 'long' }), ['long']);
  await put({ lastName: characters, attributes: LONG });
  assert.deepEqual(await find({ attributes: { team: 'short' } }), []);
  assert.deepEqual(await find({ attributes: { team: 'member 0' } }), ['long']);
  await store.apply([{ do: 'remove', what: 'user', id: 'long' }]);
  assert.equal(terms('search_attribute'), 0, 'removed');
});
