import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { initPlatform, loadSettings } from '../../../src/config/index.ts';
import { Secret } from '../../../src/core/index.ts';
import { findEntry } from '../../../src/files/index.ts';
import { backup, RESTORE_STEPS, type RestoreOptions, restore } from '../../../src/procedures/index.ts';
import { lockRoot } from '../../../src/procedures/locks.ts';
import { startService } from '../../../src/service/index.ts';
import { freePort } from '../../free-port.ts';
import {
  copyKeycloakSet,
  fingerprint,
  makeDirectory,
  makePlatform,
  onSmallDisk,
  PASSPHRASE,
  procedureOptions,
} from '../platform.ts';
import { changedSinceBackup, NEW, OLD, readState } from '../restored-state.ts';

const code = (name: string) => (error: unknown) => (error as { code?: string }).code === name;
const options = (own: Partial<RestoreOptions> = {}): RestoreOptions => ({
  ...procedureOptions(),
  passphrase: PASSPHRASE,
  env: {},
  ...own,
});
/** Returns whether a path is a lock file. Comparisons omit these, because every procedure creates and removes them. */
const isLock = (path: string) => /\.lock(\.json)?$/.test(path);

describe('restore', () => {
  it('replaces the database, the environment and the configuration completely, checks them, and leaves no trace', async (t) => {
    const { platform, set } = await changedSinceBackup(t, ['acme']);
    assert.deepEqual(await readState(platform.dir), OLD);
    const own = procedureOptions();
    const result = await restore(await platform.load(), options({ ...own, from: set.dir }));
    assert.equal(result.outcome, 'restored');
    assert.deepEqual(result.findings, []);
    assert.deepEqual(await readState(platform.dir), NEW);
    assert.deepEqual(
      own.reported.steps,
      RESTORE_STEPS.map(({ id }) => id),
    );
    const left = (await readdir(platform.dir, { recursive: true })).filter((path) =>
      /\.pre-|restore-/.test(path),
    );
    assert.deepEqual(left, []);
    await (await platform.serve()).close();
  });

  it('reports every row of the checklist as done, failed or not applicable with the reason', async (t) => {
    const { platform, set } = await changedSinceBackup(t, ['acme', 'initech']);
    const { checklist } = await restore(await platform.load(), options({ from: set.dir }));
    assert.deepEqual(
      checklist.map(({ id, outcome }) => [id, outcome]),
      [
        ['containers', 'does not apply'],
        ['readiness', 'done'],
        ['proxy', 'does not apply'],
        ['discovery', 'done'],
        ['console-login', 'done'],
        ['m2m-token', 'done'],
        ['protected-apis', 'does not apply'],
        ['user-counts', 'done'],
      ],
    );
    for (const row of checklist) assert.ok(row.detail.length > 0, row.id);
  });

  it('creates a platform on a clean host from the set alone', async (t) => {
    const { set } = await changedSinceBackup(t, ['acme']);
    const dir = join(await makeDirectory(t, 'clean'), 'new place');
    const result = await restore(await loadSettings({ dir, env: {} }), options({ from: set.dir }));
    assert.equal(result.outcome, 'restored');
    assert.deepEqual(await readState(dir), NEW);
    assert.ok(findEntry(join(dir, 'idkit.yaml')));
    assert.equal(findEntry(join(dir, '.env'))!.mode & 0o777, 0o600);
  });

  it('the service accepts access tokens and unused refresh tokens from before the backup', async (t) => {
    const platform = await makePlatform(t);
    // Keep the same port, because a token contains the issuer and with it the address of the service.
    const port = String(await freePort());
    const startAtPort = async () =>
      startService(await loadSettings({ dir: platform.dir, env: {}, flags: { 'listen.port': port } }));
    const service = await startAtPort();
    t.after(() => service.close());
    const settings = await platform.load();
    const realm = (address: string) => `${address}/realms/master/protocol/openid-connect`;
    const post = async (address: string, form: Record<string, string>) => {
      const body = new URLSearchParams({ client_id: 'admin-cli', ...form });
      return fetch(`${realm(address)}/token`, { method: 'POST', body });
    };
    const login = await post(service.address, {
      grant_type: 'password',
      username: 'admin',
      password: settings.administrator.password!.reveal(),
    });
    const tokens = (await login.json()) as { access_token: string; refresh_token: string };
    const { keys: before } = (await (await fetch(`${realm(service.address)}/certs`)).json()) as {
      keys: { kid: string }[];
    };
    const set = await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE });
    await service.close();
    await rm(join(platform.dir, 'data'), { recursive: true });
    await restore(await platform.load(), options({ from: set.dir }));
    const again = await startAtPort();
    t.after(() => again.close());
    const { keys: after } = (await (await fetch(`${realm(again.address)}/certs`)).json()) as {
      keys: { kid: string }[];
    };
    assert.deepEqual(after.map(({ kid }) => kid).toSorted(), before.map(({ kid }) => kid).toSorted());
    const userinfo = await fetch(`${again.address}/admin/realms`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    assert.equal(userinfo.status, 200);
    const renewed = await post(again.address, {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
    });
    assert.equal(renewed.status, 200);
  });

  it('keeps .env if --keep-env is given, and config/ if --keep-config is given', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await restore(await platform.load(), options({ from: set.dir, keepEnv: true, keepConfig: true }));
    assert.deepEqual(await readState(platform.dir), { database: 'new', env: 'old', config: 'old' });
  });

  it('keeps the platform’s own idkit.yaml, and notes that it differs', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const yaml = `${await readFile(join(platform.dir, 'idkit.yaml'), 'utf8')}\n# mine\n`;
    await writeFile(join(platform.dir, 'idkit.yaml'), yaml);
    const own = procedureOptions();
    await restore(await platform.load(), options({ ...own, from: set.dir }));
    assert.equal(await readFile(join(platform.dir, 'idkit.yaml'), 'utf8'), yaml);
    assert.ok(own.reported.notes.some((note) => note.startsWith('idkit.yaml differs')));
  });

  it('keeps the previous config/ and reports its name if it has files that no backup contains', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await symlink('/etc/hostname', join(platform.dir, 'config/outside'));
    const result = await restore(await platform.load(), options({ from: set.dir }));
    assert.equal(result.kept.length, 1);
    assert.match(result.kept[0]!, /config\.pre-/);
    assert.equal(await readFile(join(result.kept[0]!, 'state'), 'utf8'), 'old');
    assert.deepEqual(await readState(platform.dir), NEW);
  });

  it('only checks and plans in a dry run', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const before = await fingerprint(platform.dir, isLock);
    const result = await restore(await platform.load(), options({ from: set.dir, dryRun: true }));
    assert.equal(result.outcome, 'planned');
    assert.deepEqual(result.plan?.realms, [{ realm: 'master', users: 1 }]);
    assert.deepEqual(await fingerprint(platform.dir, isLock), before);
  });
});

