import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { isTargetFault, type Target } from '../../src/target/index.ts';
import { chunks, listAll, randomFile, readAll } from './scratch.ts';

/** The rules of `Target`, which every kind of target must pass. `open` returns an empty target. */
export function checkContract(kind: string, open: (t: TestContext) => Promise<Target>): void {
  test(`${kind}: a file comes back byte for byte, whole and in ranges`, async (t) => {
    const target = await open(t);
    const bytes = randomFile(300_000);
    await target.put('20261122_101112/keycloak-db.sql.gz', chunks(bytes), { size: bytes.length });
    assert.ok((await readAll(target, '20261122_101112/keycloak-db.sql.gz')).equals(bytes));
    const range = await readAll(target, '20261122_101112/keycloak-db.sql.gz', {
      start: 100_001,
      length: 70_000,
    });
    assert.ok(range.equals(bytes.subarray(100_001, 170_001)));
    assert.equal(await target.size('20261122_101112/keycloak-db.sql.gz'), 300_000);
  });

  test(`${kind}: an empty file and a file of unknown size are stored`, async (t) => {
    const target = await open(t);
    await target.put('empty', chunks(Buffer.alloc(0)));
    assert.equal(await target.size('empty'), 0);
    assert.equal((await readAll(target, 'empty')).length, 0);
    await target.put('unknown', chunks(Buffer.from('abc')));
    assert.equal((await readAll(target, 'unknown')).toString(), 'abc');
  });

  test(`${kind}: the list has every file below a prefix in the order of the bytes of the names`, async (t) => {
    const target = await open(t);
    for (const name of ['b/two', 'b/one', 'b.c', 'a', 'b/deep/er', 'ä', 'realm-a%2Fb.json', 'with space'])
      await target.put(name, chunks(Buffer.from(name)));
    const names = (await listAll(target)).map((file) => file.name);
    assert.deepEqual(names, [
      'a',
      'b.c',
      'b/deep/er',
      'b/one',
      'b/two',
      'realm-a%2Fb.json',
      'with space',
      'ä',
    ]);
    assert.deepEqual(
      (await listAll(target, 'b/')).map((file) => [file.name, file.size]),
      [
        ['b/deep/er', 9],
        ['b/one', 5],
        ['b/two', 5],
      ],
    );
    assert.deepEqual(await listAll(target, 'nothing/'), []);
  });

  test(`${kind}: a missing file is reported as TARGET_FILE_MISSING, and removing it does nothing`, async (t) => {
    const target = await open(t);
    assert.equal(await target.size('no/such'), undefined);
    await assert.rejects(readAll(target, 'no/such'), (error) => isTargetFault(error, 'TARGET_FILE_MISSING'));
    await target.remove('no/such');
    await target.put('x/y', chunks(Buffer.from('1')));
    await target.remove('x/y');
    assert.equal(await target.size('x/y'), undefined);
    assert.deepEqual(await listAll(target), []);
  });

  test(`${kind}: removing drafts keeps every file`, async (t) => {
    const target = await open(t);
    await target.removeDrafts(Date.now());
    await target.put('x/y', chunks(Buffer.from('1')));
    await target.removeDrafts(Date.now() + 60_000);
    assert.equal(await target.size('x/y'), 1);
  });

  test(`${kind}: onlyNew keeps an existing file, and a plain put replaces it`, async (t) => {
    const target = await open(t);
    await target.put('one', chunks(Buffer.from('old')), { onlyNew: true });
    await assert.rejects(target.put('one', chunks(Buffer.from('new')), { onlyNew: true }), (error) =>
      isTargetFault(error, 'TARGET_FILE_EXISTS'),
    );
    assert.equal((await readAll(target, 'one')).toString(), 'old');
    await target.put('one', chunks(Buffer.from('replaced')));
    assert.equal((await readAll(target, 'one')).toString(), 'replaced');
  });

  test(`${kind}: a put whose source fails, or is not as long as announced, leaves no file`, async (t) => {
    const target = await open(t);
    const failing = async function* () {
      yield randomFile(100_000);
      throw new Error('the disk broke');
    };
    await assert.rejects(target.put('set/dump', failing()), /the disk broke/);
    await assert.rejects(target.put('set/dump', chunks(randomFile(9)), { size: 10 }));
    assert.deepEqual(await listAll(target), []);
    assert.equal(await target.size('set/dump'), undefined);
  });

  test(`${kind}: an abort ends a put and leaves no file`, async (t) => {
    const target = await open(t);
    const stop = new AbortController();
    const endless = async function* () {
      for (let count = 0; ; count += 1) {
        if (count === 40) stop.abort(new Error('stopped'));
        yield Buffer.alloc(64 * 1024);
      }
    };
    await assert.rejects(target.put('set/dump', endless(), { signal: stop.signal }));
    assert.deepEqual(await listAll(target), []);
  });

  test(`${kind}: a read that is not finished ends without an error`, async (t) => {
    const target = await open(t);
    await target.put('big', chunks(randomFile(2_000_000)));
    const stream = await target.read('big');
    await once(stream, 'readable');
    stream.destroy();
    assert.equal(await target.size('big'), 2_000_000);
  });

  test(`${kind}: names that leave the target are rejected`, async (t) => {
    const target = await open(t);
    for (const name of ['../x', '/x', 'a//b', 'a/./b', 'a/..', '', 'a\0b', 'a\\b', 'a\nb']) {
      await assert.rejects(target.put(name, chunks(Buffer.from('x'))), /is not a name for a target/, name);
      await assert.rejects(target.read(name), /is not a name for a target/, name);
      await assert.rejects(target.remove(name), /is not a name for a target/, name);
    }
    assert.deepEqual(await listAll(target), []);
  });
}
