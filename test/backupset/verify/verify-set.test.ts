import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { openSet, renderChecksums, type Verdict, verifySet } from '../../../src/backupset/index.ts';
import { IdkitError, Secret } from '../../../src/core/index.ts';
import { hasProgram } from '../../interop/system-program.ts';
import {
  DUMP,
  DUMP_REALMS,
  ENVIRONMENT,
  makeSet,
  PASSPHRASE,
  type SampleOptions,
  SET_NAME,
  temporaryDirectory,
} from '../sample-set.ts';

const REAL = fileURLToPath(new URL('../../fixtures/keycloak/exports/20261101_020000', import.meta.url));
const REAL_PASSPHRASE = new Secret('backup-Passphrase-1');

async function published(t: TestContext, options?: SampleOptions): Promise<string> {
  return (await makeSet(await temporaryDirectory(t), options)).publish();
}

/** @param passphrase null to verify without a passphrase */
async function judge(dir: string, passphrase: Secret | null = PASSPHRASE): Promise<Verdict> {
  return verifySet(await openSet(dir), passphrase === null ? {} : { passphrase });
}

/** Writes new checksums for the current files, as an attacker or a careless person would. */
async function relist(dir: string): Promise<void> {
  const names = (await readdir(dir)).filter((name) => !['checksums.sha256', 'seal.gpg'].includes(name));
  const entries = await Promise.all(
    names.map(async (name) => ({
      name,
      sha256: createHash('sha256')
        .update(await readFile(join(dir, name)))
        .digest('hex'),
    })),
  );
  await writeFile(join(dir, 'checksums.sha256'), renderChecksums(entries));
}

function damagedIn(verdict: Verdict, file: string | RegExp): void {
  assert.equal(verdict.verdict, 'damaged', JSON.stringify(verdict.problems));
  assert.equal(verdict.code, 'IDKIT_DAMAGED');
  assert.ok(
    verdict.problems.some((problem) =>
      typeof file === 'string' ? problem.file === file : file.test(problem.file),
    ),
    `${file} among ${JSON.stringify(verdict.problems)}`,
  );
}

test('accepts a set that backup created, and reports its realms, users and sizes', async (t) => {
  const dir = await published(t);
  const verdict = await judge(dir);
  assert.deepEqual([verdict.verdict, verdict.problems, verdict.notes], ['good', [], []]);
  assert.deepEqual(verdict.parts, ['database', 'realms', 'config', 'env']);
  assert.deepEqual(
    verdict.realms.map(({ realm, users }) => ({ realm, users })),
    DUMP_REALMS,
  );
  assert.equal(verdict.dump?.kind, 'sqlite');
  assert.equal(verdict.files, (await readdir(dir)).length);
});

test('accepts a set that ordinary tools created from a real Keycloak, with a note', async () => {
  const verdict = await judge(REAL, REAL_PASSPHRASE);
  assert.equal(verdict.verdict, 'good');
  assert.deepEqual(verdict.notes, [
    'the set is unsealed, so idkit cannot detect whether someone changed it',
    'the set has no manifest.json, so idkit did not create it',
  ]);
  assert.equal(verdict.dump?.kind, 'postgres');
  assert.deepEqual(
    verdict.realms.find((one) => one.realm === 'globex'),
    { realm: 'globex', users: 1000, file: 'realm-globex.json' },
  );
});

test('does not decrypt env.gpg without a passphrase, and reports that in a note', async (t) => {
  const verdict = await verifySet(await openSet(await published(t)));
  assert.equal(verdict.verdict, 'good');
  assert.deepEqual(verdict.notes, [
    'seal.gpg was not decrypted because no passphrase was given',
    'env.gpg was not decrypted because no passphrase was given',
  ]);
});

test('reports env.gpg as damaged if the caller finds a fault in it, and passes on the caller’s note', async (t) => {
  const set = await openSet(await published(t));
  const seen: string[] = [];
  const judgeEnvironment = (plain: Uint8Array) => {
    seen.push(Buffer.from(plain).toString());
    return { note: 'odd' };
  };
  const noted = await verifySet(set, { passphrase: PASSPHRASE, judgeEnvironment });
  assert.deepEqual([noted.verdict, seen], ['good', [ENVIRONMENT]]);
  assert.ok(noted.notes.includes('env.gpg: odd'));
  const faulty = await verifySet(set, {
    passphrase: PASSPHRASE,
    judgeEnvironment: () => ({ fault: 'it is empty' }),
  });
  damagedIn(faulty, 'env.gpg');
  assert.equal(faulty.problems[0]?.message, 'it is empty');
  await verifySet(set, { judgeEnvironment });
  assert.equal(seen.length, 1, 'nothing to judge without a passphrase');
});