describe('restore before any change', () => {
  const refuses = async (
    t: Parameters<typeof changedSinceBackup>[0],
    expected: string,
    arrange: (place: Awaited<ReturnType<typeof changedSinceBackup>>) => Promise<Partial<RestoreOptions>>,
  ) => {
    const place = await changedSinceBackup(t);
    const own = await arrange(place);
    const settings = await place.platform.load();
    const before = await fingerprint(place.platform.dir, isLock);
    await assert.rejects(restore(settings, options({ from: place.set.dir, ...own })), code(expected));
    assert.deepEqual(await fingerprint(place.platform.dir, isLock), before);
  };

  it('rejects a missing set and a missing passphrase (exit code 2)', async (t) => {
    const settings = await loadSettings({ dir: join(await makeDirectory(t, 'none'), 'x'), env: {} });
    const { passphrase: _, ...without } = options({ from: '/nowhere' });
    await assert.rejects(restore(settings, without), code('IDKIT_SETTING'));
    await assert.rejects(restore(settings, options()), code('IDKIT_USAGE'));
    assert.equal(findEntry(settings.dir), undefined);
  });

  it('rejects a set that does not exist (exit code 10)', (t) =>
    refuses(t, 'IDKIT_NOT_FOUND', async () => ({ from: '/nowhere/20260101_000000' })));

  it('rejects a root that another procedure has locked (exit code 11)', (t) =>
    refuses(t, 'IDKIT_LOCKED', async ({ platform }) => {
      const lock = await lockRoot(join(platform.dir, 'backups'), 'exclusive', 'backup');
      t.after(() => lock.release());
      return {};
    }));

  it('rejects a damaged set (exit code 13)', (t) =>
    refuses(t, 'IDKIT_DAMAGED', async ({ set }) => {
      await writeFile(join(set.dir, 'config.tar.gz'), 'x');
      return {};
    }));

  it('rejects a wrong passphrase (exit code 12)', (t) =>
    refuses(t, 'IDKIT_CREDENTIALS', async () => ({ passphrase: new Secret('wrong') })));

  it('rejects a partial set without the database, before it is verified (exit code 2)', async (t) => {
    for (const damaged of [false, true]) {
      await refuses(t, 'IDKIT_USAGE', async ({ platform }) => {
        const set = await backup(await platform.load(), { ...procedureOptions(), only: ['config'] });
        if (damaged) await writeFile(join(set.dir, 'config.tar.gz'), 'x');
        const lock = await lockRoot(join(platform.dir, 'backups'), 'exclusive', 'backup');
        t.after(() => lock.release());
        return { from: set.dir, keepEnv: true };
      });
    }
  });

  it('rejects a set without the environment, unless --keep-env is given (exit code 2)', async (t) => {
    await refuses(t, 'IDKIT_USAGE', async ({ platform }) => {
      const set = await backup(await platform.load(), { ...procedureOptions(), only: ['database'] });
      await writeFile(join(set.dir, 'keycloak-db.sql.gz'), 'x');
      return { from: set.dir };
    });
    await refuses(t, 'IDKIT_DAMAGED', async ({ platform }) => {
      const set = await backup(await platform.load(), { ...procedureOptions(), only: ['database'] });
      await writeFile(join(set.dir, 'keycloak-db.sql.gz'), 'x');
      return { from: set.dir, keepEnv: true };
    });
  });

  it('ends if the operator does not confirm it', (t) =>
    refuses(t, 'IDKIT_USAGE', async () => ({ confirm: async () => false })));

  it('ends after an interrupt during the preflight (exit code 130)', (t) =>
    refuses(t, 'IDKIT_INTERRUPTED', async () => {
      const controller = new AbortController();
      const failpoint = (step: string) => {
        if (step === 'verify') controller.abort();
      };
      return { signal: controller.signal, failpoint };
    }));

  it('rejects a Postgres dump that ordinary tools created from a real Keycloak (exit code 14)', (t) =>
    refuses(t, 'IDKIT_VERSION', async () => {
      const { dir, passphrase } = await copyKeycloakSet(t);
      return { from: dir, passphrase, trustUnsealed: true };
    }));

  it('rejects a running service, and says how to stop it (exit code 11)', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await platform.serve();
    const skip = (path: string) => path.startsWith('data') || isLock(path);
    const before = await fingerprint(platform.dir, skip);
    await assert.rejects(
      restore(await platform.load(), options({ from: set.dir })),
      (error: unknown) =>
        code('IDKIT_SERVICE_RUNNING')(error) &&
        String((error as { hints: string[] }).hints).includes('Ctrl-C'),
    );
    assert.deepEqual(await fingerprint(platform.dir, skip), before);
  });
});

