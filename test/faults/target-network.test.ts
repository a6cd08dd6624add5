import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { IdkitError } from '../../src/core/index.ts';
import { openTarget, type Target } from '../../src/target/index.ts';
import { type CuttingProxy, startCuttingProxy } from '../target/cutting-proxy.ts';
import { findFiles, findS3Gap, startS3 } from '../target/s3-server.ts';
import { chunks, listAll, randomFile, readAll, scratch } from '../target/scratch.ts';
import { findSshGap, startSsh } from '../target/ssh-server.ts';

interface Reached {
  target: Target;
  proxy: CuttingProxy;
  /** The directory of the server. */
  dir: string;
}

const KINDS: Record<string, { gap: string | undefined; open(t: TestContext): Promise<Reached> }> = {
  s3: {
    gap: findS3Gap(),
    async open(t) {
      const server = await startS3(t);
      const proxy = await startCuttingProxy(t, server.port);
      const env = { ...server.env, AWS_ENDPOINT_URL: `http://127.0.0.1:${proxy.port}` };
      const target = await openTarget(`s3://${server.bucket}/idkit`, {
        env,
        stallMilliseconds: 500,
        pauseMilliseconds: 5,
      });
      t.after(() => target.close());
      return { target, proxy, dir: server.objects };
    },
  },
  ssh: {
    gap: findSshGap(),
    async open(t) {
      const proxies: CuttingProxy[] = [];
      const server = await startSsh(t, {
        through: async (port) => {
          proxies.push(await startCuttingProxy(t, port));
          return proxies[0]?.port ?? 0;
        },
      });
      const dir = scratch(t);
      const target = await openTarget(`ssh://${server.user}@127.0.0.1:${server.port}${dir}`, {
        env: server.env,
        stallMilliseconds: 1500,
      });
      t.after(() => target.close());
      return { target, proxy: proxies[0] as CuttingProxy, dir };
    },
  },
};

const isUnreachable = (error: unknown) => error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE';

for (const [kind, { gap, open }] of Object.entries(KINDS)) {
  test(`${kind}: a network that is cut in the middle of any transfer is reported, and leaves no file`, {
    skip: gap,
  }, async (t) => {
    const { target, proxy } = await open(t);
    const bytes = randomFile(20_000_000);
    await target.put('whole', chunks(bytes));
    for (const [what, cutAfter, work] of [
      ['a small put', 8000, () => target.put('small', chunks(bytes.subarray(0, 100_000)))],
      ['a large put', 3_000_000, () => target.put('large', chunks(bytes), { size: bytes.length })],
      ['a put of unknown size', 3_000_000, () => target.put('unknown', chunks(bytes))],
      // A download from S3 continues where it broke off, so it only fails if no byte arrives.
      ['a read', kind === 's3' ? 100 : 3_000_000, () => readAll(target, 'whole')],
      ['a list', 100, () => listAll(target)],
    ] as const) {
      Object.assign(proxy, { cutAfter, cuts: Number.POSITIVE_INFINITY });
      await assert.rejects(work(), isUnreachable, what);
      Object.assign(proxy, { cutAfter: Number.POSITIVE_INFINITY });
      assert.deepEqual(
        (await listAll(target)).map(({ name }) => name),
        ['whole'],
        what,
      );
    }
    assert.ok(proxy.count >= 5);
    assert.ok((await readAll(target, 'whole')).equals(bytes), 'the target works again');
  });

  test(`${kind}: a server that accepts connections and never responds is reported`, {
    skip: gap,
  }, async (t) => {
    const { target, proxy } = await open(t);
    proxy.frozen = true;
    await assert.rejects(target.put('a', chunks(randomFile(1000))), isUnreachable);
    await assert.rejects(listAll(target), isUnreachable);
  });
}

test('s3: a connection that breaks once is not noticed by the caller', {
  skip: KINDS['s3']?.gap,
}, async (t) => {
  const { target, proxy, dir } = await (KINDS['s3'] as (typeof KINDS)[string]).open(t);
  const bytes = randomFile(20_000_000);
  Object.assign(proxy, { cutAfter: 5_000_000, cuts: 1 });
  await target.put('set/dump', chunks(bytes), { size: bytes.length, onlyNew: true });
  Object.assign(proxy, { cutAfter: 9_000_000, cuts: 1 });
  assert.ok((await readAll(target, 'set/dump')).equals(bytes));
  assert.equal(proxy.count, 2);
  assert.deepEqual(
    findFiles(dir).filter((file) => !file.endsWith('/set/dump')),
    [],
    'no part is left',
  );
});

test('ssh: after a cut, the next call connects again', { skip: KINDS['ssh']?.gap }, async (t) => {
  const { target, proxy } = await (KINDS['ssh'] as (typeof KINDS)[string]).open(t);
  Object.assign(proxy, { cutAfter: 100, cuts: 1 });
  await assert.rejects(listAll(target), isUnreachable);
  await target.put('a', chunks(Buffer.from('1')));
  assert.deepEqual(await listAll(target), [{ name: 'a', size: 1 }]);
});

test('ssh: a key that was revoked is reported as IDKIT_CREDENTIALS', {
  skip: KINDS['ssh']?.gap,
}, async (t) => {
  const server = await startSsh(t);
  writeFileSync(server.authorizedKeys, '');
  const target = await openTarget(`ssh://${server.user}@127.0.0.1:${server.port}${join(scratch(t), 'x')}`, {
    env: server.env,
  });
  await assert.rejects(
    listAll(target),
    (error) => error instanceof IdkitError && error.code === 'IDKIT_CREDENTIALS',
  );
});