test('reports a wrong passphrase with exit code 12, unless another file is damaged', async (t) => {
  const dir = await published(t);
  assert.deepEqual(
    [(await judge(dir, new Secret('other'))).verdict, (await judge(dir, new Secret('other'))).code],
    ['passphrase', 'IDKIT_CREDENTIALS'],
  );
  await writeFile(join(dir, 'realm-master.json'), '{}');
  damagedIn(await judge(dir, new Secret('other')), 'realm-master.json');
});

for (const [what, source] of [
  ['idkit', undefined],
  ['ordinary tools', REAL],
] as const)
  test(`reports one flipped bit in any file of a set from ${what} as damage to that file`, async (t) => {
    const dir = source === undefined ? await published(t) : join(await temporaryDirectory(t), SET_NAME);
    if (source !== undefined) await cp(source, dir, { recursive: true });
    for (const file of await readdir(dir)) {
      const whole = await readFile(join(dir, file));
      for (let round = 0; round < 6; round++) {
        const at = Math.floor((whole.length - 1) * (round / 5));
        const bent = Buffer.from(whole);
        bent[at]! ^= 1 << (round % 8);
        await writeFile(join(dir, file), bent);
        // The checksums do not list the seal, so only its decryption reveals the change.
        const verdict = await judge(dir, file === 'seal.gpg' ? PASSPHRASE : null);
        // A flipped bit in the list changes one line, so the file of that line no longer matches.
        damagedIn(verdict, file === 'checksums.sha256' ? /./ : file);
      }
      await writeFile(join(dir, file), whole);
    }
  });

test('reports damage even if the checksums were recomputed', async (t) => {
  const cases: Record<string, (content: Buffer) => Buffer> = {
    'keycloak-db.sql.gz': () => gzipSync(DUMP.slice(0, DUMP.indexOf('CREATE UNIQUE INDEX'))),
    'config.tar.gz': (content) => content.subarray(0, content.length - 1),
    'realm-master.json': () => Buffer.from('{"realm":"other"}'),
    'env.gpg': (content) => content.subarray(0, content.length - 1),
    'manifest.json': () => Buffer.from('{"formatVersion":1}'),
  };
  for (const [file, bend] of Object.entries(cases)) {
    const dir = await published(t);
    await writeFile(join(dir, file), bend(await readFile(join(dir, file))));
    await relist(dir);
    damagedIn(await judge(dir, null), file);
  }
});

test('reports a missing, unlisted or irregular file as damage', async (t) => {
  if (!hasProgram(t, 'mkfifo')) return;
  const changes: [string, (dir: string) => Promise<unknown>][] = [
    ['env.gpg', (dir) => rm(join(dir, 'env.gpg'))],
    ['more.txt', (dir) => writeFile(join(dir, 'more.txt'), '')],
    ['sub', (dir) => mkdir(join(dir, 'sub'))],
    ['checksums.sha256', (dir) => rm(join(dir, 'checksums.sha256'))],
    ['checksums.sha256', (dir) => writeFile(join(dir, 'checksums.sha256'), '')],
    [
      'realm-master.json',
      async (dir) => {
        await rename(join(dir, 'realm-master.json'), join(dir, '../aside'));
        await symlink('../aside', join(dir, 'realm-master.json'));
      },
    ],
    [
      'env.gpg',
      async (dir) => {
        await rm(join(dir, 'env.gpg'));
        execFileSync('mkfifo', [join(dir, 'env.gpg')]);
      },
    ],
  ];
  for (const [file, change] of changes) {
    const dir = await published(t);
    await change(dir);
    damagedIn(await judge(dir, null), file);
  }
});

test('reports damage if a file was removed together with its line in the checksums', async (t) => {
  for (const file of ['keycloak-db.sql.gz', 'env.gpg', 'config.tar.gz', 'realm-master.json']) {
    const dir = await published(t);
    await rm(join(dir, file));
    await relist(dir);
    damagedIn(await judge(dir, null), file);
  }
  const dir = join(await temporaryDirectory(t), SET_NAME);
  await cp(REAL, dir, { recursive: true });
  await rm(join(dir, 'env.gpg'));
  await relist(dir);
  damagedIn(await judge(dir, REAL_PASSPHRASE), 'env.gpg');
});

