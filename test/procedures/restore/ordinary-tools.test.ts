import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { loadSettings } from '../../../src/config/index.ts';
import { smoke } from '../../../src/procedures/index.ts';
import { startService } from '../../../src/service/index.ts';
import { makeDirectory, PASSPHRASE, procedureOptions } from '../platform.ts';
import { changedSinceBackup, NEW, readState } from '../restored-state.ts';

/** Returns whether all programs are installed. If not, skips the test, or fails it if IDKIT_TEST_REQUIRE_ALL is set. */
function hasPrograms(t: TestContext, programs: readonly string[]): boolean {
  for (const program of programs) {
    try {
      execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    } catch {
      if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') assert.fail(`${program} is missing`);
      t.skip(`needs ${program}`);
      return false;
    }
  }
  return true;
}

describe('a set without idkit', () => {
  it('can be restored with only gunzip, sqlite3, tar, gpg and sha256sum', async (t) => {
    if (!hasPrograms(t, ['gunzip', 'sqlite3', 'tar', 'gpg', 'sha256sum'])) return;
    const { set } = await changedSinceBackup(t, ['acme']);
    const dir = join(await makeDirectory(t, 'by-hand'), 'idkit');
    const home = await makeDirectory(t, 'gpg');
    await mkdir(join(dir, 'data'), { recursive: true });
    await chmod(home, 0o700);
    const passphraseFile = join(home, 'passphrase');
    await writeFile(passphraseFile, PASSPHRASE.reveal(), { mode: 0o600 });
    const script = `
      set -eu
      umask 077
      cd "$SET"
      sha256sum --strict --quiet -c checksums.sha256
      gunzip -c keycloak-db.sql.gz | sqlite3 -bail "$TARGET/data/idkit.db"
      tar xzf config.tar.gz -C "$TARGET"
      gpg --batch --quiet --pinentry-mode loopback --passphrase-file "$PASSPHRASE_FILE" \\
        --output "$TARGET/.env" --decrypt env.gpg
      sqlite3 "$TARGET/data/idkit.db" 'PRAGMA integrity_check'
    `;
    const output = execFileSync('sh', ['-c', script], {
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        GNUPGHOME: home,
        SET: set.dir,
        TARGET: dir,
        PASSPHRASE_FILE: passphraseFile,
      },
    });
    t.after(() =>
      execFileSync('sh', ['-c', 'gpgconf --kill all || true'], { env: { ...process.env, GNUPGHOME: home } }),
    );
    assert.equal(output.trim(), 'ok');
    assert.deepEqual(await readState(dir), NEW);

    const settings = await loadSettings({ dir, env: {}, flags: { 'listen.port': '0' } });
    const service = await startService(settings);
    t.after(() => service.close());
    const result = await smoke(settings, { ...procedureOptions(), deep: true });
    assert.deepEqual(result.findings, []);
    assert.ok(result.checks.some(({ subject, outcome }) => subject === 'acme' && outcome === 'passed'));
  });
});
