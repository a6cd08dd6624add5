import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type ProcedureOptions, recoverAdmin, rotateMasterKey, smoke } from '../../src/procedures/index.ts';
import { ROTATE_STEPS } from '../../src/procedures/rotate-master-key.ts';
import { procedureOptions, type TestPlatform } from './platform.ts';
import { changedSinceBackup } from './restored-state.ts';

const code = (name: string) => (error: unknown) => (error as { code?: string }).code === name;
const readEnv = (platform: TestPlatform) => readFile(join(platform.dir, '.env'), 'utf8');

/** Checks that the service starts, that its secrets can be decrypted, and that the credentials in `.env` work. */
async function checkWell(platform: TestPlatform): Promise<void> {
  const service = await platform.serve();
  const result = await smoke(await platform.load(), procedureOptions());
  assert.deepEqual(result.findings, []);
  await service.close();
}

describe('master-key rotate', () => {
  it('encrypts every secret with a new key, and removes the old one from .env', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const before = await platform.load();
    const result = await rotateMasterKey(before, procedureOptions());
    assert.ok(result.records > 0);
    assert.equal(result.resumed, false);
    const after = await platform.load();
    assert.notEqual(after.masterKey!.reveal(), before.masterKey!.reveal());
    assert.equal(after.masterKeyOld, undefined);
    assert.ok(!(await readEnv(platform)).includes(before.masterKey!.reveal()));
    await checkWell(platform);
  });

  for (const { id } of ROTATE_STEPS) {
    it(`a second run completes a rotation that was interrupted after "${id}", and the platform works afterwards`, async (t) => {
      const { platform } = await changedSinceBackup(t);
      const old = (await platform.load()).masterKey!.reveal();
      const options: ProcedureOptions = {
        ...procedureOptions(),
        failpoint: (step) => {
          if (step === id) throw new Error('broken off');
        },
      };
      await assert.rejects(rotateMasterKey(await platform.load(), options), /broken off/);
      await rotateMasterKey(await platform.load(), procedureOptions());
      const after = await platform.load();
      assert.equal(after.masterKeyOld, undefined);
      assert.notEqual(after.masterKey!.reveal(), old);
      await checkWell(platform);
    });
  }

  it('an interrupted rotation is completed by serve, which accepts both keys', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const options: ProcedureOptions = {
      ...procedureOptions(),
      failpoint: (step) => {
        if (step === 'write') throw new Error('broken off');
      },
    };
    await assert.rejects(rotateMasterKey(await platform.load(), options), /broken off/);
    await checkWell(platform);
  });

  it('requires a stopped service (exit code 11) and a key from .env (exit code 2)', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const settings = await platform.load();
    const elsewhere = {
      ...settings,
      sources: { ...settings.sources, IDKIT_MASTER_KEY: 'environment' } as const,
    };
    await assert.rejects(rotateMasterKey(elsewhere, procedureOptions()), code('IDKIT_SETTING'));
    await platform.serve();
    const before = await readEnv(platform);
    await assert.rejects(
      rotateMasterKey(settings, procedureOptions()),
      (error: unknown) => (error as { exitCode?: number }).exitCode === 11,
    );
    assert.equal(await readEnv(platform), before);
  });
});

describe('recover-admin', () => {
  it('resets the administrator from .env, and updates .env', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const before = await platform.load();
    const result = await recoverAdmin(before, procedureOptions());
    assert.equal(result.envUpdated, true);
    const after = await platform.load();
    assert.equal(after.administrator.password!.reveal(), result.password.reveal());
    assert.notEqual(after.administrator.password!.reveal(), before.administrator.password!.reveal());
    await checkWell(platform);
  });

  it('creates another administrator without changing .env', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const before = await readEnv(platform);
    const result = await recoverAdmin(await platform.load(), { ...procedureOptions(), username: 'third' });
    assert.equal(result.envUpdated, false);
    assert.equal(await readEnv(platform), before);
    const service = await platform.serve();
    const login = await fetch(`${service.address}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: 'admin-cli',
        username: 'third',
        password: result.password.reveal(),
      }),
    });
    assert.equal(login.status, 200);
  });

  it('requires a stopped service (exit code 11)', async (t) => {
    const { platform } = await changedSinceBackup(t);
    await platform.serve();
    await assert.rejects(
      recoverAdmin(await platform.load(), procedureOptions()),
      (error: unknown) => (error as { exitCode?: number }).exitCode === 11,
    );
  });
});