describe('a failed restore', () => {
  const fails = async (
    t: Parameters<typeof changedSinceBackup>[0],
    step: string,
    expected: string,
    spoil?: (dir: string) => Promise<void>,
  ) => {
    const { platform, set } = await changedSinceBackup(t);
    const controller = new AbortController();
    const failpoint = async (id: string) => {
      if (id !== step) return;
      if (spoil === undefined) controller.abort();
      else await spoil(platform.dir);
    };
    const before = await fingerprint(platform.dir, (path) => path.startsWith('data') || isLock(path));
    await assert.rejects(
      restore(
        await platform.load(),
        options({ ...procedureOptions({ signal: controller.signal }), from: set.dir, failpoint }),
      ),
      code(expected),
    );
    assert.deepEqual(await readState(platform.dir), OLD);
    assert.deepEqual(
      await fingerprint(platform.dir, (path) => path.startsWith('data') || isLock(path)),
      before,
    );
    const left = (await readdir(join(platform.dir, 'data'))).filter((name) => /restore-|\.pre-/.test(name));
    assert.deepEqual(left, []);
    await (await platform.serve()).close();
  };

  for (const step of ['stage', 'load', 'check', 'swap', 'start']) {
    it(`is rolled back if it is interrupted after "${step}" (exit code 130)`, (t) =>
      fails(t, step, 'IDKIT_INTERRUPTED'));
  }

  it('is rolled back if a step after the swap fails (exit code 16)', (t) =>
    fails(t, 'swap', 'IDKIT_RESTORE_UNDONE', async () => {
      throw new Error('the power went');
    }));

  it('is rolled back if the master key in the kept .env does not match the dump (exit code 12)', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const other = await makePlatform(t);
    await cp(join(other.dir, '.env'), join(platform.dir, '.env'));
    const before = await fingerprint(platform.dir, isLock);
    const keeping = options({ from: set.dir, keepEnv: true });
    await assert.rejects(restore(await platform.load(), keeping), code('IDKIT_MASTER_KEY_WRONG'));
    assert.deepEqual(await fingerprint(platform.dir, isLock), before);
  });
});

