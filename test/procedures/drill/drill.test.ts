import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { connectAdmin } from '../../../src/client/index.ts';
import { openScratch } from '../../../src/platform/open.ts';
import { isolate } from '../../../src/procedures/drill/isolate.ts';
import { backup, drill, renderDrillReport, verify } from '../../../src/procedures/index.ts';
import { copyKeycloakSet, fingerprint, makePlatform, PASSPHRASE, procedureOptions } from '../platform.ts';
import { changedSinceBackup, NEW, readState } from '../restored-state.ts';
import { spawnProcedure } from '../spawn-procedure.ts';

// Use a separate temporary directory, so that these tests do not see the drills of other test files.
process.env['TMPDIR'] = mkdtempSync(join(tmpdir(), 'idkit-test-drills-'));
after(() => rmSync(tmpdir(), { recursive: true, force: true }));

/** Returns whether a path is one that a drill may write in the live directory: a lock file or a report. */
const isState = (path: string) => /\.lock(\.json)?$/.test(path) || /^backups\/\.(state|drills)/.test(path);
const listDrills = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('idkit-drill-'));
const options = () => ({ ...procedureOptions(), passphrase: PASSPHRASE, env: {} });

describe('drill', () => {
  it('restores the newest set in isolation, reports the result, and leaves the live platform untouched', async (t) => {
    const { platform, set } = await changedSinceBackup(t, ['acme']);
    const before = await fingerprint(platform.dir, isState);
    const drills = await listDrills();
    const result = await drill(await platform.load(), options());
    assert.deepEqual([result.outcome, result.findings, result.failure], ['passed', [], undefined]);
    assert.equal(result.set, set.dir);
    assert.equal(result.checklist.length, 8);
    assert.ok(result.phases.some(({ id }) => id === 'load'));
    assert.deepEqual(await fingerprint(platform.dir, isState), before);
    assert.deepEqual(await listDrills(), drills);

    assert.equal(result.reportFile, join(platform.dir, 'backups/.state', `drill-${set.name}.json`));
    const report = JSON.parse(await readFile(result.reportFile, 'utf8'));
    assert.deepEqual([report.outcome, report.set], ['passed', set.dir]);
    const text = renderDrillReport(result);
    for (const word of ['Phases', 'load', 'Checklist', 'does not apply', 'passed after']) {
      assert.ok(text.includes(word), word);
    }
  });

  it('a drill does not need the password file that .env names', async (t) => {
    const { platform } = await changedSinceBackup(t);
    await appendFile(join(platform.dir, '.env'), 'IDKIT_DATABASE_PASSWORD_FILE=data/db-password\n');
    await writeFile(join(platform.dir, 'data/db-password'), 'of the live one');
    await backup(await platform.load(), options());
    assert.equal((await drill(await platform.load(), options())).outcome, 'passed');
  });

  it('sends no logout token to an application, because the token would be signed with the real keys', async (t) => {
    const { platform } = await changedSinceBackup(t);
    let called = 0;
    const application = createServer((_, response) => {
      called++;
      response.end();
    });
    await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
    t.after(() => application.close());
    const { port } = application.address() as { port: number };
    const service = await platform.serve();
    const { administrator } = await platform.load();
    const admin = await connectAdmin({
      baseUrl: service.address,
      username: administrator.username,
      password: administrator.password!,
    });
    const send = async (path: string, init: RequestInit = {}) =>
      fetch(`${service.address}/admin/realms/master/clients${path}`, init);
    const authorization = `Bearer ${(await admin.accessToken()).reveal()}`;
    const found = await send('?clientId=admin-cli', { headers: { authorization } });
    const [client] = (await found.json()) as { id: string; attributes: Record<string, string> }[];
    const attributes = { ...client!.attributes, 'backchannel.logout.url': `http://127.0.0.1:${port}/` };
    const put = await send(`/${client!.id}`, {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ ...client, attributes }),
    });
    assert.equal(put.status, 204);
    await service.close();
    await backup(await platform.load(), options());
    called = 0;
    assert.equal((await drill(await platform.load(), options())).outcome, 'passed');
    assert.equal(called, 0);
  });

  it('a drill works while the service is running', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const service = await platform.serve();
    const result = await drill(await platform.load(), options());
    assert.equal(result.outcome, 'passed');
    // The live service has keys that the restored one has too.
    const keys = result.checks.filter(({ id }) => id === 'published-keys');
    assert.ok(keys.length > 0 && keys.every(({ outcome }) => outcome === 'passed'), JSON.stringify(keys));
    assert.equal((await fetch(`${service.address}/health/ready`)).status, 200);
  });

  it('with --keep, keeps the platform and reports its directory, and the next drill does not remove the platform', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const ended = await spawnProcedure(['drill', platform.dir, '--flag', 'keep']);
    assert.equal(ended.code, 0, ended.stderr);
    const { dir } = JSON.parse(ended.stdout) as { dir: string };
    t.after(() => rmSync(dirname(dir), { recursive: true }));
    const settings = await platform.load();
    const openInside = (inside: string) => openScratch(settings, { kind: 'sqlite' }, inside);
    const next = await isolate({}, { keep: false, service: 'idkit', openScratch: openInside });
    assert.deepEqual(await listDrills(), [basename(next.dir)]);
    rmSync(next.dir, { recursive: true });
    assert.deepEqual(await readState(dir), NEW);
  });

  it('never uses an absolute database path, an application or a mirror that idkit.yaml names', async (t) => {
    const platform = await makePlatform(t);
    const yaml = [
      `database: "sqlite:${join(platform.dir, 'data/idkit.db')}"`,
      'applications: [{ name: live, health: "http://127.0.0.1:9/health" }]',
      `backup: { mirror: "${join(platform.dir, 'mirror')}" }`,
    ];
    await writeFile(join(platform.dir, 'idkit.yaml'), `${yaml.join('\n')}\n`);
    await (await platform.serve()).close();
    const { backup } = await import('../../../src/procedures/index.ts');
    await backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });
    const before = await fingerprint(platform.dir, isState);
    const result = await drill(await platform.load(), options());
    assert.deepEqual([result.outcome, result.findings], ['passed', []]);
    assert.deepEqual(await fingerprint(platform.dir, isState), before);
  });

  it('reports the reason of a failure, and leaves nothing behind', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await writeFile(join(set.dir, 'config.tar.gz'), 'x');
    const drills = await listDrills();
    const result = await drill(await platform.load(), options());
    assert.equal(result.outcome, 'failed');
    assert.equal(result.failure?.exitCode, 13);
    assert.ok(renderDrillReport(result).includes('Failed: '));
    assert.deepEqual(await listDrills(), drills);
  });

  it('rejects a dump of another kind (exit code 14) and a missing passphrase (exit code 2)', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const { root, dir, passphrase } = await copyKeycloakSet(t);
    const before = await fingerprint(root);
    const result = await drill(await platform.load(), {
      ...options(),
      set: dir,
      passphrase,
      trustUnsealed: true,
    });
    assert.equal(result.failure?.exitCode, 14);
    assert.deepEqual(await fingerprint(root), before);
    await assert.rejects(drill(await platform.load(), procedureOptions()), { code: 'IDKIT_SETTING' });
  });

  it('leaves nothing behind after SIGTERM (exit code 143), and removes the leftovers of a killed drill', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const drills = await listDrills();
    const ended = await spawnProcedure(['drill', platform.dir], (step, kill) => {
      if (step === 'restore') setTimeout(() => kill('SIGTERM'), 150);
    });
    assert.equal(ended.code, 143, ended.stderr);
    assert.deepEqual(await listDrills(), drills);
    const killed = await spawnProcedure(['drill', platform.dir, '--after', 'restore']);
    assert.equal(killed.signal, 'SIGKILL');
    assert.equal((await listDrills()).length, drills.length + 1);
    assert.equal((await drill(await platform.load(), options())).outcome, 'passed');
    assert.deepEqual(await listDrills(), drills);
  });

  it('runs as the last step of verify --drill', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const result = await verify(await platform.load(), { ...options(), drill: true });
    assert.equal(result.drill?.outcome, 'passed');
    assert.equal(result.failure, undefined);
  });
});
