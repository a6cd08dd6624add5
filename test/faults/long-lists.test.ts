import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openers, readList, seedOf } from '../http/admin/many-users.ts';
import { missingPostgres } from '../store/postgres-server.ts';

const USERS = 200_000;
/** Maximum growth of this process in megabytes, including the memory of the client that reads the list. */
const MEGABYTES = 100;
/** Maximum time in milliseconds that another request may wait for its response on a busy machine. */
const BLOCKED = 2_000;

for (const [name, open] of Object.entries(openers))
  test(`${name}: sends lists of 200,000 users in bounded memory, without blocking other requests`, {
    skip: name === 'postgres' && (missingPostgres() ?? false),
  }, async (t) => {
    const place = await open(t);
    await place.run(seedOf(USERS));
    // The first calls of a process load and compile modules, so they do not count.
    await readList(place, '/users?max=5000', '"username":');
    const lists = [
      ['/users?max=-1', USERS + 1],
      ['/users?max=-1&search=user-1', 111_111],
      ['/roles/default-roles-master/users?max=-1', USERS + 1],
    ] as const;
    for (const [path, wanted] of lists) {
      const began = performance.now();
      const { marks, end, megabytes, blocked } = await readList(place, path, '"username":');
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      t.diagnostic(
        `${path}: ${marks} in ${seconds} s, ${megabytes.toFixed(0)} MB, blocked for ${blocked.toFixed(0)} ms`,
      );
      assert.equal(marks, wanted, path);
      assert.equal(end, ']', 'it is whole');
      assert.ok(megabytes < MEGABYTES, `${path} took ${megabytes} MB`);
      assert.ok(blocked < BLOCKED, `${path} kept others waiting for ${blocked} ms`);
    }
  });
