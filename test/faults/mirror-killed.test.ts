import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { mirrorRoot } from '../../src/procedures/index.ts';
import { mirrorOptions, writeSet } from '../procedures/mirror/roots.ts';
import { onSmallDisk } from '../procedures/platform.ts';
import { findS3Gap, startS3 } from '../target/s3-server.ts';
import { scratch } from '../target/scratch.ts';
import { findSshGap, startSsh } from '../target/ssh-server.ts';

/** How often a run is killed. */
const KILLS = Number(process.env['IDKIT_TEST_KILLS'] ?? 3);

interface Place {
  location: string;
  dir: string;
  env: Record<string, string>;
}

const KINDS: Record<
  string,
  { gap: string | undefined; open(t: TestContext, within?: string): Promise<Place> }
> = {
  directory: {
    gap: undefined,
    open: async (t, within) => {
      const dir = join(within ?? scratch(t), 'copies');
      return { location: dir, dir, env: {} };
    },
  },
  s3: {
    gap: findS3Gap(),
    async open(t, within) {
      const server = await startS3(t, within === undefined ? {} : { directory: within });
      return { location: `s3://${server.bucket}/idkit`, dir: join(server.objects, 'idkit'), env: server.env };
    },
  },
  ssh: {
    gap: findSshGap(),
    async open(t, within) {
      const server = await startSsh(t);
      const dir = within ?? scratch(t);
      return {
        location: `ssh://${server.user}@127.0.0.1:${server.port}${dir}`,
        dir,
        env: { PATH: server.env['PATH'] ?? '' },
      };
    },
  },
};

/** A program that mirrors a root to a target. */
const PROGRAM = `
  import { mirrorRoot } from '${join(import.meta.dirname, '../../src/procedures/index.ts')}';
  process.stdout.write('begun');
  const report = await mirrorRoot(JSON.parse(process.argv[2], (key, value) => key === 'signal' ? new AbortController().signal : value));
  process.exit(report.findings.length);
`;

for (const [kind, { gap, open }] of Object.entries(KINDS)) {
  test(`${kind}: a mirror that is killed at a random time never leaves an incomplete set, and the next run completes it`, {
    skip: gap,
  }, async (t) => {
    const { location, dir, env } = await open(t);
    const root = join(scratch(t), 'root');
    const program = join(scratch(t), 'mirror.mts');
    writeFileSync(program, PROGRAM);
    for (let round = 0; round < KILLS; round += 1) {
      writeSet(root, `202611${10 + round}_101112`, 12_000_000);
      const options = JSON.stringify(mirrorOptions(root, location));
      const child = spawn(process.execPath, [program, options], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      await sleep(randomInt(400));
      child.kill('SIGKILL');
      await once(child, 'close');
      checkSets(root, dir);
    }
    const report = await mirrorRoot(
      mirrorOptions(root, location, { env: { ...process.env, ...env }, readsAll: true }),
    );
    assert.deepEqual(report.findings, []);
    assert.equal(checkSets(root, dir), KILLS);
  });

  test(`${kind}: a full disk at the target is reported, and no incomplete set is left`, {
    skip: gap,
  }, async (t) => {
    await onSmallDisk(t, '8m', async (disk) => {
      const { location, dir, env } = await open(t, disk);
      const root = join(scratch(t), 'root');
      writeSet(root, '20261110_101112', 2_000_000);
      writeSet(root, '20261111_101112', 9_000_000);
      const report = await mirrorRoot(mirrorOptions(root, location, { env: { ...process.env, ...env } }));
      assert.deepEqual(report.copied, ['20261110_101112']);
      assert.equal(report.findings.length, 1);
      assert.match(report.findings[0]?.message ?? '', /no space left/);
      assert.equal(checkSets(root, dir), 1);
    });
  });
}

/** Checks that every set with checksums at the target has the same files as here. Returns their number. */
function checkSets(root: string, dir: string): number {
  if (!existsSync(dir)) return 0;
  const complete = readdirSync(dir).filter((name) => existsSync(join(dir, name, 'checksums.sha256')));
  for (const name of complete)
    for (const file of readdirSync(join(root, name)))
      assert.ok(
        readFileSync(join(dir, name, file)).equals(readFileSync(join(root, name, file))),
        `${name}/${file}`,
      );
  return complete.length;
}