describe('a restore with failed late checks', () => {
  const red = async (t: Parameters<typeof changedSinceBackup>[0]) => {
    const { platform, set } = await changedSinceBackup(t);
    const yaml = await readFile(join(platform.dir, 'idkit.yaml'), 'utf8');
    const applications = 'applications: [{ name: orders, health: "http://127.0.0.1:9/health" }]\n';
    await writeFile(join(platform.dir, 'idkit.yaml'), yaml.replace(/^applications:.*\n/m, '') + applications);
    const result = await restore(await platform.load(), options({ from: set.dir }));
    return { platform, set, result };
  };

  it('keeps the restored state, names the failures, and can be rolled back with --abort', async (t) => {
    const { platform, result } = await red(t);
    assert.equal(result.outcome, 'restored');
    assert.deepEqual(
      result.findings.map((finding) => finding.code),
      ['SMOKE_FAILED'],
    );
    assert.deepEqual(await readState(platform.dir), NEW);
    assert.ok(result.kept.some((path) => path.includes('.env.pre-')));
    await (await platform.serve()).close();
    const aborted = await restore(await platform.load(), options({ abort: true }));
    assert.equal(aborted.outcome, 'aborted');
    assert.deepEqual(await readState(platform.dir), OLD);
    await assert.rejects(restore(await platform.load(), options({ abort: true })), code('IDKIT_NOT_FOUND'));
  });

  it('keeps the previous state until the next good backup', async (t) => {
    const { platform, result } = await red(t);
    for (const path of result.kept) assert.ok(findEntry(path), path);
    await backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });
    for (const path of result.kept) assert.equal(findEntry(path), undefined, path);
    assert.deepEqual(await readState(platform.dir), NEW);
  });
});

describe('restore on a full disk', () => {
  it('is rejected if the staged database has no space, and leaves the old state intact (exit code 19)', async (t) => {
    const { set } = await changedSinceBackup(t, ['acme']);
    await onSmallDisk(t, '512k', async (mount) => {
      const dir = join(mount, 'idkit');
      await mkdir(dir);
      initPlatform(dir, { env: {} });
      const before = await fingerprint(dir, isLock);
      await assert.rejects(
        restore(await loadSettings({ dir, env: {} }), options({ from: set.dir })),
        code('IDKIT_NO_SPACE'),
      );
      assert.deepEqual(await fingerprint(dir, isLock), before);
    });
  });
});
