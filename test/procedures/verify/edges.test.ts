import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Secret } from '../../../src/core/index.ts';
import { verify } from '../../../src/procedures/index.ts';
import { procedureOptions } from '../platform.ts';
import { changedSinceBackup } from '../restored-state.ts';

const codes = (findings: readonly { code: string }[]) => findings.map(({ code }) => code);

describe('several faults in one set', () => {
  it('damage (exit code 13) takes precedence over age (exit code 3) and every other fault except wrong usage', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const settings = await platform.load();
    const { root } = settings.backup;
    await cp(set.dir, join(root, '20990101_000000'), { recursive: true });
    const damaged = join(root, '20200101_000000');
    await cp(set.dir, damaged, { recursive: true });
    await writeFile(join(damaged, 'realm-master.json'), 'x');
    const wrong = { ...procedureOptions(), passphrase: new Secret('wrong'), maxAgeSeconds: 0 };
    const later = { now: () => Date.now() + 10_000 };
    const { failure, findings, verdict, sets } = await verify(settings, {
      ...wrong,
      all: true,
      clock: later,
    });
    assert.deepEqual(codes(findings), ['SET_IN_FUTURE', 'BACKUP_TOO_OLD']);
    assert.deepEqual(
      sets.map((one) => one.verdict),
      ['damaged', 'passphrase', 'passphrase'],
    );
    assert.equal(failure?.exitCode, 13);
    assert.match(
      verdict,
      /^damaged: 20200101_000000, .*; passphrase: 2 of 3 sets: \d{8}_\d{6}, 20990101_000000$/,
    );
  });
});
