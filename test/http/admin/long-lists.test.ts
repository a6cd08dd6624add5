import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingPostgres } from '../../store/postgres-server.ts';
import { administrator } from '../administrator.ts';
import { openers, readList, seedOf } from './many-users.ts';

// These tests request lists of more than one page. The service streams such lists page by page.

const USERS = 1_500;

for (const [name, open] of Object.entries(openers))
  test(`${name}: unbounded lists are complete, ordered and without duplicates`, {
    skip: name === 'postgres' && (missingPostgres() ?? false),
  }, async (t) => {
    const place = await open(t);
    await place.run(seedOf(USERS));
    const counts = [
      ['/users?max=-1', '"username":', USERS + 1],
      ['/users?max=-1&search=user-1', '"username":', 1 + 10 + 100 + 501],
      ['/roles/default-roles-master/users?max=-1', '"username":', USERS + 1],
      ['/events?max=-1', '"type":', 999],
    ] as const;
    for (const [path, mark, wanted] of counts) {
      const { marks, end } = await readList(place, path, mark);
      assert.equal(marks, wanted, path);
      assert.equal(end, ']', 'it is whole');
    }
    const api = await administrator(place.service);
    const list = async (query: string) =>
      (await api('GET', `/master${query}`)).json as Record<string, string>[];
    for (const path of ['/users?', '/roles/default-roles-master/users?']) {
      const all = (await list(`${path}max=-1`)).map(({ username }) => username!);
      assert.deepEqual(all, all.toSorted(), path);
      assert.equal(new Set(all).size, USERS + 1);
      const some = (await list(`${path}first=300&max=601`)).map(({ username }) => username!);
      // `first` may also skip service accounts, which the list does not show.
      const from = all.indexOf(some[0]!);
      assert.deepEqual(some, all.slice(from, from + 601), 'a page equals that part of the whole list');
      assert.ok(from > 295 && from <= 300, `it begins at ${from}`);
    }
    const events = (await list('/events?max=-1')).map(({ id }) => id);
    assert.equal(new Set(events).size, 999);
    assert.deepEqual(
      (await list('/events?first=100&max=500')).map(({ id }) => id),
      events.slice(100, 600),
    );
    assert.deepEqual(await list('/users?search=nobody-at-all&max=-1'), []);
    assert.deepEqual(await list('/users?max=0'), []);
  });
