import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { IdkitError, systemClock } from '../../../src/core/index.ts';
import { listRemoteBackups, mirrorRoot, resolveSet } from '../../../src/procedures/index.ts';
import { findS3Gap, startS3 } from '../../target/s3-server.ts';
import { scratch } from '../../target/scratch.ts';
import { findSshGap, startSsh } from '../../target/ssh-server.ts';
import { makePlatform, procedureOptions } from '../platform.ts';
import { mirrorOptions, writeSet } from './roots.ts';

const NAME = '20261122_101112';

interface Place {
  location: string;
  /** The directory of the target on this machine. */
  dir: string;
}

/** Sets variables of this process until the end of the test. */
function setEnvironment(t: TestContext, env: Record<string, string>): void {
  const before = { ...process.env };
  Object.assign(process.env, env);
  t.after(() => {
    process.env = before;
  });
}

const KINDS: Record<string, { gap: string | undefined; open(t: TestContext): Promise<Place> }> = {
  s3: {
    gap: findS3Gap(),
    async open(t) {
      const server = await startS3(t);
      setEnvironment(t, server.env);
      return { location: `s3://${server.bucket}/idkit`, dir: join(server.objects, 'idkit') };
    },
  },
  ssh: {
    gap: findSshGap(),
    async open(t) {
      const server = await startSsh(t);
      setEnvironment(t, { PATH: server.env['PATH'] ?? '' });
      const dir = scratch(t);
      return { location: `ssh://${server.user}@127.0.0.1:${server.port}${dir}`, dir };
    },
  },
};

for (const [kind, { gap, open }] of Object.entries(KINDS)) {
  test(`${kind}: a mirrored set is listed, and comes back byte for byte by its name and as latest`, {
    skip: gap,
  }, async (t) => {
    const { location } = await open(t);
    const root = join(scratch(t), 'root');
    for (const name of ['20261121_101112', NAME]) writeSet(root, name, 9_000_000);
    const report = await mirrorRoot(mirrorOptions(root, location));
    assert.deepEqual([report.findings, report.copied.length, report.readBack.kind], [[], 2, 'all']);
    const { sets } = await listRemoteBackups(location, procedureOptions());
    assert.deepEqual(
      sets.map(({ name, whole, state }) => [name, whole, state]),
      [
        ['20261121_101112', true, 'unverified'],
        [NAME, true, 'unverified'],
      ],
    );
    const settings = await (await makePlatform(t)).load();
    const options = { ...procedureOptions(), cwd: '/' };
    for (const named of [NAME, 'latest']) {
      const dir = await resolveSet(settings, `${location}/${named}`, options);
      for (const file of readdirSync(join(root, NAME)))
        assert.deepEqual(readFileSync(join(dir, file)), readFileSync(join(root, NAME, file)));
      assert.deepEqual(readdirSync(dir).toSorted(), readdirSync(join(root, NAME)).toSorted());
    }
    await assert.rejects(
      resolveSet(settings, `${location}/20200101_000000`, options),
      (error) => error instanceof IdkitError && error.code === 'IDKIT_NOT_FOUND',
    );
    await assert.rejects(
      resolveSet(settings, location, options),
      (error) => error instanceof IdkitError && error.code === 'IDKIT_USAGE',
    );
  });
}

test('a target that adds files, links or bytes gains nothing', { skip: KINDS['ssh']?.gap }, async (t) => {
  const { location, dir } = await (KINDS['ssh'] as (typeof KINDS)[string]).open(t);
  const root = join(scratch(t), 'root');
  writeSet(root, NAME, 1000);
  await mirrorRoot(mirrorOptions(root, location));
  const settings = await (await makePlatform(t)).load();
  const options = { ...procedureOptions(), cwd: '/' };
  const fetched = () => resolveSet(settings, `${location}/${NAME}`, options);
  writeFileSync(join(dir, NAME, 'extra'), 'x');
  await assert.rejects(fetched(), /extra is not listed in checksums\.sha256/);
  rmSync(join(dir, NAME, 'extra'));
  rmSync(join(dir, NAME, 'config.tar.gz'));
  symlinkSync('/etc/passwd', join(dir, NAME, 'config.tar.gz'));
  assert.equal(existsSync(join(await fetched(), 'config.tar.gz')), false, 'a link is not followed');
  const list = join(dir, NAME, 'checksums.sha256');
  const before = readFileSync(list);
  appendFileSync(list, `${'0'.repeat(64)}  ../../escaped\n`);
  await assert.rejects(fetched(), /not a plain file name/);
  writeFileSync(list, before);
});

test('a set larger than the disk is rejected before a byte of it is read', {
  skip: KINDS['ssh']?.gap,
}, async (t) => {
  const { location, dir } = await (KINDS['ssh'] as (typeof KINDS)[string]).open(t);
  mkdirSync(join(dir, NAME));
  writeFileSync(join(dir, NAME, 'checksums.sha256'), `${'0'.repeat(64)}  keycloak-db.sql.gz\n`);
  const { execFileSync } = await import('node:child_process');
  execFileSync('truncate', ['-s', '7T', join(dir, NAME, 'keycloak-db.sql.gz')]);
  const settings = await (await makePlatform(t)).load();
  await assert.rejects(
    resolveSet(settings, `${location}/latest`, { ...procedureOptions({ clock: systemClock }), cwd: '/' }),
    (error) => error instanceof IdkitError && error.code === 'IDKIT_NO_SPACE',
  );
});