test('reports a foreign file as a note if the checksums list it', async (t) => {
  const dir = await published(t, { older: true });
  await writeFile(join(dir, 'RESTORE.txt'), 'how to');
  await relist(dir);
  const verdict = await judge(dir);
  assert.equal(verdict.verdict, 'good');
  assert.match(verdict.notes.join(), /RESTORE\.txt/);
});

test('the manifest and the dump must agree on realms, users, schema and kind', async (t) => {
  const [first, second] = DUMP_REALMS as [(typeof DUMP_REALMS)[0], (typeof DUMP_REALMS)[0]];
  const edits: SampleOptions['manifest'][] = [
    (manifest) => ({
      ...manifest,
      realms: manifest.realms.map((one) => (one.realm === 'master' ? { ...one, users: 9 } : one)),
    }),
    (manifest) => ({ ...manifest, realms: [...manifest.realms, { realm: 'gone', users: 0 }] }),
    (manifest) => ({
      ...manifest,
      realms: manifest.realms.map(({ realm, file }) => ({ realm, file: file! })),
    }),
    (manifest) => ({ ...manifest, database: { ...manifest.database!, schemaVersion: 2 } }),
    (manifest) => ({ ...manifest, database: { ...manifest.database!, kind: 'postgres' } }),
  ];
  for (const manifest of edits)
    damagedIn(await judge(await published(t, { manifest: manifest! }), null), 'keycloak-db.sql.gz');
  const swapped = await published(t, {
    manifest: (manifest) => ({
      ...manifest,
      realms: [
        { ...manifest.realms[0]!, realm: second.realm, users: second.users },
        { ...manifest.realms[1]!, realm: first.realm, users: first.users },
      ],
    }),
  });
  damagedIn(await judge(swapped), 'realm-master.json');
});

test('reports a realm that was created between the snapshot and the realm files as a note, not as damage', async (t) => {
  const dir = await published(t, {
    extra: { 'realm-fresh.json': '{"realm":"fresh"}' },
    manifest: (manifest) => ({
      ...manifest,
      realms: [...manifest.realms, { realm: 'fresh', file: 'realm-fresh.json' }],
    }),
  });
  const verdict = await judge(dir);
  assert.equal(verdict.verdict, 'good');
  assert.match(verdict.notes.join(), /realm-fresh\.json/);
});

test('accepts a partial set if it has the parts that its manifest lists', async (t) => {
  for (const parts of [['config'], ['env'], ['realms'], ['database'], ['config', 'env']] as const) {
    const verdict = await judge(await published(t, { parts }));
    assert.deepEqual([verdict.verdict, verdict.parts], ['good', parts], JSON.stringify(verdict.problems));
  }
});

test('accepts a set with any name or behind a link, but never a .partial- directory', async (t) => {
  const root = await temporaryDirectory(t);
  const writer = await makeSet(root);
  await assert.rejects(
    openSet(writer.dir),
    (error) => error instanceof IdkitError && error.code === 'IDKIT_DAMAGED',
  );
  const dir = await writer.publish();
  await rename(dir, join(root, 'my own'));
  await symlink('my own', join(root, 'link'));
  assert.equal((await judge(join(root, 'link'))).verdict, 'good');
});

test('reports an explicit directory that does not exist as IDKIT_NOT_FOUND', async (t) => {
  const root = await temporaryDirectory(t);
  await writeFile(join(root, 'file'), '');
  for (const name of ['none', 'file', 'file/x'])
    await assert.rejects(
      openSet(join(root, name)),
      (error) => error instanceof IdkitError && error.code === 'IDKIT_NOT_FOUND',
    );
});

test('rejects a file name that is a path', async (t) => {
  const dir = await published(t);
  const set = await openSet(dir);
  for (const name of ['../20261101_020000/env.gpg', '/etc/passwd', '..', ''])
    await assert.rejects(
      set.read(name),
      (error) => error instanceof IdkitError && error.code === 'IDKIT_DAMAGED',
    );
});

test('stops when the signal is aborted, and reports progress', async (t) => {
  const dir = await published(t);
  const seen: { done: number; total: number | undefined }[] = [];
  const verdict = await verifySet(await openSet(dir), {
    onProgress: (done, total) => seen.push({ done, total }),
  });
  assert.deepEqual(seen.at(-1), { done: verdict.bytes, total: verdict.bytes });
  await assert.rejects(
    verifySet(await openSet(dir), { signal: AbortSignal.abort(new Error('stop')) }),
    /stop/,
  );
});

test('reading does not change the set', async (t) => {
  const dir = await published(t);
  const before = await readdir(dir);
  await judge(dir);
  assert.deepEqual(await readdir(dir), before);
});
